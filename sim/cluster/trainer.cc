#include "vigil/sim/cluster/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
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
  Output train;                // what the loop runs
  std::vector<Output> ledger;  // a count for each parameter server
};

// Counters on every parameter server, one for each replica, updated in its steps by the same op as the model's variables: what was
// applied, and how often, can be seen. The graph of each replica has all of them: the chief initialises and saves them.
void AddLedger(const TrainerParts& parts, Builder& b, Model& model) {
  model.train = model.regression.train_op;
  // In synchronous training a replica pushes and the chief applies: the tokens are what is counted there.
  if (parts.job.workload.kind == WorkloadKind::kSyncRegression) return;
  const auto servers = parts.job.tasks.find("ps");
  const std::string own = fmt::format("{}:{}", parts.job_name, parts.index);
  std::vector<NodeId> updates = {model.regression.train_op.node};
  for (int i = 0; servers != parts.job.tasks.end() && i < servers->second; ++i) {
    DeviceScope scope(b, fmt::format("/job:ps/task:{}", i));
    const Output zero = b.Const(fmt::format("ledger_{}/zero", i), Tensor::Scalar<float>(0));
    for (const std::string& task : TaskNames(parts.job)) {
      if (task.starts_with("ps") || task.starts_with("evaluator")) continue;
      std::string name = fmt::format("ledger_{}/{}", i, task);
      std::ranges::replace(name, ':', '_');
      const ops::Variable count = ops::MakeVariable(b, name, zero);
      if (task != own) continue;
      const Output one = b.Const(name + "/one", Tensor::Scalar<float>(1));
      const Output less = b.Const(name + "/less", Tensor::Scalar<float>(-1));
      updates.push_back(b.Op("ApplyGradientDescent", {count.ref, one, less}).node);
      model.ledger.push_back(count.ref);
    }
  }
  model.train = b.Group("train_and_count", updates);
}

// Chief and workers.
int SyncReplicas(const JobSpec& job) {
  if (job.workload.sync > 0) return static_cast<int>(job.workload.sync);
  const auto workers = job.tasks.find("worker");
  return 1 + (workers == job.tasks.end() ? 0 : workers->second);
}

absl::Status Build(const TrainerParts& parts, Model& model) {
  Builder b(model.graph);
  const Replica replica{.cluster = parts.cluster, .job = parts.job_name, .task = parts.index};
  RegressionOptions regression;
  regression.behaviour = parts.behaviour;
  if (parts.job.workload.kind == WorkloadKind::kSyncRegression)
    regression.synchronous_replicas = SyncReplicas(parts.job);
  VIGIL_ASSIGN_OR_RETURN(model.regression, BuildRegression(parts.env, b, replica, regression));
  VIGIL_RETURN_IF_ERROR(b.status());
  if (model.regression.sync_hook != nullptr) model.hooks.push_back(model.regression.sync_hook);
  AddLedger(parts, b, model);
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_ASSIGN_OR_RETURN(
      HookPtr stop, StopAtStepHook::Create(parts.env, {.last_step = LastStepOf(parts), .behaviour = parts.behaviour}));
  model.hooks.push_back(parts.recorder.NewHook(model.regression.global_step));
  model.hooks.push_back(std::move(stop));
  return absl::OkStatus();
}

// Tells the recorder of every checkpoint that is complete.
class SavesListener final : public CheckpointSaverListener {
 public:
  explicit SavesListener(FactsRecorder& recorder) : recorder_(recorder) {}
  absl::StatusOr<bool> AfterSave(Session&, std::int64_t step) override {
    recorder_.Saved(step);
    return false;
  }

 private:
  FactsRecorder& recorder_;
};

// The hook that MonitoredTrainingSession would add itself, with a listener.
absl::StatusOr<HookPtr> SaverHook(const TrainerParts& parts, const std::shared_ptr<Scaffold>& scaffold) {
  return CheckpointSaverHook::Create(parts.env, {.checkpoint_dir = parts.checkpoint_dir,
                                                 .save_steps = parts.job.workload.save_steps,
                                                 .scaffold = scaffold,
                                                 .listeners = {std::make_shared<SavesListener>(parts.recorder)},
                                                 .behaviour = parts.behaviour});
}

absl::StatusOr<std::unique_ptr<MonitoredSession>> Open(const TrainerParts& parts, Model& model) {
  MonitoredTrainingSessionOptions options;
  options.master = parts.target;
  options.is_chief = parts.job_name == "chief";
  options.checkpoint_dir = parts.checkpoint_dir;
  options.hooks = model.hooks;
  ScaffoldOptions scaffold;
  scaffold.behaviour = parts.behaviour;
  options.scaffold = std::make_shared<Scaffold>(parts.env, model.graph, scaffold);
  if (options.is_chief) {
    VIGIL_ASSIGN_OR_RETURN(HookPtr saver, SaverHook(parts, options.scaffold));
    options.chief_only_hooks = {std::move(saver)};
  }
  options.save_checkpoint_secs = std::nullopt;
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

// How often each parameter server says that this replica has updated it; none without a ledger.
std::vector<float> LedgerOf(const Model& model, const RunResult& result) {
  std::vector<float> ledger;
  for (std::size_t i = 0; i < model.ledger.size(); ++i) ledger.push_back(result.values()[2 + i].scalar<float>());
  return ledger;
}

absl::Status Loop(const TrainerParts& parts, const Model& model, MonitoredSession& session) {
  const Env& env = parts.env;
  RegressionData data(parts.seed, static_cast<std::uint64_t>(parts.index) + (parts.job_name == "chief" ? 0 : 1));
  std::vector<Fetches> items = {Fetches::Op(model.train.node), model.regression.global_step};
  items.insert(items.end(), model.ledger.begin(), model.ledger.end());
  const Fetches fetches = Fetches::List(std::move(items));
  RunResult result;
  while (true) {
    VIGIL_ASSIGN_OR_RETURN(const bool stop, session.ShouldStop());
    if (stop) return absl::OkStatus();
    const Time before = env.clock->Monotonic();
    VIGIL_RETURN_IF_ERROR(session.RunInto(&result, fetches, model.regression.Feed(data.Next())));
    parts.recorder.RunReturned(env.clock->Monotonic() - before, result.values()[1].scalar<std::int64_t>(),
                               LedgerOf(model, result));
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
