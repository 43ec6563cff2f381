#include "vigil/core/train/supervisor/supervisor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/io/trace.pb.h"
#include "vigil/core/summary/file_writer.h"
#include "vigil/core/train/end_dropped.h"
#include "vigil/core/train/recovery_policy.h"
#include "vigil/core/train/session_trace.h"
#include "vigil/core/train/supervisor/supervisor_services.h"
#include "vigil/core/train/supervisor/supervisor_trace.h"
#include "vigil/core/train/training_util.h"

namespace vigil {

Supervisor::Supervisor(const Env& env, Graph& graph, SupervisorOptions options, SupervisorModel model)
    : trace_(NewSessionTrace(env, options.trace_path)),
      env_(WithTrace(env)),
      graph_(graph),
      options_(std::move(options)),
      model_(std::move(model)),
      coord_(std::make_shared<Coordinator>(env_, CoordinatorOptions{.behaviour = options_.behaviour})) {}

Supervisor::~Supervisor() {
  watch_ = nullptr;
  // TensorFlow lets everything run on; what the tasks use is theirs as well.
  if (runs_ && options_.behaviour.close_partial_session) Drop();
  if (trace_ != nullptr) trace_->End();
}

void Supervisor::Drop() {
  env_.log->Write(Severity::kWarning, "A supervisor is destroyed without Stop(): it is stopped now.");
  const auto end = [env = env_, coord = coord_, grace = options_.stop_grace_secs, sessions = sessions_,
                    writer = summary_writer_] {
    coord->RequestStop().IgnoreError();
    const absl::Status joined = coord->Join({.stop_grace_period = grace, .ignore_live_tasks = true});
    for (const std::weak_ptr<Session>& each : sessions) {
      if (const SessionPtr session = each.lock(); session != nullptr) session->Close().IgnoreError();
    }
    absl::Status closed;
    if (writer != nullptr) {
      closed = writer->AddSessionLog(SessionLogStatus::kStop, std::nullopt);
      closed.Update(writer->Close());
    }
    const std::vector<std::string> left = coord->stragglers();
    if (!left.empty()) {
      env.log->Write(
          Severity::kError,
          fmt::format("Tasks of the supervisor still run after the stop grace period of {:g} s: {}. What they are "
                      "given by you must outlive them.",
                      ToSeconds(grace), fmt::join(left, ", ")));
    }
    for (const absl::Status& lost : {joined, closed}) {
      if (!lost.ok()) env.log->Write(Severity::kError, fmt::format("The supervisor failed: {}", MessageOf(lost)));
    }
    return absl::OkStatus();
  };
  EndDropped(env_, "stop dropped supervisor", !coord_->CalledByMember(), end, end);
}

absl::Status Supervisor::WatchSignals() {
  if (!options_.stop_on_sigterm) return absl::OkStatus();
  if (env_.signals == nullptr) {
    return UsageError("stop_on_sigterm needs an Env with signals, such as that of a RealEnv.");
  }
  VIGIL_ASSIGN_OR_RETURN(
      watch_, env_.signals->Watch([log = env_.log, coord = coord_, signalled = signalled_](std::string_view signal) {
        signalled->store(true);
        coord->RequestStop().IgnoreError();
        log->Write(Severity::kWarning,
                   fmt::format("{}: the supervisor stops. The next {} ends the program at once.", signal, signal));
      }));
  return absl::OkStatus();
}

absl::Status Supervisor::SaveLast(Session& session) {
  if (!signalled_->load() || !is_chief() || saver() == nullptr || save_path_.empty()) return absl::OkStatus();
  std::optional<std::int64_t> step;
  if (global_step().has_value()) {
    VIGIL_ASSIGN_OR_RETURN(step, ReadGlobalStep(session, *global_step()));
  }
  env_.log->Write(Severity::kInfo, fmt::format("Saving a last checkpoint to path {}", save_path_));
  return saver()->Save(session, save_path_, step).status();
}

Env Supervisor::WithTrace(Env env) const {
  if (trace_ != nullptr) env.events = trace_;
  return env;
}

void Supervisor::StartTrace(bool with_its_own_session_manager) {
  if (with_its_own_session_manager) {
    return trace_->Start(options_.trace_path, TraceHeaderOf(options_, model_, summary_writer_, graph_));
  }
  env_.log->Write(
      Severity::kWarning,
      fmt::format("There will be no trace {}: what a session manager of one's own does cannot be traced. Let the "
                  "supervisor make one.",
                  options_.trace_path));
}

absl::StatusOr<std::unique_ptr<Supervisor>> Supervisor::Create(const Env& env, Graph& graph,
                                                               SupervisorOptions options) {
  VIGIL_ASSIGN_OR_RETURN(SupervisorModel model, FindOrMakePieces(env, graph, options));
  std::unique_ptr<Supervisor> made(new Supervisor(env, graph, std::move(options), std::move(model)));
  VIGIL_RETURN_IF_ERROR(CallGuarded([&] { return made->Init(); }));
  return made;
}

absl::Status Supervisor::Init() {
  if (is_chief()) {
    if (!logdir().empty()) save_path_ = JoinPath(logdir(), options_.checkpoint_basename);
    if (options_.summary_writer.given()) {
      summary_writer_ = options_.summary_writer.value().value_or(nullptr);
    } else if (!logdir().empty()) {
      VIGIL_ASSIGN_OR_RETURN(summary_writer_,
                             NewFileWriter(env_, {.logdir = logdir(), .behaviour = options_.behaviour}));
    }
  } else {
    options_.logdir.clear();
  }
  VIGIL_RETURN_IF_ERROR(WatchSignals());
  const bool makes_session_manager = options_.session_manager == nullptr;
  if (makes_session_manager) {
    StopWait stop_wait;
    if (options_.behaviour.bounded_waits) {
      // Without a signal to hear of it is enough to look after each sleep.
      stop_wait = [coord = coord_, env = env_, at_once = options_.stop_on_sigterm](Time deadline) {
        if (at_once) return coord->WaitForStop(deadline - env.clock->Monotonic());
        env.tasks->SleepUntil(deadline);
        return coord->ShouldStop();
      };
    }
    if (options_.factory == nullptr) options_.factory = std::make_shared<ClusterSessionFactory>(env_);
    VIGIL_ASSIGN_OR_RETURN(options_.session_manager,
                           SessionManager::Create(env_, graph_, options_.factory,
                                                  {.local_init_op = model_.local_init_op,
                                                   .ready_op = model_.ready_op,
                                                   .ready_for_local_init_op = model_.ready_for_local_init_op,
                                                   .recovery_wait = options_.recovery_wait_secs,
                                                   .local_init_run_options = options_.local_init_run_options,
                                                   .behaviour = options_.behaviour,
                                                   .stop_wait = std::move(stop_wait),
                                                   .keeps_creating = RecoveryPolicy::kGiveUpAfter}));
  }
  if (!is_chief()) VIGIL_RETURN_IF_ERROR(CheckVariablesHaveDevices(graph_));
  if (trace_ != nullptr) StartTrace(makes_session_manager);
  if (!graph_.finalized()) env_.Emit({.kind = EventKind::kGraphFinalized});
  graph_.Finalize();
  return absl::OkStatus();
}

std::optional<Duration> Supervisor::save_summaries_secs() const {
  return is_chief() ? std::optional<Duration>(options_.save_summaries_secs) : std::nullopt;
}

std::optional<Duration> Supervisor::save_model_secs() const {
  return is_chief() ? std::optional<Duration>(options_.save_model_secs) : std::nullopt;
}

absl::Status Supervisor::WriteGraph() {
  if (!logdir().empty()) {
    VIGIL_RETURN_IF_ERROR(Failing(SupervisorMethod::kWriteGraph, WriteGraphText(env_, graph_, logdir()).status()));
  }
  if (summary_writer_ == nullptr || graph_added_to_summary_) return absl::OkStatus();
  VIGIL_RETURN_IF_ERROR(Written(summary_writer_->AddGraph(graph_)));
  VIGIL_RETURN_IF_ERROR(Written(summary_writer_->AddMetaGraph(graph_)));
  graph_added_to_summary_ = true;
  return absl::OkStatus();
}

absl::StatusOr<SessionPtr> Supervisor::NewReadySession(const PrepareSessionOptions& options) {
  if (!is_chief()) return session_manager()->WaitForSession(options.target, options.max_wait_secs);
  return session_manager()->Prepare(
      options.target,
      {.saver = saver(),
       .checkpoint_dir = logdir(),
       .wait_for_checkpoint = options.wait_for_checkpoint,
       .max_wait = options.max_wait_secs.value_or(Duration::max())},
      {.init_op = init_op(), .init_feed_dict = init_feed_dict(), .init_fn = options_.init_fn});
}

absl::Status Supervisor::StartWhatRunsBeside(const SessionPtr& session, bool start_standard_services) {
  if (is_chief()) VIGIL_RETURN_IF_ERROR(WriteGraph());
  if (!start_standard_services) return absl::OkStatus();
  if (is_chief()) {
    env_.log->Write(Severity::kInfo, "Starting standard services.");
    VIGIL_RETURN_IF_ERROR(StartStandardServices(session).status());
  }
  env_.log->Write(Severity::kInfo, "Starting queue runners.");
  return StartQueueRunners(session).status();
}

absl::StatusOr<SessionPtr> Supervisor::Prepare(const PrepareSessionOptions& options) {
  // A signal does not pass: who was told to end begins nothing.
  const absl::Status told = MakeStatus(Code::kCancelled, "SIGTERM has stopped this supervisor.");
  if (signalled_->load()) return told;
  coord_->ClearStop();
  if (signalled_->load()) {  // in between: what it has asked for was cleared
    coord_->RequestStop().IgnoreError();
    return told;
  }
  if (summary_writer_ != nullptr) VIGIL_RETURN_IF_ERROR(Written(summary_writer_->Reopen()));
  VIGIL_ASSIGN_OR_RETURN(SessionPtr session, NewReadySession(options));
  sessions_.push_back(session);
  const absl::Status status = StartWhatRunsBeside(session, options.start_standard_services);
  if (status.ok()) return session;
  // Its own error is of no interest beside the one that nobody gets this session for.
  if (options_.behaviour.close_partial_session) session->Close().IgnoreError();
  return status;
}

absl::StatusOr<std::optional<std::vector<TaskPtr>>> Supervisor::StartServices(const SessionPtr& session) {
  using Started = std::optional<std::vector<TaskPtr>>;
  if (!is_chief()) {
    return UsageError(
        "Only chief supervisor can start standard services. Because only chief supervisors can write events.");
  }
  if (logdir().empty()) {
    env_.log->Write(Severity::kWarning, "Standard services need a 'logdir' passed to the SessionManager");
    return Started();
  }
  if (global_step().has_value() && summary_writer_ != nullptr) {
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, ReadStepOf(session, global_step()));
    VIGIL_RETURN_IF_ERROR(Written(summary_writer_->AddSessionLog(SessionLogStatus::kStart, step)));
  }
  std::vector<std::shared_ptr<LooperThread>> services;
  if (options_.save_summaries_secs != Duration::zero() && summary_writer_ != nullptr) {
    if (summary_op().has_value()) services.push_back(std::make_shared<SVSummaryThread>(*this, session));
    if (global_step().has_value()) services.push_back(std::make_shared<SVStepCounterThread>(*this, session));
  }
  if (saver() != nullptr && options_.save_model_secs != Duration::zero()) {
    services.push_back(std::make_shared<SVTimerCheckpointThread>(*this, session));
  }
  Started started(std::in_place);
  runs_ = runs_ || !services.empty();
  for (const auto& service : services) started->push_back(service->Start());
  return started;
}

absl::StatusOr<std::vector<TaskPtr>> Supervisor::StartRunners(
    const SessionPtr& session, const std::optional<std::vector<QueueRunnerPtr>>& queue_runners) {
  const std::vector<QueueRunnerPtr>& runners =
      queue_runners.has_value() ? *queue_runners : graph_.Collection(kQueueRunners);
  if (!runners.empty()) VIGIL_RETURN_IF_ERROR(RequireSession(session));
  std::vector<TaskPtr> tasks;
  runs_ = runs_ || !runners.empty();
  for (const QueueRunnerPtr& runner : runners) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<TaskPtr> started, runner->CreateTasks(session, coord_));
    tasks.insert(tasks.end(), started.begin(), started.end());
  }
  return tasks;
}

std::shared_ptr<LooperThread> Supervisor::Loop(std::optional<Duration> timer_interval, LooperThread::Target target,
                                               std::string name) {
  runs_ = true;
  return LooperThread::Loop(env_, coord_, timer_interval, std::move(target), std::move(name));
}

absl::Status Supervisor::RefuseInOwnTask(std::string_view what) const {
  if (!coord_->CalledByMember()) return absl::OkStatus();
  return UsageError(
      fmt::format("{} was called from inside of a service, a loop or a queue runner of the supervisor, whose end it "
                  "would wait for. Call RequestStop there.",
                  what));
}

absl::Status Supervisor::WriteSummary(const SessionPtr& session, const std::string& summary,
                                      std::optional<std::int64_t> step) {
  if (summary_writer_ == nullptr) return UsageError("Writing a summary requires a summary writer.");
  if (!step.has_value() && global_step().has_value()) {
    VIGIL_ASSIGN_OR_RETURN(step, ReadStepOf(session, global_step()));
  }
  return Written(summary_writer_->AddSummary(summary, step));
}

absl::Status Supervisor::StopAll(const StopOptions& options) {
  VIGIL_RETURN_IF_ERROR(RefuseInOwnTask("Stop"));
  // Without an error nothing is handed back.
  VIGIL_RETURN_IF_ERROR(coord_->RequestStop());
  const absl::Status joined = coord_->Join({.tasks = options.tasks,
                                            .stop_grace_period = options_.stop_grace_secs,
                                            .ignore_live_tasks = options.ignore_live_tasks});
  runs_ = false;
  sessions_.clear();
  if (!options.close_summary_writer || summary_writer_ == nullptr) return joined;
  // An error of the writer takes the place of the join's, as an exception in a finally block does.
  VIGIL_RETURN_IF_ERROR(Written(summary_writer_->AddSessionLog(SessionLogStatus::kStop, std::nullopt)));
  VIGIL_RETURN_IF_ERROR(Written(summary_writer_->Close()));
  graph_added_to_summary_ = false;
  return joined;
}

absl::Status Supervisor::LeaveManagedSession(const absl::Status& error, bool close_summary_writer) {
  // Handed back if the body has joined the coordinator; the supervisor is stopped all the same.
  const absl::Status handed_back = error.ok() ? absl::OkStatus() : RequestStop(error);
  const absl::Status stopped = Stop({.close_summary_writer = close_summary_writer});
  return stopped.ok() ? handed_back : stopped;
}

absl::Status Supervisor::Manage(const ManagedSessionOptions& options,
                                const std::function<absl::Status(const SessionPtr&)>& body) {
  VIGIL_RETURN_IF_ERROR(RefuseInOwnTask("ManagedSession"));
  const absl::StatusOr<SessionPtr> session =
      PrepareOrWaitForSession({.target = options.target,
                               .max_wait_secs = options.max_wait_secs,
                               .start_standard_services = options.start_standard_services});
  const absl::Status error = session.ok() ? CallBody(*session, body) : session.status();
  absl::Status end = LeaveManagedSession(error, options.close_summary_writer);
  if (session.ok() && end.ok()) end = CallGuarded([&] { return SaveLast(**session); });
  // What a session that is left fails to close with is of no use to anybody; TensorFlow ignores it too.
  if (session.ok()) (*session)->Close().IgnoreError();
  if (!session.ok() && options_.behaviour.clean_end_from_run_only) return end.ok() ? error : end;
  // TensorFlow's scope is a Python generator, which must have yielded and may not end by a StopIteration but the body's
  // own.
  if (!session.ok() && end.ok()) {
    return UsageError(
        fmt::format("generator didn't yield: the session could not be prepared, and the error counts as a "
                    "clean end: {}",
                    MessageOf(error)));
  }
  if (CodeOf(end) == Code::kStopIteration && !(session.ok() && IsSameError(end, error))) {
    return UsageError(fmt::format("generator raised StopIteration: {}", MessageOf(end)));
  }
  return end;
}

}  // namespace vigil
