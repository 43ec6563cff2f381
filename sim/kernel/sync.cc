// Tasks take turns, so a mutex is a flag: what it guards needs no help against other threads, only against tasks that
// run while its holder blocks. Who is woken looks again, since another may have run before it.
#include "vigil/sim/kernel/sync.h"

#include "vigil/core/base/check.h"

namespace vigil::sim {

SimMutex::~SimMutex() { VIGIL_CHECK(waiters_.empty()); }

void SimMutex::Lock() {
  TaskState* const self = scheduler_.current();
  while (locked_) {
    if (scheduler_.KilledCall()) return;
    VIGIL_CHECK(holder_ != self);  // locked twice by one task, or for ever from outside of all tasks
    scheduler_.Block({WaitKind::kMutex, name_, &holder_}, &waiters_, kNever.since_epoch);
    if (self->killed) return;
  }
  scheduler_.KilledQuietly();
  VIGIL_CHECK(holder_ == nullptr);
  locked_ = true;
  holder_ = self;
}

void SimMutex::Unlock() {
  if (Release()) scheduler_.PreemptionPoint();
}

bool SimMutex::Release() {
  TaskState* const self = scheduler_.current();
  if (!locked_ || holder_ != self) {
    VIGIL_CHECK(self != nullptr && self->killed);  // unlocked by another than its holder
    return false;
  }
  locked_ = false;
  holder_ = nullptr;
  scheduler_.WakeAll(waiters_);
  return true;
}

SimCondition::~SimCondition() { VIGIL_CHECK(waiters_.empty()); }

bool SimCondition::Wait(Mutex& mutex, Time deadline) {
  if (scheduler_.KilledCall()) return false;
  auto& held = static_cast<SimMutex&>(mutex);
  held.Release();
  const bool notified = scheduler_.Block({WaitKind::kCondition, name_, nullptr}, &waiters_, deadline.since_epoch);
  held.Lock();
  return notified;
}

void SimCondition::NotifyAll() {
  if (waiters_.empty()) return;
  scheduler_.WakeAll(waiters_);
  scheduler_.PreemptionPoint();
}

bool SimTask::Join(Time deadline) {
  if (state_.done || state_.scheduler.KilledCall()) return state_.done;
  state_.scheduler.Block({WaitKind::kJoin, state_.identity->label, nullptr}, &state_.joiners, deadline.since_epoch);
  return state_.done;
}

}  // namespace vigil::sim
