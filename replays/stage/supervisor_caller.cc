#include "vigil/replays/stage/supervisor_caller.h"

#include <fmt/format.h>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/summary.pb.h"
#include "vigil/replays/format/args.h"
#include "vigil/replays/format/services.h"
#include "vigil/replays/stage/unresponsive_task.h"

namespace vigil::replays {
namespace {

absl::Status NoSession() { return UsageError("There is no session: no prepare has worked so far."); }

// The service's loop is called by hand, so its interval means nothing.
absl::StatusOr<std::shared_ptr<LooperThread>> MakeService(std::string_view name, const Supervisor& supervisor,
                                                          const SessionPtr& session) {
  const ServiceInfo* const found = FindService(name);
  if (found == nullptr) return UsageError(fmt::format("A supervisor has no service \"{}\".", name));
  switch (found->service) {
    case Service::kSummary:
      return std::make_shared<SVSummaryThread>(supervisor, session);
    case Service::kStepCounter:
      return SVStepCounterThread::Create(supervisor, session);
    case Service::kCheckpoint:
      return std::make_shared<SVTimerCheckpointThread>(supervisor, session);
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Supervisor>> MakeSupervisor(const Env& layer_env, const Model& model,
                                                           const SessionSpec& session,
                                                           const SupervisorSurroundings& surroundings) {
  const Args& args = session.args;
  SupervisorOptions options;
  options.is_chief = BoolArg(args, "is_chief", true);
  if (BoolArg(args, "logdir")) options.logdir = surroundings.directory;
  options.save_summaries_secs = SecondsArg(args, "save_summaries_secs").value_or(Duration::zero());
  options.save_model_secs = SecondsArg(args, "save_model_secs").value_or(Duration::zero());
  options.recovery_wait_secs = SecondsArg(args, "recovery_wait_secs").value_or(options.recovery_wait_secs);
  options.stop_grace_secs = SecondsArg(args, "stop_grace_secs").value_or(options.stop_grace_secs);
  options.checkpoint_basename = StringArg(args, "checkpoint_basename", options.checkpoint_basename);
  options.stop_on_sigterm = BoolArg(args, "stop_on_sigterm");
  options.init_fn = surroundings.init_fn;
  options.init_feed_dict = surroundings.init_feed;
  options.factory = surroundings.factory;
  options.behaviour = surroundings.behaviour;
  options.trace_path = surroundings.trace_path;
  return Supervisor::Create(layer_env, *model.graph, std::move(options));
}

void SupervisorCaller::NoteSession() {
  env_.Emit({.kind = EventKind::kNote,
             .call = static_cast<std::uint8_t>(Note::kSession),
             .closed = session_->closed(),
             .session = session_->number()});
}

absl::Status SupervisorCaller::Drive() {
  if (!scenario_.scope_with) return Execute(scenario_.drive);
  return supervisor_.ManagedSession({}, [this](const SessionPtr& session) {
    session_ = session;
    NoteSession();
    return Execute(scenario_.drive);
  });
}

absl::Status SupervisorCaller::Execute(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) {
    // Who can run at this moment does so, as real threads do beside a caller: a queue is filled before its session is
    // closed.
    env_.tasks->SleepUntil(env_.clock->Monotonic());
    const absl::Status status = ExecuteOne(statement);
    if (status.ok()) continue;
    if (!statement.catch_error) return status;
    notes_.NoteError(Note::kCaught, status);
  }
  return absl::OkStatus();
}

absl::Status SupervisorCaller::ExecuteOne(const Statement& statement) {
  switch (statement.op) {
    case Op::kRun:
      return Run(statement);
    case Op::kLoop:
      return Loop(statement);
    case Op::kShouldStop:
      AskShouldStop();
      return absl::OkStatus();
    case Op::kPrepare:
      return Prepare(statement);
    case Op::kRequestStop:
      return supervisor_.RequestStop(statement.code.has_value() ? ScriptedError(*statement.code) : absl::OkStatus());
    case Op::kGuarded:
      return supervisor_.StopOnError([&] { return Execute(statement.body); });
    case Op::kStop:
      return Stop(statement);
    case Op::kClose:
      return Close();
    case Op::kRaise: {
      const absl::Status error = ScriptedError(statement.code.value_or(Code::kOther));
      notes_.NoteError(Note::kRaises, error);
      return error;
    }
    case Op::kClock:
      notes_.NoteClock();
      return absl::OkStatus();
    case Op::kAdvance:
      env_.tasks->SleepUntil(DeadlineAfter(env_, Seconds(statement.secs)));
      return absl::OkStatus();
    case Op::kStartServices:
      return StartServices();
    case Op::kService:
      return Service(statement);
    case Op::kSummaryComputed:
      return SummaryComputed(statement);
    case Op::kStartThread:
      StartUnresponsiveTask(env_, *supervisor_.coord(), Seconds(statement.secs));
      return absl::OkStatus();
    case Op::kStartLoop:
      StartLoop(statement);
      return absl::OkStatus();
    case Op::kStep:
    case Op::kRawRun:
    case Op::kRunWithHooks:
      break;
  }
  return UsageError("This statement has no meaning for a supervisor.");
}

absl::Status SupervisorCaller::Run(const Statement& statement) {
  const Fetches fetches = notes_.FetchesOf(statement);
  RunSpec spec;
  fetches.AppendTo(*model_.graph, &spec);
  std::vector<Tensor> values;
  for (std::int64_t i = 0; i < statement.times; ++i) {
    notes_.NotePlain(Note::kRun);
    if (session_ == nullptr) return NoSession();
    VIGIL_RETURN_IF_ERROR(session_->Run({.spec = spec}, &values));
    if (scenario_.model.run_secs > 0) {
      env_.tasks->SleepUntil(DeadlineAfter(env_, Seconds(scenario_.model.run_secs)));
    }
    notes_.NoteResult(Note::kResult, statement, FetchedValues(fetches, values.data()));
  }
  return absl::OkStatus();
}

bool SupervisorCaller::AskShouldStop() {
  const bool stop = supervisor_.ShouldStop();
  env_.Emit({.kind = EventKind::kNote,
             .call = static_cast<std::uint8_t>(Note::kShouldStop),
             .has_value = true,
             .value = stop ? 1.0 : 0.0});
  return stop;
}

absl::Status SupervisorCaller::Loop(const Statement& statement) {
  for (std::int64_t i = 0; i < statement.max; ++i) {
    if (AskShouldStop()) break;
    VIGIL_RETURN_IF_ERROR(Execute(statement.body));
  }
  return absl::OkStatus();
}

absl::Status SupervisorCaller::Prepare(const Statement& statement) {
  notes_.NotePlain(Note::kPrepare);
  PrepareSessionOptions options;
  if (statement.max_wait_secs.has_value()) options.max_wait_secs = Seconds(*statement.max_wait_secs);
  VIGIL_ASSIGN_OR_RETURN(session_, supervisor_.PrepareOrWaitForSession(options));
  NoteSession();
  return absl::OkStatus();
}

absl::Status SupervisorCaller::Close() {
  notes_.NotePlain(Note::kClose);
  if (session_ == nullptr) return NoSession();
  VIGIL_RETURN_IF_ERROR(session_->Close());
  notes_.NotePlain(Note::kClosed);
  return absl::OkStatus();
}

absl::Status SupervisorCaller::Stop(const Statement& statement) {
  notes_.NotePlain(Note::kStop);
  StopOptions options;
  options.close_summary_writer = statement.close_summary_writer.value_or(options.close_summary_writer);
  options.ignore_live_tasks = statement.ignore_live_threads.value_or(options.ignore_live_tasks);
  VIGIL_RETURN_IF_ERROR(supervisor_.Stop(options));
  notes_.NotePlain(Note::kStopped);
  return absl::OkStatus();
}

absl::Status SupervisorCaller::StartServices() {
  VIGIL_ASSIGN_OR_RETURN(const auto started, supervisor_.StartStandardServices(session_));
  env_.Emit({.kind = EventKind::kNote,
             .call = static_cast<std::uint8_t>(Note::kServices),
             .has_value = started.has_value(),
             .value = started.has_value() ? static_cast<double>(started->size()) : 0});
  return absl::OkStatus();
}

absl::Status SupervisorCaller::Service(const Statement& statement) {
  const auto note = [&](Note kind) {
    env_.Emit({.kind = EventKind::kNote, .call = static_cast<std::uint8_t>(kind), .subject = statement.name});
  };
  std::shared_ptr<LooperThread>& service = services_[statement.name];
  if (service == nullptr) {
    VIGIL_ASSIGN_OR_RETURN(service, MakeService(statement.name, supervisor_, session_));
    note(Note::kServiceStart);
    VIGIL_RETURN_IF_ERROR(service->StartLoop());
  }
  note(Note::kServiceLoop);
  return service->RunLoop();
}

void SupervisorCaller::StartLoop(const Statement& statement) {
  // By value: the task may outlive this caller.
  const auto called = [env = env_, start = start_, secs = statement.secs, code = statement.code]() -> absl::Status {
    env.Emit({.kind = EventKind::kNote,
              .call = static_cast<std::uint8_t>(Note::kCalled),
              .has_value = true,
              .value = ToSeconds(env.clock->Monotonic() - start)});
    env.tasks->SleepUntil(DeadlineAfter(env, Seconds(secs)));
    return code.has_value() ? ScriptedError(*code) : absl::OkStatus();
  };
  supervisor_.Loop(Seconds(statement.every_secs), called);
}

absl::Status SupervisorCaller::SummaryComputed(const Statement& statement) {
  proto::Summary summary;
  proto::Summary::Value* const value = summary.add_value();
  value->set_tag("mine");
  value->set_simple_value(1.5F);
  return supervisor_.SummaryComputed(session_, summary, statement.step);
}

}  // namespace vigil::replays
