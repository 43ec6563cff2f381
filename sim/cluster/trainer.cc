#include "vigil/sim/cluster/trainer.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/sim/workloads/regression.h"

namespace vigil::sim {
namespace {

constexpr std::chrono::seconds kGracePeriod{5};

SessionConfig ConfigOf(const TrainerParts& parts) {
  SessionConfig config;
  if (parts.job.workload.filters) {
    config.device_filters = {"/job:ps", fmt::format("/job:{}/task:{}", parts.job_name, parts.index)};
  }
  config.operation_timeout_in_ms = parts.job.workload.timeout_ms;
  return config;
}

std::int64_t LastStepOf(const TrainerParts& parts) {
  const WorkloadSpec& workload = parts.job.workload;
  const auto own = workload.last_steps.find(fmt::format("{}:{}", parts.job_name, parts.index));
  return own == workload.last_steps.end() ? workload.last_step : own->second;
}

// The model and the hooks that go with it.
struct Model {
  Graph graph{BuiltinOps()};
  Regression regression;
  std::vector<HookPtr> hooks;
};

absl::Status Build(const TrainerParts& parts, Model& model) {
  Builder b(model.graph);
  const Replica replica{.cluster = parts.cluster, .job = parts.job_name, .task = parts.index};
  VIGIL_ASSIGN_OR_RETURN(model.regression, BuildRegression(parts.env, b, replica, {}));
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_ASSIGN_OR_RETURN(
      HookPtr stop,
      StopAtStepHook::Create(parts.env, {.last_step = LastStepOf(parts), .behaviour = parts.behaviour}));
  model.hooks.push_back(parts.recorder.NewHook(model.regression.global_step));
  model.hooks.push_back(std::move(stop));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<MonitoredSession>> Open(const TrainerParts& parts, Model& model) {
  MonitoredTrainingSessionOptions options;
  options.master = parts.target;
  options.is_chief = parts.job_name == "chief";
  options.checkpoint_dir = parts.checkpoint_dir;
  options.hooks = model.hooks;
  options.save_checkpoint_secs = std::nullopt;
  options.save_checkpoint_steps = parts.job.workload.save_steps;
  options.save_summaries_steps = std::nullopt;
  options.save_summaries_secs = std::nullopt;
  options.log_step_count_steps = std::nullopt;
  options.config = ConfigOf(parts);
  options.stop_grace_period = kGracePeriod;
  if (parts.job.workload.max_wait_s.has_value()) options.max_wait = Seconds(*parts.job.workload.max_wait_s);
  options.behaviour = parts.behaviour;
  options.factory = parts.factory;
  return MonitoredTrainingSession(parts.env, model.graph, std::move(options));
}

absl::Status Loop(const TrainerParts& parts, const Model& model, MonitoredSession& session) {
  const Env& env = parts.env;
  RegressionData data(parts.seed, static_cast<std::uint64_t>(parts.index) + (parts.job_name == "chief" ? 0 : 1));
  const Fetches fetches =
      Fetches::List({Fetches::Op(model.regression.train_op.node), model.regression.global_step});
  RunResult result;
  while (true) {
    VIGIL_ASSIGN_OR_RETURN(const bool stop, session.ShouldStop());
    if (stop) return absl::OkStatus();
    const Time before = env.clock->Monotonic();
    VIGIL_RETURN_IF_ERROR(session.RunInto(&result, fetches, model.regression.Feed(data.Next())));
    parts.recorder.RunReturned(env.clock->Monotonic() - before, result.values()[1].scalar<std::int64_t>());
    env.tasks->SleepUntil(DeadlineAfter(env, parts.job.workload.step));
  }
}

}  // namespace

absl::Status Train(const TrainerParts& parts) {
  Model model;
  VIGIL_RETURN_IF_ERROR(Build(parts, model));
  VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<MonitoredSession> session, Open(parts, model));
  parts.recorder.Opened(parts.env.clock->Monotonic() - parts.started);
  parts.opened();
  return WithSession(*session, [&](MonitoredSession& s) { return Loop(parts, model, s); });
}

}  // namespace vigil::sim
