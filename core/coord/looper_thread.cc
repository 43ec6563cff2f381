#include "vigil/core/coord/looper_thread.h"

#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {
namespace {

// In the place of one that could not be started.
class EndedTask final : public Task {
 public:
  explicit EndedTask(std::string name) : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  bool done() const override { return true; }
  bool Join(Time) override { return true; }

 private:
  const std::string name_;
};

}  // namespace

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
  absl::StatusOr<std::unique_ptr<Task>> task = TrySpawn(*env_.tasks, name_, [self = shared_from_this()] {
    const Coordinator::Member member(*self->coord_);
    const absl::Status ended = CallGuarded([&self] { return self->RunUntilStop(); });
    if (!ended.ok()) self->coord_->RequestStopOrLog(self->name_, ended);
  });
  if (task.ok()) {
    task_ = *std::move(task);
  } else {
    task_ = std::make_shared<EndedTask>(name_);
    coord_->RequestStopOrLog(name_, task.status());
  }
  coord_->Register(task_);
  return task_;
}

absl::Status LooperThread::RunUntilStop() {
  VIGIL_RETURN_IF_ERROR(StartLoop());
  Time next = env_.clock->Monotonic();  // stays kNever once it is there: the interval is for ever
  // A wait that is over at once still lets others run where tasks take turns.
  while (!coord_->WaitForStop(interval_.has_value() ? next - env_.clock->Monotonic() : Duration::zero())) {
    next = next + interval_.value_or(Duration::zero());
    VIGIL_RETURN_IF_ERROR(RunLoop());
  }
  return StopLoop();
}

}  // namespace vigil
