#include "vigil/core/summary/event_worker.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {

std::shared_ptr<EventWorker> EventWorker::Start(const Env& env, EventsFile file, int max_queue,
                                                Duration flush_interval) {
  std::shared_ptr<EventWorker> worker(new EventWorker(env, std::move(file), max_queue, flush_interval));
  // The task shares the ownership: its writer may be gone before it is.
  absl::StatusOr<std::unique_ptr<Task>> task = TrySpawn(*env.tasks, "event_writer", [worker] { worker->Main(); });
  if (task.ok()) {
    worker->task_ = *std::move(task);
  } else {
    worker->error_ = task.status();  // what every call says
    worker->ended_ = true;
  }
  return worker;
}

EventWorker::EventWorker(const Env& env, EventsFile file, int max_queue, Duration flush_interval)
    : env_(env),
      max_queue_(max_queue),
      flush_interval_(flush_interval),
      file_(std::move(file)),
      mutex_(env.tasks->NewMutex("event queue")),
      work_(env.tasks->NewCondition("events to write")),
      done_(env.tasks->NewCondition("the event writer")) {}

absl::StatusOr<bool> EventWorker::Put(std::string event) {
  MutexLock lock(*mutex_);
  while (Full() && !closing_ && !ended_) done_->Wait(*mutex_, kNever);
  VIGIL_RETURN_IF_ERROR(error_);
  if (closing_ || ended_) return false;
  const bool idle = !HasWork();
  queue_.push_back(std::move(event));
  if (idle) work_->NotifyAll();
  return true;
}

absl::StatusOr<bool> EventWorker::Flush() {
  MutexLock lock(*mutex_);
  VIGIL_RETURN_IF_ERROR(error_);
  if (closing_ || ended_) return false;
  const std::uint64_t flush = ++flush_wanted_;
  work_->NotifyAll();
  return WaitForFlush(flush);
}

absl::StatusOr<bool> EventWorker::WaitForFlush(std::uint64_t flush) {
  while (flush_done_ < flush && !ended_) done_->Wait(*mutex_, kNever);
  VIGIL_RETURN_IF_ERROR(error_);
  return flush_done_ >= flush;
}

absl::Status EventWorker::Close() {
  {
    MutexLock lock(*mutex_);
    closing_ = true;
    work_->NotifyAll();
    done_->NotifyAll();  // a Put that waits for room waits in vain
    while (!ended_) done_->Wait(*mutex_, kNever);
  }
  if (task_ != nullptr) task_->Join(kNever);
  MutexLock lock(*mutex_);
  return error_;
}

void EventWorker::Abandon() {
  // No mutex: whoever drops a writer may be unwinding from the end of its process, where a lock is not to be had. A
  // task that is just about to wait may miss this; then it stays, idle, until the process ends.
  if (task_ == nullptr || task_->done()) return;
  abandoned_.store(true);
  work_->NotifyAll();
}

void EventWorker::Main() {
  while (std::optional<Work> work = NextWork()) {
    if (!Finish(*work, Do(*work))) return;
  }
}

// Nothing: abandoned.
std::optional<EventWorker::Work> EventWorker::NextWork() {
  MutexLock lock(*mutex_);
  while (!HasWork() && !abandoned_.load()) work_->Wait(*mutex_, kNever);
  if (abandoned_.load()) {
    ended_ = true;
    return std::nullopt;
  }
  Work work{.events = std::exchange(queue_, {}), .flush = flush_wanted_, .close = closing_};
  done_->NotifyAll();  // there is room
  return work;
}

absl::Status EventWorker::Do(const Work& work) {
  for (const std::string& event : work.events) {
    VIGIL_RETURN_IF_ERROR(file_.Write(event));
    const Time now = env_.clock->Monotonic();
    if (next_flush_.has_value() && now <= *next_flush_) continue;
    VIGIL_RETURN_IF_ERROR(file_.Flush());
    next_flush_ = now + flush_interval_;
  }
  // Only here does flush_done_ change, and this task is the only one that changes it.
  if (work.flush > flush_done_) VIGIL_RETURN_IF_ERROR(file_.Sync());
  return work.close ? file_.Close() : absl::OkStatus();
}

// False: that was all.
bool EventWorker::Finish(const Work& work, absl::Status status) {
  if (!status.ok()) {
    env_.log->Write(Severity::kError, fmt::format("The events file cannot be written: {}", MessageOf(status)));
  }
  MutexLock lock(*mutex_);
  if (status.ok()) flush_done_ = work.flush;
  ended_ = work.close || !status.ok();
  error_ = std::move(status);
  done_->NotifyAll();
  return !ended_;
}

}  // namespace vigil
