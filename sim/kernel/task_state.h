// What the scheduler knows about a task, and lists of tasks.
//
// Thread safety: none.
#ifndef VIGIL_SIM_KERNEL_TASK_STATE_H_
#define VIGIL_SIM_KERNEL_TASK_STATE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "vigil/core/base/check.h"
#include "vigil/sim/kernel/choices.h"
#include "vigil/sim/kernel/fiber.h"
#include "vigil/sim/kernel/steps.h"
#include "vigil/sim/kernel/timers.h"

namespace vigil::sim {

class Scheduler;
struct TaskList;
struct TaskState;

// A name that tasks of one process have, one at a time. Outlives its tasks.
struct TaskIdentity {
  std::string name;   // "main"
  std::string label;  // "chief/main"
  std::uint32_t id = 0;
  bool in_use = false;
  ObjectId names = 0;                // which names of tasks are taken, of those that begin so
  Choices::Key* schedule = nullptr;  // each is made at its first choice
  Choices::Key* preempt = nullptr;
  Choices::Key* spin = nullptr;
  Choices::Key* spin_stall = nullptr;
  Choices::Key* stall = nullptr;
  Choices::Key* stall_for = nullptr;
};

enum class WaitKind : std::uint8_t { kNone, kSleep, kMutex, kCondition, kJoin, kStall, kPreempted };

// What a blocked task waits for, for reports.
struct Wait {
  WaitKind kind = WaitKind::kNone;
  std::string_view name;               // of the mutex, the condition or the other task
  TaskState* const* holder = nullptr;  // of a mutex, also of that which is taken again when the condition comes
};

struct TaskLink {
  TaskState* previous = nullptr;
  TaskState* next = nullptr;
  TaskList* list = nullptr;
};

// A list of tasks through one of their links. A task is in one list per link.
struct TaskList {
  explicit TaskList(TaskLink TaskState::*member) : link(member) {}
  TaskList(const TaskList&) = delete;
  TaskList& operator=(const TaskList&) = delete;

  bool empty() const { return first == nullptr; }
  void PushBack(TaskState& task);
  void Remove(TaskState& task);

  TaskLink TaskState::*link;
  TaskState* first = nullptr;
  TaskState* last = nullptr;
  std::size_t size = 0;
};

struct TaskGroup;

struct TaskState : Timer {
  TaskState(Scheduler& owner, TaskIdentity& who) : scheduler(owner), identity(&who), joiners(&TaskState::ready) {}

  Scheduler& scheduler;
  TaskIdentity* identity;
  std::function<void()> body;
  Fiber* fiber = nullptr;  // null before its first turn and after its end
  TaskLink ready;          // in the ready list or in the list of what it waits for
  TaskLink peers;          // in the list of its process
  TaskGroup* group = nullptr;
  Wait wait;
  Duration deadline{0};
  TaskList joiners;
  int references = 1;  // one of the scheduler until the end, one of the handle
  bool timed_out = false;
  bool killed = false;     // its calls do nothing
  bool unwinding = false;  // its turn to throw TaskKilled has come
  bool leaving = false;    // its body is over and is being destroyed: nothing may throw any more
  bool done = false;
  int killed_calls = 0;
  int mutexes_held = 0;
  int undisturbed = 0;  // Scheduler::Undisturbed
  ObjectId ends = 0;    // that it has ended

  // The task that holds the mutex without which this one can do nothing but wait again; "" = none.
  std::string_view Blocker() const {
    if (killed || wait.kind == WaitKind::kNone || wait.holder == nullptr || *wait.holder == nullptr) return {};
    return (*wait.holder)->identity->label;
  }

  void Unreference() {
    if (--references == 0) delete this;
  }
};

// The tasks of one process.
struct TaskGroup : TaskList {
  TaskGroup();
  bool paused = false;
  ObjectId memory = 0;          // that of the process
  TaskList held;                // could run, were the process not paused
  std::function<void()> ended;  // called when a kill has unwound its last task, outside of all tasks. May be null
};

inline TaskGroup::TaskGroup() : TaskList(&TaskState::peers), held(&TaskState::ready) {}

inline void TaskList::PushBack(TaskState& task) {
  TaskLink& added = task.*link;
  VIGIL_CHECK(added.list == nullptr);
  added = {last, nullptr, this};
  (last == nullptr ? first : (last->*link).next) = &task;
  last = &task;
  ++size;
}

inline void TaskList::Remove(TaskState& task) {
  TaskLink& removed = task.*link;
  VIGIL_CHECK(removed.list == this);
  (removed.previous == nullptr ? first : (removed.previous->*link).next) = removed.next;
  (removed.next == nullptr ? last : (removed.next->*link).previous) = removed.previous;
  removed = {};
  --size;
}

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_TASK_STATE_H_
