// The end of processes: how their tasks are unwound.
#include <fmt/format.h>

#include <exception>

#include "vigil/core/base/check.h"
#include "vigil/core/env/tasks.h"
#include "vigil/sim/kernel/scheduler.h"

namespace vigil::sim {
namespace {

// So many calls of a killed task that never waits are a loop without end, not an orderly way out.
constexpr int kMaxKilledCalls = 10'000;

}  // namespace

bool Scheduler::KilledCall() {
  if (current_ == nullptr || !current_->killed) return false;
  if (current_->leaving || std::uncaught_exceptions() > 0) return true;
  if (++current_->killed_calls > kMaxKilledCalls) {
    Die(fmt::format("task {} was killed but catches TaskKilled again and again", current_->identity->label));
  }
  if (!current_->unwinding) SwitchTo(nullptr);
  throw TaskKilled{};
}

bool Scheduler::KilledQuietly() {
  if (current_ == nullptr || !current_->killed) return false;
  if (current_->killed_calls >= kMaxKilledCalls / 2) return KilledCall();
  ++current_->killed_calls;
  return true;
}

void Scheduler::Kill(TaskGroup& process) {
  TouchEnded(process);
  kill_requests_.push_back(&process);
  if (firing_) return;
  if (current_ == nullptr) {
    VIGIL_CHECK(!thread_);  // called by a chooser
    thread_.emplace();
    UnwindRequested();
    thread_.reset();
    return;
  }
  TaskState& self = *current_;
  if (self.peers.list == &process) self.killed = true;
  if (!self.killed) {
    requester_ = &self;
    SwitchTo(nullptr);
  }
  // If this cannot throw, the request is met as soon as the task gives way.
  KilledCall();
}

void Scheduler::KillSoon(TaskGroup& process) {
  VIGIL_CHECK(current_ != nullptr || firing_);
  TouchEnded(process);
  kill_requests_.push_back(&process);
  if (current_ != nullptr && current_->peers.list == &process) current_->killed = true;
}

void Scheduler::Unwind(TaskGroup& process) {
  unwinding_ = true;
  for (TaskState* task = process.first; task != nullptr; task = task->peers.next) {
    if (task->ready.list != nullptr) task->ready.list->Remove(*task);
    if (task->set()) timers_.Remove(*task);
    task->killed = true;
  }
  // Who stood still, or let others go first, in the middle of something goes on to its next blocking call, while all is
  // there that it uses: an unlock may not throw.
  for (TaskState* task = process.first; task != nullptr;) {
    TaskState& stands = *task;
    task = task->peers.next;
    const bool in_the_middle = stands.wait.kind == WaitKind::kStall || stands.wait.kind == WaitKind::kPreempted;
    if (in_the_middle && stands.fiber != nullptr) SwitchTo(&stands);
  }
  while (!process.empty()) {
    TaskState& task = *process.last;
    task.unwinding = true;
    if (requester_ == &task) requester_ = nullptr;
    if (task.fiber != nullptr) {
      hash_.AddSwitch(task.identity->id);
      SwitchTo(&task);
      continue;
    }
    task.body = nullptr;
    SetDone(task);
    task.Unreference();
  }
  unwinding_ = false;
  if (process.ended != nullptr) process.ended();
}

void Scheduler::UnwindRequested() {
  while (!kill_requests_.empty()) {
    TaskGroup* const process = kill_requests_.front();
    kill_requests_.erase(kill_requests_.begin());
    Unwind(*process);
  }
}

}  // namespace vigil::sim
