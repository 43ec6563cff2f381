// tf.train.LooperThread: a task that calls something again and again until its coordinator stops.
//
//   auto looper = LooperThread::Loop(env, coord, std::chrono::seconds(60), [&] { return PrintLoss(); });
//
// With an interval the first call comes at once and the others at multiples of the interval after it: a call that was
// slow or late is followed by calls back to back until the missed ones are made up for. Without an interval all calls
// are back to back. An error (or an exception) of any method stops the coordinator with that error and ends the task;
// StopLoop is then not called. A stop is looked for between two calls: none is interrupted.
// Thread safety: Start() once, from any task; the methods are called by the looper's own task. Ownership: the task
// keeps its looper and the coordinator; env's seams must outlive it.
// Source: coordinator.py (LooperThread).
#ifndef VIGIL_CORE_COORD_LOOPER_THREAD_H_
#define VIGIL_CORE_COORD_LOOPER_THREAD_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "vigil/core/coord/coordinator.h"
#include "vigil/core/env/env.h"

namespace vigil {

class LooperThread : public std::enable_shared_from_this<LooperThread> {
 public:
  using Target = std::function<absl::Status()>;

  static constexpr std::string_view kDefaultName = "LooperThread";

  // `interval` nullopt: back to back. `target` is what RunLoop calls unless a subclass has its own. REQUIRES: coord is
  // not null; the looper is held by a shared_ptr when it is started.
  LooperThread(const Env& env, std::shared_ptr<Coordinator> coord, std::optional<Duration> interval,
               Target target = nullptr, std::string name = std::string(kDefaultName));
  virtual ~LooperThread() = default;
  LooperThread(const LooperThread&) = delete;
  LooperThread& operator=(const LooperThread&) = delete;

  // Makes one and starts it.
  static std::shared_ptr<LooperThread> Loop(const Env& env, std::shared_ptr<Coordinator> coord,
                                            std::optional<Duration> interval, Target target,
                                            std::string name = std::string(kDefaultName));

  // Starts the task and registers it with the coordinator, so that Join waits for it. Where the system has no thread
  // left the coordinator is stopped with RESOURCE_EXHAUSTED (one that was joined logs it), and the task has ended.
  // REQUIRES: not started yet.
  const TaskPtr& Start();
  // Null before Start().
  const TaskPtr& task() const { return task_; }

  // Called once before the first RunLoop ...
  virtual absl::Status StartLoop() { return absl::OkStatus(); }
  // ... again and again ...
  virtual absl::Status RunLoop() { return target_ == nullptr ? absl::OkStatus() : target_(); }
  // ... and once after the last one, if the end was a stop and not an error.
  virtual absl::Status StopLoop() { return absl::OkStatus(); }

 protected:
  const Env& env() const { return env_; }

 private:
  absl::Status RunUntilStop();

  const Env env_;
  const std::shared_ptr<Coordinator> coord_;
  const std::optional<Duration> interval_;
  const Target target_;
  const std::string name_;
  TaskPtr task_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_COORD_LOOPER_THREAD_H_
