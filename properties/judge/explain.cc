#include "vigil/properties/judge/explain.h"

#include <fmt/format.h>

#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/show/event_text.h"

namespace vigil::properties {

std::string Explain(const Violation& violation, const sim::Trace& trace) {
  const RuleInfo& rule = AllRules()[violation.number]()->info();
  std::string text = fmt::format("  {}: {}\n    expected  {}\n    actual    {}\n", rule.id, rule.sentence,
                                 violation.expected, violation.actual);
  for (const std::size_t i : violation.witness) {
    text += fmt::format("    event {:<4}{}\n", i + 1, replays::Escaped(replays::EventText(trace[i].event)));
  }
  return text;
}

}  // namespace vigil::properties
