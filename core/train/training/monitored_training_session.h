// tf.train.MonitoredTrainingSession: a monitored session with everything that training needs, for a chief or a worker.
//
//   VIGIL_ASSIGN_OR_RETURN(auto session, MonitoredTrainingSession(env, graph, {.checkpoint_dir = "/tmp/run",
//                                                                              .hooks = {stop_at_step},
//                                                                              .save_checkpoint_steps = 1000}));
//   return WithSession(*session, [&](MonitoredSession& s) -> absl::Status { ... });
//
// A chief restores from checkpoint_dir or initialises, and has these hooks, in this order: chief_only_hooks;
// StepCounterHook (with a summary_dir, every log_step_count_steps); SummarySaverHook (with a summary_dir);
// CheckpointSaverHook (with a checkpoint_dir); hooks. A worker waits for its chief up to max_wait and has `hooks` only:
// what else is said here is the chief's business.
// Errors: USAGE of the hooks' constructors (a period in both seconds and steps), and for steps_per_run below 1; else as
// MonitoredSession::Create.
// Ownership: env's seams and the graph must outlive the session. Source: monitored_session.py
// (MonitoredTrainingSession).
#ifndef VIGIL_CORE_TRAIN_TRAINING_MONITORED_TRAINING_SESSION_H_
#define VIGIL_CORE_TRAIN_TRAINING_MONITORED_TRAINING_SESSION_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/or_default.h"

namespace vigil {

struct MonitoredTrainingSessionOptions {
  std::string master;  // "" or "local" = this process; Server::target()
  bool is_chief = true;
  // Restored from, also when saving is off; saved to. "" = none.
  std::string checkpoint_dir;
  std::shared_ptr<Scaffold> scaffold;  // null: a default one
  std::vector<HookPtr> hooks;
  std::vector<HookPtr> chief_only_hooks;
  // When to save. Nothing said: every 600 s. One of the two said: the other is none. None, zero and less: never.
  OrDefault<Duration> save_checkpoint_secs;
  OrDefault<std::int64_t> save_checkpoint_steps;
  // When to write summaries. Nothing said: every 100 steps; else as above.
  OrDefault<std::int64_t> save_summaries_steps;
  OrDefault<Duration> save_summaries_secs;
  SessionConfig config;
  Duration stop_grace_period = std::chrono::seconds(120);
  // None, zero and less: steps are not counted.
  std::optional<std::int64_t> log_step_count_steps = 100;
  // How long a worker waits for its chief, at each creation of a session; none: for ever.
  std::optional<Duration> max_wait = std::chrono::seconds(7200);
  std::string summary_dir;     // "" = checkpoint_dir
  bool save_graph_def = true;  // graph.pbtxt once a session, ".meta" with each checkpoint

  Behaviour behaviour = Behaviour::Default();
  std::shared_ptr<SessionFactory> factory;  // null: ClusterSessionFactory
  QueueRunnerStarter start_queue_runners;   // null: StartQueueRunners
  std::string trace_path;                   // as MonitoredSessionOptions', the next three also
  Duration give_up_recovery_after = RecoveryPolicy::kGiveUpAfter;
  StopRequestPtr stop = nullptr;
  bool stop_on_sigterm = false;
  // How many global steps a run makes. Said, the hooks made here read the step by a run of their own only when
  // something is due; unset, a saver of steps does so after every run, since it cannot know what it would miss.
  std::optional<std::int64_t> steps_per_run = std::nullopt;
  // Checkpoints are written beside the training (CheckpointSaverHook, docs/checkpoints.md).
  bool async_saves = false;
};

absl::StatusOr<std::unique_ptr<MonitoredSession>> MonitoredTrainingSession(
    const Env& env, Graph& graph, MonitoredTrainingSessionOptions options = {});

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_TRAINING_MONITORED_TRAINING_SESSION_H_
