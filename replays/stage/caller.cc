#include "vigil/replays/stage/caller.h"

#include <fmt/format.h>

#include "vigil/core/base/status_macros.h"
#include "vigil/replays/stage/run_parts.h"

namespace vigil::replays {

absl::Status ScriptedError(Code code) { return MakeStatus(code, "scenario " + std::string(CodeName(code))); }

void Caller::NotePlain(Note note) { env_.Emit({.kind = EventKind::kNote, .call = static_cast<std::uint8_t>(note)}); }

void Caller::NoteError(Note note, const absl::Status& error) {
  const Code code = CodeOf(error);
  if (code == Code::kUsage || code == Code::kNanLoss) messages_.emplace_back(MessageOf(error));
  env_.Emit({.kind = EventKind::kNote, .code = code, .call = static_cast<std::uint8_t>(note)});
}

void Caller::NoteText(const std::string& line) {
  env_.Emit({.kind = EventKind::kNote, .call = static_cast<std::uint8_t>(Note::kText), .subject = line});
}

void Caller::NoteResult(Note note, const Statement& statement, const FetchedValues& values) {
  if (statement.fetch.has_value()) {
    return NoteText(fmt::format("driver {}result {}", note == Note::kStepResult ? "step " : "", ValueText(values)));
  }
  env_.Emit({.kind = EventKind::kNote,
             .call = static_cast<std::uint8_t>(note),
             .has_value = true,
             .session = values["fed"].scalar<std::int64_t>(),
             .value = static_cast<double>(values["step"].scalar<std::int64_t>())});
}

void Caller::NoteClock() {
  env_.Emit({.kind = EventKind::kNote,
             .call = static_cast<std::uint8_t>(Note::kClock),
             .has_value = true,
             .value = ToSeconds(env_.clock->Monotonic() - start_)});
}

Feeds Caller::FeedsOf(const Statement& statement) const {
  if (!statement.feed.has_value()) return {};
  return {{model_.feed_me, Tensor::Scalar<std::int64_t>(*statement.feed)}};
}

absl::Status Caller::Execute(MonitoredSessionBase& session, const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) {
    const absl::Status status = ExecuteOne(session, statement);
    if (status.ok()) continue;
    if (!statement.catch_error) return status;
    NoteError(Note::kCaught, status);
  }
  return absl::OkStatus();
}

absl::Status Caller::ExecuteOne(MonitoredSessionBase& session, const Statement& statement) {
  switch (statement.op) {
    case Op::kRun:
      return Run(session, statement);
    case Op::kLoop:
      return Loop(session, statement);
    case Op::kShouldStop:
      return AskShouldStop(session).status();
    case Op::kClose:
      NotePlain(Note::kClose);
      VIGIL_RETURN_IF_ERROR(session.Close());
      NotePlain(Note::kClosed);
      return absl::OkStatus();
    case Op::kRaise:
      NoteError(Note::kRaises, ScriptedError(statement.code.value_or(Code::kOther)));
      return ScriptedError(statement.code.value_or(Code::kOther));
    case Op::kAdvance:
      env_.tasks->SleepUntil(DeadlineAfter(env_, Seconds(statement.secs)));
      return absl::OkStatus();
    case Op::kClock:
      NoteClock();
      return absl::OkStatus();
    case Op::kStep:
      return Step(session, statement);
    default:
      return UsageError("This statement has no meaning outside of a step function or a supervisor.");
  }
}

Fetches Caller::FetchesOf(const Statement& statement) const {
  if (statement.fetch_missing) return replays::FetchesOf(model_, "missing");
  return statement.fetch.has_value() ? replays::FetchesOf(model_, *statement.fetch) : model_.caller_fetches;
}

absl::Status Caller::RunAndNote(const RunFunction& run, const Statement& statement, Note note) {
  const RunOptions options = statement.options.value_or(RunOptions());
  VIGIL_ASSIGN_OR_RETURN(const RunResult result, run(FetchesOf(statement), FeedsOf(statement), options));
  NoteResult(note, statement, result.values());
  if (statement.metadata) NoteText(fmt::format("driver metadata traced={}", TracedText(result.metadata())));
  return absl::OkStatus();
}

absl::Status Caller::Run(MonitoredSessionBase& session, const Statement& statement) {
  const RunFunction run = [&](const Fetches& fetches, const Feeds& feeds, const RunOptions& options) {
    return session.Run(fetches, feeds, options);
  };
  for (std::int64_t i = 0; i < statement.times; ++i) {
    NotePlain(Note::kRun);
    VIGIL_RETURN_IF_ERROR(RunAndNote(run, statement, Note::kResult));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Caller::AskShouldStop(MonitoredSessionBase& session) {
  VIGIL_ASSIGN_OR_RETURN(const bool stop, session.ShouldStop());
  env_.Emit({.kind = EventKind::kNote,
             .call = static_cast<std::uint8_t>(Note::kShouldStop),
             .has_value = true,
             .value = stop ? 1.0 : 0.0});
  return stop;
}

absl::Status Caller::Loop(MonitoredSessionBase& session, const Statement& statement) {
  for (std::int64_t i = 0; i < statement.max; ++i) {
    VIGIL_ASSIGN_OR_RETURN(const bool stop, AskShouldStop(session));
    if (stop) break;
    VIGIL_RETURN_IF_ERROR(Execute(session, statement.body));
  }
  return absl::OkStatus();
}

absl::Status Caller::Step(MonitoredSessionBase& session, const Statement& statement) {
  std::int64_t calls = 0;
  NotePlain(Note::kRunStepFn);
  VIGIL_RETURN_IF_ERROR(session.RunStepFn([&](StepContext& context) -> absl::Status {
    ++calls;
    env_.Emit({.kind = EventKind::kNote,
               .call = static_cast<std::uint8_t>(Note::kStep),
               .closed = context.session().closed(),
               .has_value = true,
               .session = context.session().number(),
               .value = static_cast<double>(calls)});
    for (const Statement& inner : statement.body) {
      if (inner.on_call.has_value() && *inner.on_call != calls) continue;
      const absl::Status status = InStep(context, inner);
      if (status.ok()) continue;
      if (!inner.catch_error) return status;
      NoteError(Note::kCaught, status);
    }
    return absl::OkStatus();
  }));
  NotePlain(Note::kRunStepFnDone);
  return absl::OkStatus();
}

absl::Status Caller::InStep(StepContext& context, const Statement& statement) {
  switch (statement.op) {
    case Op::kRawRun:
      return RunFetch(context.session(), model_.fed).status();
    case Op::kRunWithHooks:
      return RunAndNote([&](const Fetches& fetches, const Feeds& feeds,
                            const RunOptions& options) { return context.RunWithHooks(fetches, feeds, options); },
                        statement, Note::kStepResult);
    case Op::kRequestStop:
      NotePlain(Note::kStepRequestsStop);
      return context.RequestStop();
    case Op::kRaise: {
      const absl::Status error = ScriptedError(statement.code.value_or(Code::kOther));
      NoteError(Note::kStepRaises, error);
      return error;
    }
    default:
      return UsageError("This statement has no meaning inside a step function.");
  }
}

}  // namespace vigil::replays
