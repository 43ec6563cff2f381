#include "vigil/core/coord/looper_thread.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {

LooperThread::LooperThread(const Env& env, std::shared_ptr<Coordinator> coord, std::optional<Duration> interval,
                           Target target, std::string name)
    : env_(env), coord_(std::move(coord)), interval_(interval), target_(std::move(target)), name_(std::move(name)) {
  VIGIL_CHECK(coord_ != nullptr);
}

std::shared_ptr<LooperThread> LooperThread::Loop(const Env& env, std::shared_ptr<Coordinator> coord,
                                                 std::optional<Duration> interval, Target target, std::string name) {
  auto looper = std::make_shared<LooperThread>(env, std::move(coord), interval, std::move(target), std::move(name));
  looper->Start();
  return looper;
}

const TaskPtr& LooperThread::Start() {
  VIGIL_CHECK(task_ == nullptr);
  task_ = env_.tasks->Spawn(name_, [self = shared_from_this()] {
    const absl::Status handed_back = self->coord_->StopOnError([&self] { return self->RunUntilStop(); });
    if (handed_back.ok()) return;
    // Somebody has joined the coordinator without this task's end: nobody else is left to be told.
    self->env_.log->Write(Severity::kWarning, fmt::format("{} failed after its coordinator had been joined: {}",
                                                          self->name_, MessageOf(handed_back)));
  });
  coord_->Register(task_);
  return task_;
}

absl::Status LooperThread::RunUntilStop() {
  VIGIL_RETURN_IF_ERROR(StartLoop());
  Time next = env_.clock->Monotonic();
  // A wait that is over at once still lets others run where tasks take turns.
  while (!coord_->WaitForStop(interval_.has_value() ? next - env_.clock->Monotonic() : Duration::zero())) {
    next = next + interval_.value_or(Duration::zero());
    VIGIL_RETURN_IF_ERROR(RunLoop());
  }
  return StopLoop();
}

}  // namespace vigil
