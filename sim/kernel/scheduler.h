// Who runs: the tasks of one world take turns on one OS thread, and time passes when none of them can run.
//
// A task gives way only in a blocking call (and, if asked for, at preemption points: after an unlock, a notification, a
// spawn, and after a spin lock or a touch of what is shared without a lock, core/base/turns.h). Of several tasks that
// can run, the choice "schedule" of the task that gave way picks one; its labels are the tasks, longest ready first.
// When nobody can run, virtual time jumps to the next timer. A timer wakes a task or calls something outside of all
// tasks (SetTimer): what such a callback does takes no time, may not block, and meets no task in the middle of anything
// but a blocking call or a preemption point.
//
// Where tasks are preempted, one may also stand still there for a while, as one does that has lost its processor to
// others or waits for a page: whatever comes in that time finds it between two statements.
//
// The tasks of a paused process do not run, whatever they wait for; time goes on, and what they waited for is there
// when the process is resumed.
//
// Ending tasks from outside (kill, deadlock, limits): the tasks of one process are unwound by TaskKilled, newest first,
// since a task usually borrows from those that were there before it. Until its turn to unwind has come, a killed task
// that still runs is suspended at its next blocking call. A killed task never waits and never gives way. In a
// destructor that runs because of an exception its blocking calls return at once; locking a free mutex works always.
//
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_SCHEDULER_H_
#define VIGIL_SIM_KERNEL_SCHEDULER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/core/base/turns.h"
#include "vigil/sim/kernel/choices.h"
#include "vigil/sim/kernel/chooser.h"
#include "vigil/sim/kernel/fiber.h"
#include "vigil/sim/kernel/steps.h"
#include "vigil/sim/kernel/task_state.h"
#include "vigil/sim/kernel/timers.h"

namespace vigil::sim {

// Stands for "node/task" in the keys of choices made outside of all tasks.
inline constexpr std::string_view kOutsideLabel = "world/start";

struct SchedulerOptions {
  StackPool* stacks = nullptr;     // required
  Duration max_virtual{0};         // since the start; 0 = no limit
  std::uint64_t max_switches = 0;  // 0 = no limit
  Preempt preempt = Preempt::kNowhere;
  double stalls = 0;  // the chance that a task stands still for a while at such a call; at spins half of it
  const std::atomic<bool>* interrupt = nullptr;  // borrowed: ends Run() at a switch once it is set; may be null
  StepObserver* steps = nullptr;                 // borrowed: is told what tasks do; may be null
};

enum class StopReason : unsigned char {
  kIdle,     // nobody can run and no timer is set: all tasks have ended, or it is a deadlock
  kStopped,  // a task asked for it
  kLimit,    // see limit_text()
  kInterrupted,
};

class Scheduler final : private TurnTaker {
 public:
  // All borrowed.
  Scheduler(const SchedulerOptions& options, Choices& choices, RunningHash& hash);
  // REQUIRES: no tasks are left.
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  Duration now() const { return now_; }
  // Whether a timer's callback runs.
  bool firing() const { return firing_; }
  // Null outside of all tasks.
  TaskState* current() const { return current_; }
  std::uint64_t switches() const { return switches_; }
  const std::string& limit_text() const { return limit_text_; }

  // A task of `process`, which keeps it until it has ended; it can run from now on. The identity is not in use and
  // outlives it.
  TaskState& Spawn(TaskIdentity& identity, TaskGroup& process, std::function<void()> body);

  // Calls timer.fire at that time (now, if it is past), when nobody can run, with current() == null. The callback may
  // set and clear timers, wake tasks, spawn, and kill processes, which are unwound when it has returned and before
  // anything else runs.
  // REQUIRES: timer.fire is set, the timer is not.
  void SetTimer(Timer& timer, Duration at);
  // Nothing happens if it is not set.
  void ClearTimer(Timer& timer);

  void Pause(TaskGroup& process);
  void Resume(TaskGroup& process);

  // Blocking calls, by the current task. -----------------------------------------------------------------------------

  // True: the current task was killed and the call must return at once. Throws TaskKilled where that is possible.
  bool KilledCall();
  // For calls that never wait: true if the current task was killed. Throws after very many of them: an endless loop.
  bool KilledQuietly();
  // Waits in `list` (null = for time only) until woken or until `deadline`. False = the deadline passed.
  bool Block(const Wait& wait, TaskList* list, Duration deadline);
  // Lets others run first, if the chooser says so.
  void PreemptionPoint();
  // While there is one the current task gives way in blocking calls alone: for whoever of the harness looks at what
  // belongs to another task. REQUIRES: made and destroyed by one task, or outside of all.
  class Undisturbed {
   public:
    explicit Undisturbed(const Scheduler& scheduler) : task_(scheduler.current()) {
      if (task_ != nullptr) ++task_->undisturbed;
    }
    ~Undisturbed() {
      if (task_ != nullptr) --task_->undisturbed;
    }
    Undisturbed(const Undisturbed&) = delete;
    Undisturbed& operator=(const Undisturbed&) = delete;

   private:
    TaskState* const task_;
  };

  void Wake(TaskState& task);
  void WakeAll(TaskList& list);

  // For whoever looks for steps that commute (steps.h). --------------------------------------------------------------

  StepObserver* steps() const { return options_.steps; }
  ObjectId NewObject() { return next_object_++; }
  void Touch(ObjectId object, Access access) {
    if (options_.steps != nullptr) options_.steps->Touched(object, access);
  }
  // Those of one moment come in the order in which they were set: of tasks alone it does not matter (kRead).
  // `whose`: the memory of the process that they are about.
  void TouchTimers(ObjectId whose, Duration at, Access access);
  // Another process ends now.
  void TouchEnded(const TaskGroup& process);
  void TouchEverything() {
    if (options_.steps != nullptr) options_.steps->TouchedEverything();
  }

  // Outside of all tasks. --------------------------------------------------------------------------------------------

  StopReason Run();

  // From anywhere. ---------------------------------------------------------------------------------------------------

  // Run() returns at the next switch.
  void Stop(StopReason reason, std::string limit_text = {});
  // As Stop(), and the current task counts as killed.
  void StopNow(StopReason reason, std::string limit_text);
  // Unwinds every task of the process. Does not return to a task of that process: throws TaskKilled there. From a
  // timer's callback it returns before that is done.
  void Kill(TaskGroup& process);
  // The same, but it returns in any case: they are unwound when the current task gives way.
  void KillSoon(TaskGroup& process);

 private:
  [[noreturn]] static void Die(const std::string& message);
  static Fiber& TaskBody(void* task) noexcept;

  void AfterShared() noexcept override;
  bool MayPreempt() const;
  // Runs another task first, if the choice `point`, kept in that key of the current one, says so. `at_spin`: killed
  // meanwhile, it goes on to its next blocking call while all is there that it uses.
  void GiveWay(std::string_view point, Choices::Key* TaskIdentity::*key_of_task, bool at_spin);
  // Whether the current task has stood still, by a choice `point` with that chance, kept in that key of it.
  bool Stalls(double chance, std::string_view point, Choices::Key* TaskIdentity::*key_of_task);
  TaskState* PickNext();
  void MakeReady(TaskState& task);
  // Among those that are ready; with `stays` the current task comes first.
  TaskState* ChooseNext(std::string_view point, Choices::Key* TaskIdentity::*key_of_task, bool stays);
  void OfferSteps();
  // False: the rest of the run is not wanted.
  bool BeginStep(TaskState& task);
  bool JumpToNextTimer();
  // All timers whose time has come; fewer if one of them stops the world or kills a process.
  void FireDue();
  // Leaves the current task for `next` (null = the context outside of all tasks) and returns when it is continued.
  void SwitchTo(TaskState* next);
  Fiber& Finish(TaskState& task);
  void SetDone(TaskState& task);
  void Unwind(TaskGroup& process);
  void UnwindRequested();
  Fiber& FiberOf(TaskState& task);

  const SchedulerOptions options_;
  Choices& choices_;
  RunningHash& hash_;
  Choices::Key* outside_key_ = nullptr;  // choices made outside of all tasks
  std::optional<FiberThread> thread_;    // while Run() or an unwinding is under way
  TaskState* current_ = nullptr;
  TaskList runnable_;
  Timers timers_;
  Duration now_{0};
  bool due_ = false;     // timers whose time has come are left
  bool firing_ = false;  // a timer's callback runs
  std::uint64_t switches_ = 0;
  bool stopping_ = false;
  StopReason stop_reason_ = StopReason::kIdle;
  std::string limit_text_;
  bool unwinding_ = false;
  std::vector<TaskGroup*> kill_requests_;  // to be met outside of all tasks
  TaskState* requester_ = nullptr;         // waits for that, then continues at once
  std::vector<std::string_view> labels_;   // of the choice under way
  std::vector<TaskState*> candidates_;
  std::vector<std::string_view> blockers_;  // of the candidates
  ObjectId next_object_ = StepObserver::kFirstObject;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_SCHEDULER_H_
