#include "vigil/replays/show/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "vigil/replays/show/text.h"

namespace vigil::replays {
namespace {

std::string HookName(const Event& event) {
  return event.subject.empty() ? fmt::format("number {}", event.index + 1) : std::string(event.subject);
}

std::string HookLine(const Event& event) {
  const std::string text =
      fmt::format("hook {} {}", HookName(event), HookMethodName(static_cast<HookMethod>(event.call)));
  if (event.kind == EventKind::kHookCall) return fmt::format("{} session={}", text, SessionText(event));
  return fmt::format("{} returns {}{}", text, CodeName(event.code),
                     event.has_value && event.value != 0 ? " and asks for a stop" : "");
}

std::string ShouldStopText(const Event& event) {
  if (event.code != Code::kOk) return fmt::format("should_stop failed {}", CodeName(event.code));
  return fmt::format("should_stop -> {}", event.value != 0 ? "yes" : "no");
}

std::string_view RunName(const Event& event) { return event.call == 0 ? "run" : "run_step_fn"; }

// What the caller and its step functions do.
std::string CallerText(const Event& event) {
  const std::string_view code = CodeName(event.code);
  switch (event.kind) {
    case EventKind::kRunStart:
      return fmt::format("{} begins", RunName(event));
    case EventKind::kRunEnd:
      return fmt::format("{} returns {}", RunName(event), code);
    case EventKind::kShouldStop:
      return ShouldStopText(event);
    case EventKind::kCloseStart:
      return fmt::format("close begins after {}", code);
    case EventKind::kCloseEnd:
      return fmt::format("close returns {}", code);
    case EventKind::kConstructed:
      return fmt::format("construction returns {}", code);
    case EventKind::kStepFnCall:
      return fmt::format("step function session={}", SessionText(event));
    case EventKind::kStepFnReturn:
      return fmt::format("step function returns {}{}", code, event.value != 0 ? " and asks for a stop" : "");
    case EventKind::kInnerRunStart:
      return "inner run begins";
    case EventKind::kInnerRunEnd:
      return fmt::format("inner run returns {}", code);
    case EventKind::kBareRunStart:
      return "run without hooks begins";
    case EventKind::kBareRunEnd:
      return fmt::format("run without hooks returns {}", code);
    default:
      return "?";
  }
}

std::string SupervisorText(const Event& event) {
  const auto method = static_cast<SupervisorMethod>(event.call);
  const std::string_view code = CodeName(event.code);
  if (event.kind == EventKind::kSupervisorCall) {
    const bool given = method == SupervisorMethod::kBody || method == SupervisorMethod::kStartServices ||
                       method == SupervisorMethod::kStartQueueRunners || method == SupervisorMethod::kSummaryComputed;
    const std::string text = fmt::format("supervisor {} begins", SupervisorMethodName(method));
    return given ? fmt::format("{} session={}", text, SessionText(event)) : text;
  }
  if (method == SupervisorMethod::kShouldStop)
    return fmt::format("supervisor should_stop -> {}", event.value != 0 ? "yes" : "no");
  if (method == SupervisorMethod::kWriter || method == SupervisorMethod::kWriteGraph)
    return fmt::format("supervisor {} failed {}", SupervisorMethodName(method), code);
  return fmt::format("supervisor {} returns {}{}", SupervisorMethodName(method), code,
                     method == SupervisorMethod::kStop && event.value != 0 ? ", tasks are left behind" : "");
}

std::string WhoseText(std::int32_t index) {
  if (index == kOfCaller) return "caller";
  return index == kMerged ? "merged" : fmt::format("hook number {}", index + 1);
}

// "hook number 2: feed feed_me:0 = 7"
std::string DetailText(const Event& event) {
  std::string text(DetailName(event.kind, event.call));
  std::string subject(event.subject);
  while (!subject.empty() && (subject.back() == ' ' || subject.back() == '\n')) subject.pop_back();
  std::replace(subject.begin(), subject.end(), '\n', ' ');
  if (!subject.empty()) text += " " + subject;
  if (event.has_value) text += fmt::format(" {}{}", event.kind == EventKind::kRunPart ? "= " : "", event.value);
  if (event.code != Code::kOk) text += fmt::format(" {}", CodeName(event.code));
  switch (event.kind) {
    case EventKind::kRunPart:
      return fmt::format("{}: {}", WhoseText(event.index), text);
    case EventKind::kHookDetail:
      if (event.call == static_cast<std::uint8_t>(HookDetail::kTimerAsked))
        text += event.index == 1 ? " -> yes" : " -> no";
      return "in a hook: " + text;
    case EventKind::kSaverDetail:
      return "saver " + text;
    case EventKind::kCoordinatorDetail:
      return "coordinator " + text;
    default:
      return "queue runner " + text;
  }
}

}  // namespace

std::string TraceLine(const Event& event) {
  const std::string_view code = CodeName(event.code);
  switch (event.kind) {
    case EventKind::kHookCall:
    case EventKind::kHookReturn:
      return HookLine(event);
    case EventKind::kHookRequestsStop:
      return fmt::format("hook {} has requested a stop", HookName(event));
    case EventKind::kGraphFinalized:
    case EventKind::kGraphUnfinalized:
    case EventKind::kSessionCreated:
    case EventKind::kSessionCreateFailed:
    case EventKind::kCoordinatorRequestStop:
    case EventKind::kCoordinatorJoin:
      return TextOf(event).value_or("?");
    case EventKind::kSessionCall:
      return SessionCallText(event);
    case EventKind::kInitFn:
      return fmt::format("init_fn session={} returns {}", SessionText(event), code);
    case EventKind::kQueueRunners:
      return fmt::format("queue_runners return {}", code);
    case EventKind::kSleep:
      return "sleep";
    case EventKind::kRecovery:
      return fmt::format("recovery from {}", code);
    case EventKind::kWriterCall:
      return fmt::format("writer {}", WriterCallName(static_cast<WriterCall>(event.call)));
    case EventKind::kListenerCall:
      // One that nobody gave a name has none.
      return fmt::format("listener {}{}{}", event.subject, event.subject.empty() ? "" : " ",
                         ListenerMethodName(static_cast<ListenerMethod>(event.call)));
    case EventKind::kNote:
      return "note";
    case EventKind::kSupervisorCall:
    case EventKind::kSupervisorReturn:
      return SupervisorText(event);
    case EventKind::kRunPart:
    case EventKind::kHookDetail:
    case EventKind::kSaverDetail:
    case EventKind::kCoordinatorDetail:
    case EventKind::kQueueDetail:
      return DetailText(event);
    default:
      return CallerText(event);
  }
}

}  // namespace vigil::replays
