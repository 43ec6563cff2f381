// The blocking objects of the task seam, on fibers. See scheduler.h for what they do when their task is killed.
//
// An unlocked mutex belongs to whoever asks first: all that wait for it become ready, the schedule decides.
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_SYNC_H_
#define VIGIL_SIM_KERNEL_SYNC_H_

#include <string>
#include <string_view>

#include "vigil/core/env/tasks.h"
#include "vigil/sim/kernel/scheduler.h"
#include "vigil/sim/kernel/task_state.h"

namespace vigil::sim {

class SimMutex final : public Mutex {
 public:
  SimMutex(Scheduler& scheduler, std::string_view name)
      : scheduler_(scheduler), name_(name), object_(scheduler.NewObject()), waiters_(&TaskState::ready) {}
  ~SimMutex() override;
  void Lock() override;
  void Unlock() override;

 private:
  friend class SimCondition;
  bool Release();  // false: it was not the caller's (a killed task's only)

  Scheduler& scheduler_;
  const std::string name_;
  const ObjectId object_;
  bool locked_ = false;
  TaskState* holder_ = nullptr;  // null although locked: held from outside of all tasks
  TaskList waiters_;
};

class SimCondition final : public Condition {
 public:
  SimCondition(Scheduler& scheduler, std::string_view name)
      : scheduler_(scheduler), name_(name), object_(scheduler.NewObject()), waiters_(&TaskState::ready) {}
  ~SimCondition() override;
  bool Wait(Mutex& mutex, Time deadline) override;
  void NotifyAll() override;

 private:
  Scheduler& scheduler_;
  const std::string name_;
  const ObjectId object_;
  TaskList waiters_;
};

// A handle: owns one reference.
class SimTask final : public Task {
 public:
  explicit SimTask(TaskState& state) : state_(state) { ++state_.references; }
  ~SimTask() override { state_.Unreference(); }
  const std::string& name() const override { return state_.identity->name; }
  bool done() const override {
    state_.scheduler.Touch(state_.ends, Access::kRead);
    return state_.done;
  }
  bool Join(Time deadline) override;

 private:
  TaskState& state_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_SYNC_H_
