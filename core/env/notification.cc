#include "vigil/core/env/notification.h"

namespace vigil {

Notification::Notification(Tasks& tasks, std::string_view name)
    : mutex_(tasks.NewMutex(name)), condition_(tasks.NewCondition(name)) {}

void Notification::Notify() {
  MutexLock lock(*mutex_);
  set_ = true;
  condition_->NotifyAll();
}

void Notification::Clear() {
  MutexLock lock(*mutex_);
  set_ = false;
}

bool Notification::IsSet() const {
  MutexLock lock(*mutex_);
  return set_;
}

bool Notification::Wait(Time deadline) {
  MutexLock lock(*mutex_);
  while (!set_) {
    if (!condition_->Wait(*mutex_, deadline)) return set_;
  }
  return true;
}

}  // namespace vigil
