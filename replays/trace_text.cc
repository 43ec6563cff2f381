#include "vigil/replays/trace_text.h"

#include <fmt/format.h>

#include <string_view>

#include "vigil/replays/text.h"

namespace vigil::replays {
namespace {

std::string HookName(const Event& event) {
  return event.subject.empty() ? fmt::format("number {}", event.index + 1) : std::string(event.subject);
}

std::string HookText(const Event& event) {
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

}  // namespace

std::string TraceLine(const Event& event) {
  const std::string_view code = CodeName(event.code);
  switch (event.kind) {
    case EventKind::kHookCall:
    case EventKind::kHookReturn:
      return HookText(event);
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
    default:
      return CallerText(event);
  }
}

}  // namespace vigil::replays
