#include "vigil/properties/explain.h"

#include <fmt/format.h>

#include <optional>

#include "vigil/core/base/code.h"
#include "vigil/replays/escape.h"
#include "vigil/replays/text.h"
#include "vigil/replays/trace_text.h"

namespace vigil::properties {
namespace {

std::string RunName(const Event& event) { return event.call == 0 ? "run" : "step function"; }

}  // namespace

std::string EventText(const Event& event) {
  const std::optional<std::string> recorded = replays::TextOf(event);
  if (recorded.has_value()) return *recorded;
  const std::string_view code = CodeName(event.code);
  switch (event.kind) {
    case EventKind::kHookCall:
    case EventKind::kHookReturn:
      return fmt::format("hook {} {} returns {}", event.subject.empty() ? fmt::to_string(event.index) : event.subject,
                         HookMethodName(HookMethod{event.call}), code);
    case EventKind::kHookRequestsStop:
      return fmt::format("hook {} has requested a stop", event.index);
    case EventKind::kRecovery:
      return fmt::format("recovery from {}", code);
    case EventKind::kRunStart:
      return RunName(event) + " begins";
    case EventKind::kRunEnd:
      return fmt::format("{} ends with {}", RunName(event), code);
    case EventKind::kShouldStop:
      if (event.code != Code::kOk) return fmt::format("should_stop fails with {}", code);
      return fmt::format("should_stop says {}", event.value != 0 ? "yes" : "no");
    case EventKind::kCloseStart:
      return fmt::format("close begins after {}", code);
    case EventKind::kCloseEnd:
      return fmt::format("close ends with {}", code);
    default:
      return replays::TraceLine(event);
  }
}

std::string Explain(const Violation& violation, const RuleInfo& rule, const sim::Trace& trace) {
  std::string text = fmt::format("  {}: {}\n    expected  {}\n    actual    {}\n", rule.id, rule.sentence,
                                 violation.expected, violation.actual);
  for (const std::size_t i : violation.witness) {
    text += fmt::format("    event {:<4}{}\n", i + 1, replays::Escaped(EventText(trace[i].event)));
  }
  return text;
}

}  // namespace vigil::properties
