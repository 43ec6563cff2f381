#include "vigil/core/train/session_manager.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/model_mark.h"
#include "vigil/core/checkpoint/restore_newest.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/session/classify.h"
#include "vigil/core/session/observed_session.h"

namespace vigil {

namespace {

// Of sessions in a cluster, where nothing else is said (Behaviour::bounded_waits).
constexpr std::chrono::minutes kCreateTimeout{1};  // then the next attempt begins, until the recovery policy gives up
constexpr std::chrono::seconds kCreateAgainAfter{1};
constexpr std::chrono::minutes kKeepalive{2};    // a server that is silent for so long is lost
constexpr std::chrono::minutes kRunTimeout{30};  // a run that takes so long ends with DEADLINE_EXCEEDED

bool InCluster(const SessionTarget& target) { return IsClusterTarget(target.master); }

}  // namespace

bool SleepFor(const Env& env, Duration duration, StopRequest* stop) {
  env.Emit({.kind = EventKind::kSleep, .has_value = true, .value = ToSeconds(duration)});
  return SleepUnlessStopped(env, stop, DeadlineAfter(env, duration));
}

absl::Status SessionManager::Pause(Duration duration, std::string_view waiting_for) const {
  if (options_.stop_wait == nullptr) {
    SleepFor(env_, duration);
    return absl::OkStatus();
  }
  env_.Emit({.kind = EventKind::kSleep, .has_value = true, .value = ToSeconds(duration)});
  if (!options_.stop_wait(DeadlineAfter(env_, duration))) return absl::OkStatus();
  return MakeStatus(Code::kCancelled, fmt::format("A stop was requested while waiting for {}.", waiting_for));
}

SessionManager::SessionManager(const Env& env, const Graph& graph, std::shared_ptr<SessionFactory> factory,
                               SessionManagerOptions options)
    : env_(env), graph_(graph), factory_(std::move(factory)), options_(std::move(options)) {}

absl::StatusOr<std::unique_ptr<SessionManager>> SessionManager::Create(const Env& env, const Graph& graph,
                                                                       std::shared_ptr<SessionFactory> factory,
                                                                       SessionManagerOptions options) {
  if (options.ready_for_local_init_op.has_value() && !options.local_init_op.has_value()) {
    return UsageError(
        "If you pass a ready_for_local_init_op you must also pass a local_init_op, ready_for_local_init_op alone has "
        "no use.");
  }
  return std::unique_ptr<SessionManager>(new SessionManager(env, graph, std::move(factory), std::move(options)));
}

SessionConfig SessionManager::ConfigFor(const SessionTarget& target) const {
  SessionConfig config = target.config;
  if (!InCluster(target)) return config;
  if (!options_.behaviour.bounded_waits) {
    config.waits_for_tasks = true;
    return config;
  }
  if (config.create_timeout == Duration::zero()) config.create_timeout = kCreateTimeout;
  if (config.keepalive == Duration::zero()) config.keepalive = kKeepalive;
  if (config.operation_timeout_in_ms == 0) config.operation_timeout_in_ms = kRunTimeout / std::chrono::milliseconds(1);
  return config;
}

absl::StatusOr<SessionPtr> SessionManager::NewSession(const SessionTarget& target) {
  const bool tries_again = options_.behaviour.bounded_waits && InCluster(target) &&
                           target.config.create_timeout == Duration::zero() &&
                           options_.keeps_creating > Duration::zero();
  const Time give_up = DeadlineAfter(env_, options_.keeps_creating);
  while (true) {
    absl::StatusOr<std::unique_ptr<Session>> session =
        CreateObserved(env_, *factory_, graph_, target.master, ConfigFor(target));
    if (session.ok()) return SessionPtr(*std::move(session));
    if (!tries_again || CodeOf(session.status()) != Code::kUnavailable || env_.clock->Monotonic() >= give_up) {
      return session.status();
    }
    env_.log->Write(Severity::kWarning,
                    fmt::format("No session yet, which is tried again: {}", MessageOf(session.status())));
    VIGIL_RETURN_IF_ERROR(Pause(kCreateAgainAfter, "the servers of the cluster to answer"));
  }
}

absl::StatusOr<bool> SessionManager::RestoreCheckpoint(Session& session, const RestoreOptions& restore,
                                                       const std::vector<std::string>& missing) {
  const std::string& directory = restore.checkpoint_dir;
  const std::string& filename = restore.checkpoint_filename_with_path;
  if (!directory.empty() && !filename.empty()) {
    return UsageError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.");
  }
  if (restore.saver == nullptr || (directory.empty() && filename.empty())) return false;
  restore.saver->WaitForSaves();  // of a session that was given up: what they leave is to be found
  if (!filename.empty()) {
    VIGIL_RETURN_IF_ERROR(restore.saver->Restore(session, filename));
    return true;
  }
  const bool fallback = options_.behaviour.restore_fallback;
  Duration waited{0};
  VIGIL_ASSIGN_OR_RETURN(std::optional<CheckpointState> state, FindCheckpoints(env_, directory, fallback));
  while (!state.has_value()) {
    if (!restore.wait_for_checkpoint || waited >= restore.max_wait) return false;
    env_.log->Write(Severity::kInfo, "Waiting for checkpoint to be available.");
    VIGIL_RETURN_IF_ERROR(Pause(options_.recovery_wait, "a checkpoint"));
    waited = SaturatingAdd(waited, options_.recovery_wait);
    VIGIL_ASSIGN_OR_RETURN(state, FindCheckpoints(env_, directory, fallback));
  }
  VIGIL_RETURN_IF_ERROR(RestoreNewest(env_, *restore.saver, session, *state, fallback, missing));
  return true;
}

absl::StatusOr<Readiness> SessionManager::Ready(const std::optional<Output>& op, Session& session,
                                                std::string_view what) {
  if (!op.has_value()) return Readiness{};
  return AskWhetherReady(env_, session, *op, what);
}

absl::StatusOr<Readiness> SessionManager::TryLocalInit(Session& session) {
  if (!options_.local_init_op.has_value()) return Readiness{};
  VIGIL_ASSIGN_OR_RETURN(Readiness ready,
                         Ready(options_.ready_for_local_init_op, session, "Model not ready for local init"));
  if (!ready.ready) return ready;
  env_.log->Write(Severity::kInfo, "Running local_init_op.");
  const RunSpec spec{.targets = {*options_.local_init_op}};
  std::vector<Tensor> nothing;
  const RunOptions* const how = options_.local_init_run_options ? &*options_.local_init_run_options : nullptr;
  VIGIL_RETURN_IF_ERROR(session.Run({.spec = spec, .options = how}, &nothing));
  env_.log->Write(Severity::kInfo, "Done running local_init_op.");
  return Readiness{};
}

absl::Status SessionManager::Initialize(Session& session, const InitOptions& init) {
  if (!init.init_op.has_value() && init.init_fn == nullptr && !options_.local_init_op.has_value()) {
    return UsageError("Model is not initialized and no init_op or init_fn or local_init_op was given");
  }
  if (init.init_op.has_value()) {
    RunSpec spec{.targets = {*init.init_op}};
    std::vector<Tensor> values;
    for (const Feed& feed : init.init_feed_dict) {
      spec.feeds.push_back(feed.tensor);
      values.push_back(feed.value);
    }
    std::vector<Tensor> nothing;
    VIGIL_RETURN_IF_ERROR(session.Run({.spec = spec, .feed_values = values}, &nothing));
  }
  if (init.init_fn == nullptr) return absl::OkStatus();
  const absl::Status status = CallGuarded([&] { return init.init_fn(session); });
  env_.Emit({.kind = EventKind::kInitFn, .code = CodeOf(status), .session = session.number()});
  return status;
}

absl::Status SessionManager::NotReadyError(std::string_view for_what, bool restored, const InitOptions& init,
                                           const std::string& why) const {
  const auto name = [this](const std::optional<NodeId>& op) { return op.has_value() ? graph_.node(*op).name : "none"; };
  std::string text = fmt::format(
      "Init operations did not make model {}. Init op: {}, init fn: {}, local_init_op: {}, error: {}", for_what,
      name(init.init_op), init.init_fn == nullptr ? "none" : "given", name(options_.local_init_op), why);
  if (restored) {
    text +=
        ". The model was restored from a checkpoint, so init_op and init_fn were not run: what the checkpoint does not "
        "hold must "
        "be initialised by local_init_op (put the variable into the collection of local variables) or in "
        "AfterCreateSession of "
        "a hook.";
  }
  return UsageError(text);
}

void SessionManager::CloseUnready(Session& session) const {
  // What it was made for has failed already: that error is the one to tell.
  if (options_.behaviour.close_partial_session) session.Close().IgnoreError();
}

bool SessionManager::MayJoin(const SessionTarget& target, const RestoreOptions& restore) const {
  return options_.behaviour.join_live_model && InCluster(target) && !restore.checkpoint_dir.empty();
}

// The variables live on servers that outlive this session: what is initialised there is somebody's training.
absl::StatusOr<bool> SessionManager::JoinLiveModel(const SessionTarget& target, Session& session,
                                                   const RestoreOptions& restore, std::vector<std::string>* missing) {
  const std::optional<Output>& op =
      options_.ready_for_local_init_op.has_value() ? options_.ready_for_local_init_op : options_.ready_op;
  if (!MayJoin(target, restore) || !op.has_value()) return false;
  VIGIL_ASSIGN_OR_RETURN(const Readiness alive, Ready(op, session, "Model not ready"));
  *missing = alive.missing;
  if (!alive.ready) return false;
  VIGIL_ASSIGN_OR_RETURN(const std::string why_not, WhyNotToTrust(*env_.files, restore.checkpoint_dir));
  if (!why_not.empty()) {
    env_.log->Write(Severity::kWarning,
                    fmt::format("The model on the servers is not gone on with: {}. It is made anew.", why_not));
    return false;
  }
  VIGIL_ASSIGN_OR_RETURN(const Readiness local, TryLocalInit(session));
  if (!local.ready) return false;
  VIGIL_ASSIGN_OR_RETURN(const Readiness ready, Ready(options_.ready_op, session, "Model not ready"));
  if (!ready.ready) return false;
  env_.log->Write(
      Severity::kInfo,
      "The model is initialised on the servers already: going on with it, nothing is restored. To begin from "
      "a checkpoint instead, restart the parameter servers.");
  return true;
}

// Without the mark a chief that comes back would go on with a model that init_fn has left half made.
void SessionManager::MarkInitializing(const std::string& directory) const {
  const absl::Status status = SetMark(*env_.files, directory, ModelMark::kInitializing);
  if (status.ok()) return;
  env_.log->Write(Severity::kWarning, fmt::format("That init_fn has yet to run could not be noted in {}: {}", directory,
                                                  MessageOf(status)));
}

void SessionManager::ClearMarks(const std::string& directory) const {
  for (const ModelMark mark : {ModelMark::kDiverged, ModelMark::kInitializing}) {
    const absl::Status status = ClearMark(*env_.files, directory, mark);
    if (status.ok()) continue;
    env_.log->Write(
        Severity::kWarning,
        fmt::format("What was wrong with an earlier model is still noted in {}, and the next chief will not "
                    "go on with this one: {}",
                    directory, MessageOf(status)));
  }
}

absl::Status SessionManager::MakeReady(const SessionTarget& target, Session& session, const RestoreOptions& restore,
                                       const InitOptions& init, const std::vector<std::string>& missing) {
  VIGIL_ASSIGN_OR_RETURN(const bool restored, RestoreCheckpoint(session, restore, missing));
  if (!restored && init.init_fn != nullptr && MayJoin(target, restore)) MarkInitializing(restore.checkpoint_dir);
  if (!restored) VIGIL_RETURN_IF_ERROR(Initialize(session, init));
  VIGIL_ASSIGN_OR_RETURN(const Readiness local, TryLocalInit(session));
  if (!local.ready) return NotReadyError("ready for local_init", restored, init, local.why_not);
  VIGIL_ASSIGN_OR_RETURN(const Readiness ready, Ready(options_.ready_op, session, "Model not ready"));
  if (!ready.ready) return NotReadyError("ready", restored, init, ready.why_not);
  if (MayJoin(target, restore)) ClearMarks(restore.checkpoint_dir);
  return absl::OkStatus();
}

absl::StatusOr<SessionPtr> SessionManager::Prepare(const SessionTarget& target, const RestoreOptions& restore,
                                                   const InitOptions& init) {
  VIGIL_ASSIGN_OR_RETURN(SessionPtr session, NewSession(target));
  std::vector<std::string> missing;
  const absl::StatusOr<bool> joined = JoinLiveModel(target, *session, restore, &missing);
  if (joined.ok() && *joined) return session;
  const absl::Status status = joined.ok() ? MakeReady(target, *session, restore, init, missing) : joined.status();
  if (status.ok()) return session;
  CloseUnready(*session);
  return status;
}

absl::StatusOr<bool> SessionManager::RecoverModel(Session& session, const RestoreOptions& restore) {
  VIGIL_ASSIGN_OR_RETURN(const bool restored, RestoreCheckpoint(session, restore, {}));
  VIGIL_ASSIGN_OR_RETURN(const Readiness local, TryLocalInit(session));
  if (!restored) return false;
  const auto from = restore.checkpoint_dir.empty() ? restore.checkpoint_filename_with_path : restore.checkpoint_dir;
  if (!local.ready) {
    env_.log->Write(Severity::kInfo, fmt::format("Restoring model from {} did not make model ready for local init: {}",
                                                 from, local.why_not));
    return false;
  }
  VIGIL_ASSIGN_OR_RETURN(const Readiness ready, Ready(options_.ready_op, session, "Model not ready"));
  if (!ready.ready) {
    env_.log->Write(Severity::kInfo,
                    fmt::format("Restoring model from {} did not make model ready: {}", from, ready.why_not));
    return false;
  }
  env_.log->Write(Severity::kInfo, fmt::format("Restored model from {}", from));
  return true;
}

absl::StatusOr<SessionManager::Recovered> SessionManager::Recover(const SessionTarget& target,
                                                                  const RestoreOptions& restore) {
  VIGIL_ASSIGN_OR_RETURN(SessionPtr session, NewSession(target));
  const absl::StatusOr<bool> initialized = RecoverModel(*session, restore);
  if (initialized.ok()) return Recovered{session, *initialized};
  CloseUnready(*session);
  return initialized.status();
}

absl::StatusOr<bool> SessionManager::LookWhetherReady(Session& session) {
  VIGIL_ASSIGN_OR_RETURN(const Readiness local, TryLocalInit(session));
  Readiness ready{true, "none"};
  if (local.ready) {
    VIGIL_ASSIGN_OR_RETURN(ready, Ready(options_.ready_op, session, "Model not ready"));
    if (ready.ready) return true;
  }
  env_.log->Write(Severity::kInfo, fmt::format("Waiting for model to be ready. Ready_for_local_init_op: {}, ready: {}",
                                               local.ready ? "none" : local.why_not, ready.why_not));
  return false;
}

absl::StatusOr<SessionPtr> SessionManager::WaitForSession(const SessionTarget& target, std::optional<Duration> max_wait,
                                                          Duration* slept) {
  const Time start = env_.clock->Monotonic();
  const bool backs_off = options_.behaviour.worker_backs_off;
  Duration wait = options_.recovery_wait;
  if (backs_off) wait = std::min<Duration>(std::chrono::seconds(1), wait);
  while (true) {
    VIGIL_ASSIGN_OR_RETURN(SessionPtr session, NewSession(target));
    const absl::StatusOr<bool> ready = LookWhetherReady(*session);
    if (!ready.ok()) {
      CloseUnready(*session);
      return ready.status();
    }
    if (*ready) return session;
    // What a session that is given up fails to close with is of no use to who waits.
    session->Close().IgnoreError();
    if (max_wait.has_value()) {
      const Duration left = std::max(Duration::zero(), *max_wait - (env_.clock->Monotonic() - start));
      // TensorFlow looks as long as a whole wait fits. Here waits get longer: less than one is waited, too.
      if (backs_off && left > Duration::zero()) wait = std::min(wait, left);
      if (left < wait) {
        return MakeStatus(Code::kDeadlineExceeded,
                          fmt::format("Session was not ready after waiting {} secs.", ToSeconds(*max_wait)));
      }
    }
    VIGIL_RETURN_IF_ERROR(Pause(wait, "the chief to make the model ready"));
    if (slept != nullptr) *slept = SaturatingAdd(*slept, wait);
    wait = std::min(SaturatingAdd(wait, wait), options_.recovery_wait);
  }
}

}  // namespace vigil
