#include "vigil/replays/show/text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "vigil/core/coord/looper_thread.h"
#include "vigil/core/env/log.h"
#include "vigil/core/io/summary.pb.h"
#include "vigil/replays/format/services.h"
#include "vigil/replays/stage/notes.h"

namespace vigil::replays {
namespace {

// As Python's %g; NaN and infinity without a sign for NaN.
std::string NumberText(double value) { return std::isnan(value) ? "nan" : fmt::format("{:g}", value); }

// A step, without what comes after the point. A player may say what is no step: an infinity, which no integer holds.
std::string StepText(double value) { return fmt::format("{:.0f}", std::trunc(value) + 0.0); }

std::string HookText(const Event& event) {
  const auto method = static_cast<HookMethod>(event.call);
  std::string text = fmt::format("hook {} {}", event.subject, HookMethodName(method));
  if (method != HookMethod::kBegin) text += " session=" + SessionText(event);
  if (method == HookMethod::kAfterRun && event.has_value) text += " results=" + NumberText(event.value);
  return text;
}

// As Python's %.6g.
std::string ShortNumberText(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

std::string_view SessionLogStatusText(std::int32_t status) {
  constexpr std::array<std::string_view, 4> kNames = {"STATUS_UNSPECIFIED", "START", "STOP", "CHECKPOINT"};
  return status >= 0 && status < std::ssize(kNames) ? kNames[static_cast<std::size_t>(status)] : "?";
}

// "tag=value" for each value of a serialized Summary.
std::string SummaryText(std::string_view bytes) {
  proto::Summary summary;
  if (!summary.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "(unreadable)";
  std::string text;
  for (const proto::Summary::Value& value : summary.value()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", value.tag(), ShortNumberText(value.simple_value()));
  }
  return text;
}

std::string WriterText(const Event& event) {
  const auto call = static_cast<WriterCall>(event.call);
  const std::string text = fmt::format("writer {}", WriterCallName(call));
  const std::string step = "step=" + (event.has_value ? StepText(event.value) : std::string("None"));
  switch (call) {
    case WriterCall::kSummary:
      return fmt::format("{} {} {}", text, step, SummaryText(event.subject));
    case WriterCall::kSessionLog:
      return fmt::format("{} {} {}", text, SessionLogStatusText(event.index), step);
    case WriterCall::kRunMetadata:
      return fmt::format("{} {} {}", text, event.subject, step);
    case WriterCall::kGraph:
    case WriterCall::kMetaGraph:
    case WriterCall::kFlush:
    case WriterCall::kClose:
    case WriterCall::kReopen:
      return text;
  }
  return text;
}

std::string ListenerText(const Event& event) {
  // One that nobody gave a name has none.
  const std::string text = fmt::format("listener {}{}{}", event.subject, event.subject.empty() ? "" : " ",
                                       ListenerMethodName(static_cast<ListenerMethod>(event.call)));
  return event.has_value ? fmt::format("{} step={}", text, StepText(event.value)) : text;
}

std::string_view SeverityText(std::int32_t severity) {
  switch (static_cast<Severity>(severity)) {
    case Severity::kInfo:
      return "INFO";
    case Severity::kWarning:
      return "WARNING";
    case Severity::kError:
      return "ERROR";
  }
  return "?";
}

// "<what>" or "<failed> CODE".
std::string Ended(const Event& event, std::string what, std::string_view failed) {
  return event.code == Code::kOk ? std::move(what) : fmt::format("{} failed {}", failed, CodeName(event.code));
}

// What only the caller of a supervisor says.
std::string SupervisedText(const Event& event) {
  switch (static_cast<Note>(event.call)) {
    case Note::kPrepare:
      return "driver prepare";
    case Note::kSession:
      return fmt::format("driver session={}", SessionText(event));
    case Note::kStop:
      return "driver stop";
    case Note::kStopped:
      return "driver stopped";
    case Note::kServices:
      return event.has_value ? fmt::format("driver services {}", event.value) : std::string("driver services none");
    case Note::kServiceStart:
      return fmt::format("service {} start", event.subject);
    case Note::kServiceLoop:
      return fmt::format("service {} loop", event.subject);
    case Note::kCalled:
      return fmt::format("called at={}", NumberText(event.value));
    default:
      return "";
  }
}

// What probes and listeners say, and lines that are made elsewhere.
std::string HookNoteText(const Event& event) {
  switch (static_cast<Note>(event.call)) {
    case Note::kHookRaises:
      return fmt::format("hook {} raises {}", event.subject, CodeName(event.code));
    case Note::kHookRequestsStop:
      return fmt::format("hook {} requests_stop", event.subject);
    case Note::kHookReports:
      return fmt::format("hook {} reports {}", event.subject, CodeName(event.code));
    case Note::kHookStopsCoordinator:
      return fmt::format("hook {} stops_coordinator", event.subject);
    case Note::kHookStartsThread:
      return fmt::format("hook {} starts_thread {}", event.subject, NumberText(event.value));
    case Note::kHookSees:
    case Note::kText:
      return std::string(event.subject);
    case Note::kListenerRaises:
      return fmt::format("listener {} raises {}", event.subject, CodeName(event.code));
    case Note::kListenerRequestsStop:
      return fmt::format("listener {} requests_stop", event.subject);
    case Note::kLog:
      return fmt::format("log {} {}", SeverityText(event.index), event.subject);
    default:
      return "";
  }
}

std::string NoteText(const Event& event) {
  const std::string_view code = CodeName(event.code);
  switch (static_cast<Note>(event.call)) {
    case Note::kHookRaises:
    case Note::kHookRequestsStop:
    case Note::kHookReports:
    case Note::kHookStopsCoordinator:
    case Note::kHookStartsThread:
    case Note::kHookSees:
    case Note::kText:
    case Note::kListenerRaises:
    case Note::kListenerRequestsStop:
    case Note::kLog:
      return HookNoteText(event);
    case Note::kRun:
      return "driver run";
    case Note::kResult:
      return fmt::format("driver result step={} fed={}", StepText(event.value), event.session);
    case Note::kShouldStop:
      return fmt::format("driver should_stop -> {}", event.value != 0 ? "yes" : "no");
    case Note::kClose:
      return "driver close";
    case Note::kClosed:
      return "driver closed";
    case Note::kRaises:
      return fmt::format("driver raises {}", code);
    case Note::kCaught:
      return fmt::format("driver caught {}", code);
    case Note::kRunStepFn:
      return "driver run_step_fn";
    case Note::kStep:
      return fmt::format("driver step call={} session={}", StepText(event.value), SessionText(event));
    case Note::kStepResult:
      return fmt::format("driver step result step={} fed={}", StepText(event.value), event.session);
    case Note::kStepRequestsStop:
      return "driver step requests_stop";
    case Note::kStepRaises:
      return fmt::format("driver step raises {}", code);
    case Note::kRunStepFnDone:
      return "driver run_step_fn done";
    case Note::kClock:
      return "driver clock " + NumberText(event.value);
    case Note::kPrepare:
    case Note::kSession:
    case Note::kStop:
    case Note::kStopped:
    case Note::kServices:
    case Note::kServiceStart:
    case Note::kServiceLoop:
    case Note::kCalled:
      return SupervisedText(event);
    case Note::kHooksRejected:
      return fmt::format("hooks rejected {}", code);
    case Note::kConstructFailed:
      return fmt::format("driver construct failed {}", code);
    case Note::kExitClean:
      return "driver exit clean";
    case Note::kExitFailed:
      return fmt::format("driver exit failed {}", code);
    case Note::kAfterFailed:
      return fmt::format("driver after failed {}", code);
    case Note::kSigterm:
      return "signal SIGTERM";
  }
  return "";
}

}  // namespace

std::string SessionText(const Event& event) {
  if (event.session == 0) return "none";
  return fmt::format("{}{}", event.session, event.closed ? "(closed)" : "");
}

std::string SessionCallText(const Event& event) {
  const auto kind = static_cast<CallKind>(event.call);
  const std::string text = fmt::format("session {} {}", event.session, CallKindName(kind));
  if (event.code != Code::kOk) return fmt::format("{} failed {}", text, CodeName(event.code));
  if (kind == CallKind::kReady || kind == CallKind::kReadyForLocalInit) {
    return fmt::format("{} -> {}", text, event.value != 0 ? "yes" : "no");
  }
  return text;
}

std::optional<std::string> TextOf(const Event& event) {
  switch (event.kind) {
    case EventKind::kHookCall:
      if (event.subject.empty()) return std::nullopt;  // a built-in hook
      return HookText(event);
    case EventKind::kGraphFinalized:
      return "graph finalized";
    case EventKind::kGraphUnfinalized:
      return "graph unfinalized";
    case EventKind::kSessionCreated:
      return fmt::format("session {} created", event.session);
    case EventKind::kSessionCreateFailed:
      return fmt::format("session create failed {}", CodeName(event.code));
    case EventKind::kSessionCall:
      if (event.code == Code::kOk && static_cast<CallKind>(event.call) == CallKind::kReadStep) {
        return fmt::format("{} -> {}", SessionCallText(event), StepText(event.value));
      }
      return SessionCallText(event);
    case EventKind::kInitFn:
      return Ended(event, "init_fn session=" + SessionText(event), "init_fn");
    case EventKind::kQueueRunners:
      return Ended(event, "queue_runners started", "queue_runners");
    case EventKind::kCoordinatorRequestStop:
      if (event.code == Code::kOk) return "coordinator request_stop";
      return fmt::format("coordinator request_stop {}", CodeName(event.code));
    case EventKind::kCoordinatorJoin:
      return "coordinator join";
    case EventKind::kSleep:
      return "sleep " + NumberText(event.value);
    case EventKind::kWriterCall:
      return WriterText(event);
    case EventKind::kListenerCall:
      if (event.subject.empty()) return std::nullopt;
      return ListenerText(event);
    case EventKind::kNote:
      return NoteText(event);
    case EventKind::kHookReturn:
    case EventKind::kHookRequestsStop:
    case EventKind::kRecovery:
    case EventKind::kRunStart:
    case EventKind::kRunEnd:
    case EventKind::kShouldStop:
    case EventKind::kCloseStart:
    case EventKind::kCloseEnd:
    case EventKind::kConstructed:
    case EventKind::kStepFnCall:
    case EventKind::kStepFnReturn:
    case EventKind::kInnerRunStart:
    case EventKind::kInnerRunEnd:
    case EventKind::kBareRunStart:
    case EventKind::kBareRunEnd:
    case EventKind::kSupervisorCall:
    case EventKind::kSupervisorReturn:
    case EventKind::kRunPart:
    case EventKind::kHookDetail:
    case EventKind::kSaverDetail:
    case EventKind::kCoordinatorDetail:
    case EventKind::kQueueDetail:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view ServiceOfTask(std::string_view task) {
  // "chief/LooperThread#2"
  std::string_view name = task.substr(task.find('/') + 1);
  name = name.substr(0, name.find('#'));
  if (name == LooperThread::kDefaultName) return "loop";
  const ServiceInfo* const service = FindServiceOfTask(name);
  return service == nullptr ? "" : service->name;
}

std::vector<std::string> TextOfTask(const sim::Trace& trace, std::string_view task, bool services) {
  std::vector<std::string> lines;
  for (const sim::TraceRecord& record : trace.records()) {
    const std::string_view label = trace.TaskLabel(record);
    const std::string_view service = services && label != task ? ServiceOfTask(label) : "";
    if (label != task && service.empty()) continue;
    std::optional<std::string> line = TextOf(record.event);
    if (!line.has_value()) continue;
    lines.push_back(service.empty() ? *std::move(line) : fmt::format("{}: {}", service, *line));
  }
  return lines;
}

}  // namespace vigil::replays
