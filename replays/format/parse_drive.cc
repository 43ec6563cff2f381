// Statements of the caller, and faults.
#include "fmt/format.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/parse_parts.h"
#include "vigil/replays/format/services.h"

namespace vigil::replays {
namespace {

// Who says a statement decides which ones there are.
enum Speaker : unsigned { kSession = 1, kStep = 2, kSupervisor = 4 };

std::string_view SpeakerName(Speaker speaker) {
  if (speaker == kStep) return "a step";
  return speaker == kSession ? "a session" : "a supervisor";
}

unsigned SpeakersOf(Op op) {
  switch (op) {
    case Op::kRun:
    case Op::kLoop:
    case Op::kShouldStop:
    case Op::kClose:
    case Op::kAdvance:
    case Op::kClock:
      return kSession | kSupervisor;
    case Op::kRaise:
      return kSession | kStep | kSupervisor;
    case Op::kStep:
      return kSession;
    case Op::kRawRun:
    case Op::kRunWithHooks:
      return kStep;
    case Op::kRequestStop:
      return kStep | kSupervisor;
    default:
      return kSupervisor;
  }
}

bool ReadOp(const Field& field, Speaker speaker, Op& out) {
  field.Enum(kOps, "statement", out);
  if (!field.present()) return false;
  if ((SpeakersOf(out) & speaker) != 0) return true;
  std::string known;
  for (const auto& entry : kOps) {
    if ((SpeakersOf(entry.value) & speaker) != 0) Field::AppendKnown(known, entry.name);
  }
  field.Fail(
      fmt::format("'{}' is no statement of {}; known there: {}", NameOf(kOps, out), SpeakerName(speaker), known));
  return false;
}

void ReadBody(Reading& reading, const Field& field, Speaker speaker, int depth, std::vector<Statement>& out);

void ReadOptional(const Field& field, std::optional<bool>& out) {
  bool value = false;
  field.Bool(value);
  if (field.present()) out = value;
}

// What a run is given; one without hooks takes neither feeds nor options here.
void ReadRun(Reading& reading, Fields& fields, Speaker speaker, Statement& out) {
  ReadFetch(reading, fields.Optional("fetch"), out.fetch);
  if (out.fetch.has_value() && out.fetch->name == "missing") {
    out.fetch_missing = true;
    out.fetch.reset();
  }
  if (speaker == kSupervisor) return;
  fields.Optional("feed").Integer(kValues, out.feed);
  ReadRunOptions(reading, fields.Optional("options"), out.options);
  fields.Optional("metadata").Bool(out.metadata);
}

void ReadPrepare(Fields& fields, Statement& out) {
  const Field wait = fields.Optional("max_wait_secs");
  double secs = 0;
  wait.Number(kSeconds, secs);
  if (wait.present()) out.max_wait_secs = secs;
}

// The fields that belong to this statement.
void ReadOperands(Reading& reading, Fields& fields, Speaker speaker, int depth, Statement& out) {
  switch (out.op) {
    case Op::kRun:
      fields.Optional("times").Integer(kCounts, out.times);
      return ReadRun(reading, fields, speaker, out);
    case Op::kRunWithHooks:
      return ReadRun(reading, fields, speaker, out);
    case Op::kLoop:
      fields.Required("max").Integer(kCounts, out.max);
      return ReadBody(reading, fields.Required("body"), speaker, depth, out.body);
    case Op::kStep:
      return ReadBody(reading, fields.Required("body"), kStep, depth, out.body);
    case Op::kGuarded:
      return ReadBody(reading, fields.Required("body"), speaker, depth, out.body);
    case Op::kRaise:
      return fields.Required("code").ErrorCode(out.code);
    case Op::kRequestStop:
      if (speaker == kSupervisor) fields.Optional("code").ErrorCode(out.code);
      return;
    case Op::kAdvance:
    case Op::kStartThread:
      return fields.Required("secs").Number(kSeconds, out.secs);
    case Op::kStartLoop:
      fields.Required("every_secs").Number(kSeconds, out.every_secs);
      fields.Optional("secs").Number(kSeconds, out.secs);
      return fields.Optional("code").ErrorCode(out.code);
    case Op::kPrepare:
      return ReadPrepare(fields, out);
    case Op::kStop:
      ReadOptional(fields.Optional("close_summary_writer"), out.close_summary_writer);
      return ReadOptional(fields.Optional("ignore_live_threads"), out.ignore_live_threads);
    case Op::kService:
      return fields.Required("name").OneOf(kServiceNames, "value", out.name);
    case Op::kSummaryComputed:
      return fields.Optional("step").Integer(kSteps, out.step);
    case Op::kShouldStop:
    case Op::kClose:
    case Op::kClock:
    case Op::kRawRun:
    case Op::kStartServices:
      return;
  }
}

void ReadStatement(Reading& reading, Json value, const Place& place, Speaker speaker, int depth, Statement& out) {
  Fields fields(reading, value, place);
  const Field op = fields.Deciding("op");
  const bool known = ReadOp(op, speaker, out.op);
  fields.Optional("catch").Bool(out.catch_error);
  if (speaker == kStep) fields.Optional("on_call").Integer(kCalls, out.on_call);
  if (known) ReadOperands(reading, fields, speaker, depth, out);
  fields.Finish();
}

void ReadBody(Reading& reading, const Field& field, Speaker speaker, int depth, std::vector<Statement>& out) {
  if (depth > kMaxBodyDepth) return field.Fail(fmt::format("bodies are nested deeper than {}", kMaxBodyDepth));
  field.Each([&](Json item, const Place& place) {
    ReadStatement(reading, item, place, speaker, depth + 1, out.emplace_back());
  });
}

}  // namespace

void ReadStatements(Reading& reading, const Field& field, SessionKind kind, std::vector<Statement>& out) {
  ReadBody(reading, field, kind == SessionKind::kSupervisor ? kSupervisor : kSession, 0, out);
}

void ReadFault(Reading& reading, Json value, const Place& place, Fault& out) {
  Fields fields(reading, value, place);
  fields.Required("at").Enum(kFaultPoints, "fault point", out.at);
  fields.Required("call").Calls(out.calls);
  fields.Optional("code").ErrorCode(out.code);
  const Field effect = fields.Optional("effect");
  std::string name;
  effect.OneOf({"lost_request", "lost_reply", "not_ready"}, name);
  out.lost_reply = name == "lost_reply";
  out.not_ready = name == "not_ready";
  fields.Optional("advance_step").Integer(kSteps, out.advance_step);
  fields.Optional("chief_init").Integer(kSteps, out.chief_init);
  fields.Optional("sigterm").Bool(out.sigterm);
  const Field file = fields.Optional("file");
  file.Name(out.file);
  fields.Finish();
  if (!reading.ok()) return;
  if (out.at == FaultPoint::kWrite) {
    if (!file.present() || !out.code.has_value()) reading.Fail(place, "'write' needs 'file' and 'code'");
    if (out.lost_reply || out.advance_step.has_value() || out.chief_init.has_value() || out.sigterm) {
      reading.Fail(place, "'write' takes 'file' and 'code' only");
    }
    return;
  }
  if (file.present()) reading.Fail(place, "'file' is for 'write' only");
  if (effect.present() && !out.code.has_value()) reading.Fail(place, "'effect' needs 'code'");
  const bool asks = out.at == FaultPoint::kReady || out.at == FaultPoint::kReadyForLocalInit;
  if (out.not_ready && (!asks || out.code != Code::kFailedPrecondition))
    reading.Fail(place, "'not_ready' is for 'ready' and 'ready_for_local_init' with FAILED_PRECONDITION");
  if (out.sigterm && out.at == FaultPoint::kEnqueue) reading.Fail(place, "'sigterm' is for calls of the caller's task");
  if (out.sigterm && out.calls.size() != 1) reading.Fail(place, "'sigterm' comes once: give one 'call'");
  if (!out.code.has_value() && !out.advance_step.has_value() && !out.chief_init.has_value() && !out.sigterm) {
    reading.Fail(place, "does nothing: give 'code', 'advance_step', 'chief_init' or 'sigterm'");
  }
}

}  // namespace vigil::replays
