// One life of a file writer, from its opening to its close: a bounded queue of events and the task that writes them.
//
// A failed write ends the task; everybody who waits, and whoever comes later, gets the error. The mutex is held for
// moments only, never while a file is written.
// Thread safety: safe from any task.
#ifndef VIGIL_CORE_SUMMARY_EVENT_WORKER_H_
#define VIGIL_CORE_SUMMARY_EVENT_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/atomic.h"
#include "vigil/core/env/env.h"
#include "vigil/core/summary/events_file.h"

namespace vigil {

class EventWorker {
 public:
  // Starts the task. `max_queue`: as many events may wait before Put does (0 or less: any number). What was written is
  // flushed with the first event after `flush_interval` has passed, and with the very first one.
  static std::shared_ptr<EventWorker> Start(const Env& env, EventsFile file, int max_queue, Duration flush_interval);

  // `event`: serialized. Waits while the queue is full. False: closed, the event is dropped. The error that ended the
  // task.
  absl::StatusOr<bool> Put(std::string event);
  // Waits until all that was put before is in the file and synced. False: closed.
  absl::StatusOr<bool> Flush();
  // Flushes, closes the file, waits for the end of the task.
  absl::Status Close();
  // The task is to end without a further look at its Env; what is queued is lost. Does not wait.
  void Abandon();
  bool working() const { return task_ != nullptr && !task_->done(); }

 private:
  // What the task has to do next, taken from the queue under the mutex.
  struct Work {
    std::vector<std::string> events;
    std::uint64_t flush = 0;
    bool close = false;
  };

  EventWorker(const Env& env, EventsFile file, int max_queue, Duration flush_interval);

  void Main();
  std::optional<Work> NextWork();
  absl::Status Do(const Work& work);
  bool Finish(const Work& work, absl::Status status);

  // REQUIRES: *mutex_ is held.
  bool Full() const { return max_queue_ > 0 && queue_.size() >= static_cast<std::size_t>(max_queue_); }
  bool HasWork() const { return !queue_.empty() || flush_wanted_ > flush_done_ || closing_; }
  absl::StatusOr<bool> WaitForFlush(std::uint64_t flush);

  const Env env_;
  const int max_queue_;
  const Duration flush_interval_;
  std::unique_ptr<Task> task_;

  // The task's own.
  EventsFile file_;
  std::optional<Time> next_flush_;

  Atomic<bool> abandoned_{false};
  const std::unique_ptr<Mutex> mutex_;
  const std::unique_ptr<Condition> work_;  // the task waits for something to do
  const std::unique_ptr<Condition> done_;  // others wait for the task
  // Guarded by *mutex_.
  std::vector<std::string> queue_;
  std::uint64_t flush_wanted_ = 0;  // flushes are numbered
  std::uint64_t flush_done_ = 0;
  bool closing_ = false;
  bool ended_ = false;
  absl::Status error_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_SUMMARY_EVENT_WORKER_H_
