#include "vigil/core/env/stop_request.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"

namespace vigil {

StopRequest::StopRequest(const Env& env)
    : told_(*env.tasks, "stop request"), mutex_(env.tasks->NewMutex("stop request")) {}

void StopRequest::Request(std::string_view who) {
  {
    MutexLock lock(*mutex_);
    if (requested()) return;
    who_ = who;
    requested_.store(true, std::memory_order_release);
  }
  told_.Notify();
}

std::string StopRequest::requested_by() const {
  MutexLock lock(*mutex_);
  return who_;
}

bool SleepUnlessStopped(const Env& env, StopRequest* stop, Time deadline) {
  if (stop != nullptr) return stop->Wait(deadline);
  env.tasks->SleepUntil(deadline);
  return false;
}

absl::Status StoppedWhile(const StopRequest& stop, std::string_view what) {
  return MakeStatus(Code::kCancelled, fmt::format("A stop was requested by {} while {}.", stop.requested_by(), what));
}

}  // namespace vigil
