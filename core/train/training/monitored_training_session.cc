#include "vigil/core/train/training/monitored_training_session.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/hooks/last_one_saves_hook.h"
#include "vigil/core/train/hooks/step_counter_hook.h"
#include "vigil/core/train/hooks/summary_saver_hook.h"
#include "vigil/core/train/session_creator.h"

namespace vigil {
namespace {

// When something is to be done, as the hooks take it.
struct Period {
  std::optional<Duration> secs;
  std::optional<std::int64_t> steps;

  bool is_positive() const { return secs.value_or(Duration::zero()) > Duration::zero() || steps.value_or(0) > 0; }
};

// `otherwise` if nothing is said of either. Both said come out as both: the hook refuses them.
Period PeriodOf(const OrDefault<Duration>& secs, const OrDefault<std::int64_t>& steps, Period otherwise) {
  if (!secs.given() && !steps.given()) return otherwise;
  return {.secs = secs.value(), .steps = steps.value()};
}

absl::Status AddStepCounter(const Env& env, const MonitoredTrainingSessionOptions& options,
                            std::vector<HookPtr>& hooks) {
  if (options.log_step_count_steps.value_or(0) <= 0) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const auto hook, StepCounterHook::Create(env, {.every_n_steps = options.log_step_count_steps,
                                                                        .output_dir = options.summary_dir,
                                                                        .behaviour = options.behaviour}));
  if (options.steps_per_run.has_value()) hook->set_steps_per_run(*options.steps_per_run);
  hooks.push_back(hook);
  return absl::OkStatus();
}

absl::Status AddSummarySaver(const Env& env, const MonitoredTrainingSessionOptions& options,
                             std::vector<HookPtr>& hooks) {
  const Period period = PeriodOf(options.save_summaries_secs, options.save_summaries_steps, {.steps = 100});
  if (!period.is_positive()) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(HookPtr hook, SummarySaverHook::Create(env, {.save_steps = period.steps,
                                                                      .save_secs = period.secs,
                                                                      .output_dir = options.summary_dir,
                                                                      .scaffold = options.scaffold,
                                                                      .behaviour = options.behaviour}));
  hooks.push_back(std::move(hook));
  return absl::OkStatus();
}

absl::Status AddCheckpointSaver(const Env& env, const MonitoredTrainingSessionOptions& options,
                                std::vector<HookPtr>& hooks) {
  const Period period =
      PeriodOf(options.save_checkpoint_secs, options.save_checkpoint_steps, {.secs = std::chrono::seconds(600)});
  if (!period.is_positive()) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const auto hook,
                         CheckpointSaverHook::Create(env, {.checkpoint_dir = options.checkpoint_dir,
                                                           .save_secs = period.secs,
                                                           .save_steps = period.steps,
                                                           .scaffold = options.scaffold,
                                                           .save_graph_def = options.save_graph_def,
                                                           .async_saves = options.async_saves,
                                                           .in_cluster = IsClusterTarget(options.master),
                                                           .behaviour = options.behaviour}));
  if (options.steps_per_run.has_value()) hook->set_steps_per_run(*options.steps_per_run);
  hooks.push_back(hook);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<HookPtr>> ChiefHooks(const Env& env, const MonitoredTrainingSessionOptions& options) {
  std::vector<HookPtr> hooks = options.chief_only_hooks;
  if (!options.summary_dir.empty()) {
    VIGIL_RETURN_IF_ERROR(AddStepCounter(env, options, hooks));
    VIGIL_RETURN_IF_ERROR(AddSummarySaver(env, options, hooks));
  }
  if (!options.checkpoint_dir.empty()) VIGIL_RETURN_IF_ERROR(AddCheckpointSaver(env, options, hooks));
  hooks.insert(hooks.end(), options.hooks.begin(), options.hooks.end());
  return hooks;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MonitoredSession>> MonitoredTrainingSession(const Env& env, Graph& graph,
                                                                           MonitoredTrainingSessionOptions options) {
  if (options.steps_per_run.value_or(1) < 1) {
    return UsageError(fmt::format("steps_per_run is {}: a run makes at least one step.", *options.steps_per_run));
  }
  if (options.scaffold == nullptr) {
    ScaffoldOptions scaffold;
    scaffold.behaviour = options.behaviour;
    options.scaffold = std::make_shared<Scaffold>(env, graph, scaffold);
  }
  if (options.summary_dir.empty()) options.summary_dir = options.checkpoint_dir;
  const SessionTarget target{.master = options.master, .config = options.config};
  MonitoredSessionOptions session{.stop_grace_period = options.stop_grace_period,
                                  .behaviour = options.behaviour,
                                  .start_queue_runners = options.start_queue_runners,
                                  .trace_path = options.trace_path,
                                  .give_up_recovery_after = options.give_up_recovery_after,
                                  .stop = options.stop,
                                  .stop_on_sigterm = options.stop_on_sigterm};
  if (options.is_chief) {
    VIGIL_ASSIGN_OR_RETURN(session.hooks, ChiefHooks(env, options));
    session.session_creator =
        std::make_shared<ChiefSessionCreator>(env, graph,
                                              ChiefSessionCreatorOptions{.scaffold = options.scaffold,
                                                                         .target = target,
                                                                         .checkpoint_dir = options.checkpoint_dir,
                                                                         .factory = options.factory,
                                                                         .behaviour = options.behaviour});
  } else {
    session.hooks = options.hooks;
    const bool in_cluster = IsClusterTarget(options.master);
    if (in_cluster && options.behaviour.last_one_saves && !options.checkpoint_dir.empty()) {
      session.hooks.push_back(
          std::make_shared<LastOneSavesHook>(env, LastOneSavesHookOptions{.target = options.master,
                                                                          .checkpoint_dir = options.checkpoint_dir,
                                                                          .scaffold = options.scaffold,
                                                                          .behaviour = options.behaviour}));
    }
    session.session_creator =
        std::make_shared<WorkerSessionCreator>(env, graph,
                                               WorkerSessionCreatorOptions{.scaffold = options.scaffold,
                                                                           .target = target,
                                                                           .max_wait = options.max_wait,
                                                                           .factory = options.factory,
                                                                           .behaviour = options.behaviour});
  }
  return MonitoredSession::Create(env, graph, std::move(session));
}

}  // namespace vigil
