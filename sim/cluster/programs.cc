#include "vigil/sim/cluster/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/sim/cluster/task_name.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::sim {
namespace {

constexpr std::chrono::seconds kGracePeriod{5};
constexpr std::int64_t kLogSteps = 100;  // the default of MonitoredTrainingSession
constexpr int kWarmUpRuns = 3;
constexpr std::chrono::seconds kWarmUpPause{1};

// Stands before every save as long as the workload says, and tells the recorder of every checkpoint that is complete.
class SavesListener final : public CheckpointSaverListener {
 public:
  explicit SavesListener(const TrainerParts& parts)
      : env_(parts.env), recorder_(parts.recorder), takes_(parts.takes), before_save_(parts.job.workload.before_save) {}
  absl::Status BeforeSave(Session&, std::int64_t) override {
    if (before_save_ > Duration(0)) env_.tasks->SleepUntil(DeadlineAfter(env_, takes_(before_save_)));
    return absl::OkStatus();
  }
  absl::StatusOr<bool> AfterSave(Session&, std::int64_t step) override {
    recorder_.Saved(step);
    return false;
  }

 private:
  const Env env_;
  FactsRecorder& recorder_;
  const std::function<Duration(Duration)> takes_;
  const Duration before_save_;
};

// The hook that MonitoredTrainingSession would add itself, with a listener. It listens for divergence only where there
// will be one: jobs without it stay what they are.
absl::StatusOr<HookPtr> SaverHook(const TrainerParts& parts, const std::shared_ptr<Scaffold>& scaffold) {
  return CheckpointSaverHook::Create(parts.env, {.checkpoint_dir = parts.checkpoint_dir,
                                                 .save_steps = parts.job.workload.save_steps,
                                                 .scaffold = scaffold,
                                                 .listeners = {std::make_shared<SavesListener>(parts)},
                                                 .async_saves = parts.job.workload.async_saves,
                                                 .in_cluster = parts.job.workload.nan_batch > 0,
                                                 .behaviour = parts.behaviour});
}

// What an init_fn is for: a variable gets what its initialiser does not know, here by several runs. Every replica has
// it, since every one saves it and waits for it.
std::vector<NodeId> AddWarmUp(Builder& b) {
  const DeviceScope scope(b, "/job:ps/task:0");
  const ops::Variable warm = ops::MakeVariable(b, "warm_up", b.Const("warm_up/zero", Tensor::Scalar<float>(0)));
  std::vector<NodeId> runs;
  for (int i = 1; i <= kWarmUpRuns; ++i) {
    const Output part = b.Const(fmt::format("warm_up/part_{}", i), Tensor::Scalar<float>(static_cast<float>(i)));
    runs.push_back(ops::Assign(b, fmt::format("warm_up/set_{}", i), warm.ref, part).node);
  }
  return runs;
}

// A run, then a pause, in which it may be cut off.
absl::Status WarmUp(const TrainerParts& parts, const std::vector<NodeId>& runs, Session& session) {
  for (const NodeId run : runs) {
    const RunSpec spec{.targets = {run}};
    std::vector<Tensor> nothing;
    VIGIL_RETURN_IF_ERROR(session.Run({.spec = spec}, &nothing));
    parts.env.tasks->SleepUntil(DeadlineAfter(parts.env, parts.takes(kWarmUpPause)));
  }
  return absl::OkStatus();
}

absl::StatusOr<InitFn> AddInitFn(const TrainerParts& parts, Graph& graph) {
  Builder b(graph);
  std::vector<NodeId> runs = AddWarmUp(b);
  VIGIL_RETURN_IF_ERROR(b.status());
  return InitFn([&parts, runs = std::move(runs)](Scaffold&, Session& session) {
    parts.recorder.InitFnBegan();
    absl::Status status = WarmUp(parts, runs, session);
    parts.recorder.InitFnEnded(CodeOf(status));
    return status;
  });
}

absl::StatusOr<std::unique_ptr<MonitoredSession>> Open(const TrainerParts& parts, Program& program) {
  MonitoredTrainingSessionOptions options;
  options.master = parts.target;
  options.is_chief = parts.job_name == "chief";
  options.checkpoint_dir = parts.checkpoint_dir;
  options.hooks = program.hooks;
  ScaffoldOptions scaffold;
  scaffold.behaviour = parts.behaviour;
  if (parts.job.workload.init_fn) {
    VIGIL_ASSIGN_OR_RETURN(scaffold.init_fn, AddInitFn(parts, program.graph));
  }
  options.scaffold = std::make_shared<Scaffold>(parts.env, program.graph, scaffold);
  if (options.is_chief) {
    VIGIL_ASSIGN_OR_RETURN(HookPtr saver, SaverHook(parts, options.scaffold));
    options.chief_only_hooks = {std::move(saver)};
  }
  options.save_checkpoint_secs = std::nullopt;
  options.save_summaries_steps = std::nullopt;
  options.save_summaries_secs = std::nullopt;
  options.log_step_count_steps = std::nullopt;
  if (parts.job.workload.validate_steps > 0) options.log_step_count_steps = kLogSteps;
  options.config = ConfigOf(parts);
  options.stop_grace_period = kGracePeriod;
  options.stop_on_sigterm = IsToldToStop(parts.job.plan, TaskOf(parts));
  if (parts.job.workload.max_wait_s.has_value()) options.max_wait = Seconds(*parts.job.workload.max_wait_s);
  options.behaviour = parts.behaviour;
  options.factory = parts.factory;
  return MonitoredTrainingSession(parts.env, program.graph, std::move(options));
}

absl::Status Loop(const TrainerParts& parts, const Program& program, const std::function<Feeds()>& feed,
                  MonitoredSession& session) {
  const Env& env = parts.env;
  const Fetches fetches = FetchesOf(program);
  RunResult result;
  RunResult looked;
  for (std::int64_t done = 1;; ++done) {
    VIGIL_ASSIGN_OR_RETURN(const bool stop, session.ShouldStop());
    if (stop) return absl::OkStatus();
    const Time before = env.clock->Monotonic();
    VIGIL_RETURN_IF_ERROR(session.RunInto(&result, fetches, feed()));
    const auto count = [&result](std::size_t i) { return result.values()[2 + i].scalar<float>(); };
    const auto number = [&result](std::size_t i) { return result.values()[i].scalar<std::int64_t>(); };
    parts.recorder.RunReturned(env.clock->Monotonic() - before, number(1), LedgerOf(program, count),
                               program.element.has_value() ? number(2 + program.ledger.size()) : -1);
    const std::int64_t validate = parts.job.workload.validate_steps;
    if (program.loss.has_value() && validate > 0 && done % validate == 0) {
      VIGIL_ASSIGN_OR_RETURN(const bool over, session.ShouldStop());
      if (over) return absl::OkStatus();
      parts.recorder.Trains(false);
      VIGIL_RETURN_IF_ERROR(session.RunInto(&looked, *program.loss, feed()));
      parts.recorder.Trains(true);
    }
    env.tasks->SleepUntil(DeadlineAfter(env, parts.takes(parts.job.workload.step)));
  }
}

RegressionOptions RegressionOptionsOf(const TrainerParts& parts) {
  RegressionOptions options{.learning_rate = kJobRate, .behaviour = parts.behaviour};
  if (parts.job.workload.kind != WorkloadKind::kSyncRegression) return options;
  const std::int64_t sync = parts.job.workload.sync;
  options.synchronous_replicas = sync > 0 ? static_cast<int>(sync) : ReplicasOf(parts.job);
  return options;
}

}  // namespace

std::string TaskOf(const TrainerParts& parts) { return fmt::format("{}:{}", parts.job_name, parts.index); }

Replica ReplicaOf(const TrainerParts& parts) {
  if (parts.job.workload.clients) {
    const JobTaskName master = SplitTaskName(parts.job.workload.master);
    return {.cluster = parts.cluster,
            .job = parts.job_name,
            .task = parts.index,
            .works_at = fmt::format("/job:{}/task:{}", master.job, master.index)};
  }
  return {.cluster = parts.cluster, .job = parts.job_name, .task = parts.index};
}

int ReplicasOf(const JobSpec& job) {
  const auto workers = job.tasks.find("worker");
  return 1 + (workers == job.tasks.end() ? 0 : workers->second);
}

Env WithoutEvents(Env env) {
  env.events = nullptr;
  return env;
}

Duration DrawnUpTo(const Env& env, std::string_view stream, Duration most) {
  return most * static_cast<std::int64_t>(env.random->Draw(stream) % 1001) / 1000;
}

SessionConfig ConfigOf(const TrainerParts& parts) {
  SessionConfig config;
  if (parts.job.workload.filters) {
    config.device_filters = {"/job:ps"};
    if (!parts.job.workload.clients)
      config.device_filters.push_back(fmt::format("/job:{}/task:{}", parts.job_name, parts.index));
  }
  config.operation_timeout_in_ms = parts.job.workload.timeout_ms;
  return config;
}

std::int64_t LastStepOf(const TrainerParts& parts) { return LastStepOf(parts.job.workload, TaskOf(parts)); }

RegressionData DataOf(const TrainerParts& parts) {
  const auto number = static_cast<std::uint64_t>(parts.index) + (parts.job_name == "chief" ? 0 : 1);
  return RegressionData(parts.seed, number, kJobNoise);
}

void AddLedger(const TrainerParts& parts, Builder& b, Output train_op, Program& program) {
  program.train = train_op;
  // In synchronous training a replica pushes and the chief applies: the tokens are what is counted there.
  if (parts.job.workload.kind == WorkloadKind::kSyncRegression || !parts.ledger) return;
  const auto servers = parts.job.tasks.find("ps");
  const std::string own = TaskOf(parts);
  std::vector<NodeId> updates = {train_op.node};
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
      program.ledger.push_back(count.ref);
    }
  }
  program.train = b.Group("train_and_count", updates);
}

absl::StatusOr<Regression> AddRegression(const TrainerParts& parts, Builder& b, Program& program) {
  VIGIL_ASSIGN_OR_RETURN(Regression model, BuildRegression(parts.env, b, ReplicaOf(parts), RegressionOptionsOf(parts)));
  VIGIL_RETURN_IF_ERROR(b.status());
  program.global_step = model.global_step;
  AddLedger(parts, b, model.train_op, program);
  VIGIL_RETURN_IF_ERROR(b.status());
  return model;
}

Fetches FetchesOf(const Program& program) {
  std::vector<Fetches> items = {Fetches::Op(program.train.node), program.global_step};
  items.insert(items.end(), program.ledger.begin(), program.ledger.end());
  if (program.element.has_value()) items.emplace_back(*program.element);
  return Fetches::List(std::move(items));
}

std::vector<float> LedgerOf(const Program& program, const std::function<float(std::size_t)>& value) {
  std::vector<float> ledger;
  for (std::size_t i = 0; i < program.ledger.size(); ++i) ledger.push_back(value(i));
  return ledger;
}

absl::Status TrainMonitored(const TrainerParts& parts, Program& program, const std::function<Feeds()>& feed) {
  VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<MonitoredSession> session, Open(parts, program));
  parts.recorder.Opened(parts.env.clock->Monotonic() - parts.started);
  parts.opened();
  return WithSession(*session, [&](MonitoredSession& s) { return Loop(parts, program, feed, s); });
}

}  // namespace vigil::sim
