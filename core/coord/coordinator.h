// tf.train.Coordinator: ends a group of tasks together and carries the first error of one of them to who joins.
//
// Nothing here interrupts a task: each asks ShouldStop() or waits in WaitForStop(), and ends by itself.
// The rules that surprise: only the first stop request counts (an error that comes after it is dropped, even after a
// clean stop); errors of the clean kinds count as no error; after a join an error is handed back to who reports it. A
// member that outlived a join stays stopped, also when the coordinator is used again (TensorFlow: it goes on, and its
// error stops who has begun since: Behaviour::given_up_stay_stopped).
// Thread safety: safe from any task. Ownership: tasks that outlive a join hold the coordinator by shared_ptr.
// Source: coordinator.py.
#ifndef VIGIL_CORE_COORD_COORDINATOR_H_
#define VIGIL_CORE_COORD_COORDINATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/atomic.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/event.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/notification.h"

namespace vigil {

using TaskPtr = std::shared_ptr<Task>;

struct CoordinatorOptions {
  std::vector<Code> clean_stop_codes = {Code::kOutOfRange};  // errors that count as none
  std::int64_t session = 0;                                  // whose tasks it ends, for events; 0 = nobody's
  Behaviour behaviour = Behaviour::Default();                // join_late_tasks, given_up_stay_stopped
};

struct JoinOptions {
  std::vector<TaskPtr> tasks;  // besides the registered ones
  // How long tasks may take after a stop was requested; negative: they are not waited for.
  Duration stop_grace_period = std::chrono::seconds(120);
  bool ignore_live_tasks = false;
  Severity severity_of_ignored = Severity::kInfo;  // of the line that names the tasks that are ignored
};

class Coordinator {
 public:
  explicit Coordinator(const Env& env, CoordinatorOptions options = {});

  // Asks all tasks to stop. If it is the first request, its error is kept (unless that is clean); later ones are
  // dropped. OK but after a join: then an error that is not clean is returned to the caller instead. Never blocks.
  absl::Status RequestStop(const absl::Status& error = absl::OkStatus());
  // The same for a task that has nobody to return it to: what is handed back is a warning in the log that names `task`.
  void RequestStopOrLog(std::string_view task, const absl::Status& error);
  bool ShouldStop() const { return stop_requested_.load(std::memory_order_acquire) || CalledByGivenUp(); }
  // True = a stop was requested before `timeout` had passed, or before the call. Duration::max(): waits for ever.
  bool WaitForStop(Duration timeout);
  // True = a join had begun before `timeout` had passed, or before the call: who asked for the stop no longer works.
  bool WaitForJoin(Duration timeout);
  // Back to the state of a new coordinator (registered tasks stay).
  void ClearStop();
  // The error that was kept, or OK. It stays.
  absl::Status RequestedError() const;
  // Whether Join has ended since the last ClearStop.
  bool joined() const;
  const Behaviour& behaviour() const { return options_.behaviour; }

  // The state of the model is not worth keeping (its loss is NaN): nobody should save it any more.
  void MarkDiverged();
  // Calls it at the first MarkDiverged from now on, in the task that marks it. The last one counts. Null: nobody.
  void OnDiverged(std::function<void()> tell);
  bool diverged() const { return diverged_.load(std::memory_order_acquire); }

  // `task` is joined by the next Join, and forgotten after it.
  void Register(TaskPtr task);
  // Waits until all tasks have ended or a stop was requested, then up to the grace period for the rest. Returns the
  // kept error, which has priority; else USAGE naming the tasks that still run, unless they are ignored. Virtual time
  // moves only while a task is really stuck. What it has joined or given up is no longer registered. A task that
  // registers meanwhile is waited for within the same grace period, and if it comes too late for that the next join's
  // (TensorFlow forgets it: Behaviour::join_late_tasks).
  absl::Status Join(const JoinOptions& options = {});
  // The names of the tasks that the last join gave up on: they go on running, with what they hold.
  std::vector<std::string> stragglers() const;

  // While one lives, the task that made it is one that a join waits for. Loopers and queue runners have one.
  class Member {
   public:
    explicit Member(Coordinator& coord);
    ~Member();
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

   private:
    Coordinator& coord_;
    const std::uint64_t task_;
  };
  // Whether it is such a task that calls: it would wait for its own end.
  bool CalledByMember() const;

  // Runs `body` in the calling task; an error (or an exception) of it becomes a stop request and is swallowed. What
  // RequestStop hands back comes out.
  absl::Status StopOnError(const std::function<absl::Status()>& body);

 private:
  struct Membership {
    std::uint64_t number;  // no other one of this coordinator has or had it; a task's may come again
    std::uint64_t task;
    bool given_up;  // it lived when a join had ended that it should have ended before
  };

  bool IsClean(const absl::Status& error) const;
  bool CalledByGivenUp() const;
  std::vector<std::uint64_t> Members() const;
  void GiveUp(const std::vector<std::uint64_t>& members);
  void EmitDetail(CoordinatorDetail what, Code code, std::int32_t tasks = -1) const;
  // Adds those that are not among `tasks` yet. Returns how many have ever been registered.
  std::uint64_t AddRegistered(std::vector<TaskPtr>& tasks) const;

  const Env env_;
  const CoordinatorOptions options_;
  Atomic<bool> stop_requested_{false};
  Atomic<bool> diverged_{false};
  SpinLock diverged_lock_;
  std::function<void()> on_diverged_;  // guarded by diverged_lock_
  Notification stop_;
  Notification joins_;  // some join has begun since the last ClearStop
  std::unique_ptr<Mutex> mutex_;
  // Guarded by *mutex_.
  absl::Status error_;
  bool joined_ = false;
  std::vector<TaskPtr> registered_;
  Atomic<std::uint64_t> registrations_{0};  // written under the mutex
  std::vector<std::string> stragglers_;
  mutable SpinLock members_lock_;
  // Guarded by members_lock_.
  std::vector<Membership> members_;
  std::uint64_t last_member_ = 0;
  Atomic<std::size_t> given_up_{0};  // of members_; written under that lock
};

}  // namespace vigil

#endif  // VIGIL_CORE_COORD_COORDINATOR_H_
