// Tasks take turns, so a mutex is a flag: what it guards needs no help against other threads, only against tasks that
// run while its holder blocks. Who is woken looks again, since another may have run before it.
#include "vigil/sim/kernel/sync.h"

#include "vigil/core/base/check.h"

namespace vigil::sim {

SimMutex::~SimMutex() { VIGIL_CHECK(waiters_.empty()); }

// Throws nothing, as pthread_mutex_lock is no cancellation point: destructors take locks. Who is killed as it waits
// goes on without the lock to its next call that waits for anything else; what it does until then nobody sees.
void SimMutex::Lock() {
  TaskState* const self = scheduler_.current();
  while (locked_) {
    scheduler_.Touch(object_, Access::kRead);
    if (scheduler_.KilledQuietly()) return;
    VIGIL_CHECK(holder_ != self);  // locked twice by one task, or for ever from outside of all tasks
    scheduler_.Block({WaitKind::kMutex, name_, &holder_}, &waiters_, kNever.since_epoch);
    if (self->killed) return;
  }
  scheduler_.KilledQuietly();
  VIGIL_CHECK(holder_ == nullptr);
  locked_ = true;
  holder_ = self;
  if (self != nullptr) ++self->mutexes_held;
  scheduler_.Touch(object_, Access::kWrite);
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
  if (self != nullptr) --self->mutexes_held;
  scheduler_.Touch(object_, Access::kWrite);
  scheduler_.WakeAll(waiters_);
  return true;
}

SimCondition::~SimCondition() { VIGIL_CHECK(waiters_.empty()); }

bool SimCondition::Wait(Mutex& mutex, Time deadline) {
  if (scheduler_.KilledCall()) return false;
  auto& held = static_cast<SimMutex&>(mutex);
  held.Release();
  scheduler_.Touch(object_, Access::kRead);
  if (scheduler_.steps() != nullptr) scheduler_.steps()->WaitsFor(object_);
  const bool notified = scheduler_.Block({WaitKind::kCondition, name_, &held.holder_}, &waiters_, deadline.since_epoch);
  if (notified && scheduler_.steps() != nullptr) scheduler_.steps()->CameBackFrom(object_);
  held.Lock();
  return notified;
}

void SimCondition::NotifyAll() {
  scheduler_.Touch(object_, Access::kWrite);
  if (waiters_.empty()) return;
  scheduler_.WakeAll(waiters_);
  scheduler_.PreemptionPoint();
}

bool SimTask::Join(Time deadline) {
  state_.scheduler.Touch(state_.ends, Access::kRead);
  if (state_.done || state_.scheduler.KilledCall()) return state_.done;
  state_.scheduler.Block({WaitKind::kJoin, state_.identity->label, nullptr}, &state_.joiners, deadline.since_epoch);
  return state_.done;
}

}  // namespace vigil::sim
