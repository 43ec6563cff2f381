#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/supervisor/supervisor.h"
#include "vigil/sim/cluster/programs.h"

namespace vigil::sim {
namespace {

constexpr std::chrono::seconds kSupervisorGrace{5};
constexpr std::chrono::seconds kMostWait{1800};
constexpr std::chrono::seconds kLook{5};  // between looks whether the model is ready

class SupervisedLoop {
 public:
  SupervisedLoop(const TrainerParts& parts, const Program& program, const Regression& model, Supervisor& supervisor)
      : parts_(parts), program_(program), supervisor_(supervisor), data_(DataOf(parts)) {
    spec_.feeds = {model.x, model.y};
    spec_.fetches = {program.global_step};
    spec_.fetches.insert(spec_.fetches.end(), program.ledger.begin(), program.ledger.end());
    spec_.targets = {program.train.node};
  }

  // One managed session.
  absl::Status Scope() {
    ManagedSessionOptions options;
    options.target = {.master = parts_.target, .config = ConfigOf(parts_)};
    options.max_wait_secs = kMostWait;
    if (parts_.job.workload.max_wait_s.has_value())
      options.max_wait_secs = std::min<Duration>(kMostWait, Seconds(*parts_.job.workload.max_wait_s));
    return supervisor_.ManagedSession(options, [this](const SessionPtr& session) -> absl::Status {
      parts_.recorder.NewSession();
      if (!std::exchange(opened_, true)) {
        parts_.recorder.Opened(parts_.env.clock->Monotonic() - parts_.started);
        parts_.opened();
      }
      while (!supervisor_.ShouldStop()) VIGIL_RETURN_IF_ERROR(Step(*session));
      return absl::OkStatus();
    });
  }

 private:
  absl::Status Step(Session& session) {
    const Env& env = parts_.env;
    const Time before = env.clock->Monotonic();
    const RegressionBatch batch = data_.Next(kJobBatch);
    const std::vector<Tensor> fed = {FeaturesOf(batch), TargetsOf(batch)};
    parts_.recorder.RunStarted();
    if (const absl::Status run = session.Run({.spec = spec_, .feed_values = fed}, &values_); !run.ok()) {
      parts_.recorder.RunFailed(CodeOf(run));
      return run;
    }
    const std::int64_t step = values_[0].scalar<std::int64_t>();
    parts_.recorder.RunReturned(env.clock->Monotonic() - before, step,
                                LedgerOf(program_, [this](std::size_t i) { return values_[1 + i].scalar<float>(); }));
    if (step >= LastStepOf(parts_)) return supervisor_.RequestStop();
    env.tasks->SleepUntil(DeadlineAfter(env, parts_.job.workload.step));
    return absl::OkStatus();
  }

  const TrainerParts& parts_;
  const Program& program_;
  Supervisor& supervisor_;
  RegressionData data_;
  RunSpec spec_;
  std::vector<Tensor> values_;
  bool opened_ = false;
};

}  // namespace

// As BasicTrainLoop, which has no way to say for how long to wait, or with which configuration: begins anew after
// ABORTED.
absl::Status TrainSupervised(const TrainerParts& parts) {
  Program program(parts.ops);
  Builder b(program.graph);
  VIGIL_ASSIGN_OR_RETURN(const Regression model, AddRegression(parts, b, program));
  SupervisorOptions options;
  options.is_chief = parts.job_name == "chief";
  options.logdir = options.is_chief ? parts.checkpoint_dir : "";
  options.save_summaries_secs = Duration::zero();
  options.save_model_secs = parts.job.workload.save_steps * parts.job.workload.step;
  options.recovery_wait_secs = kLook;
  options.stop_grace_secs = kSupervisorGrace;
  options.factory = parts.factory;
  options.behaviour = parts.behaviour;
  VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<Supervisor> supervisor,
                         Supervisor::Create(parts.env, program.graph, std::move(options)));
  SupervisedLoop loop(parts, program, model, *supervisor);
  while (true) {
    const absl::Status end = loop.Scope();
    if (CodeOf(end) != Code::kAborted) return end;
  }
}

}  // namespace vigil::sim
