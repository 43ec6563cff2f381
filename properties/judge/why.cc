#include "vigil/properties/judge/why.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/replays/judge/result.h"

namespace vigil::properties {

std::size_t AddToCauses(const Violation& violation, replays::CauseGraph& graph) {
  if (violation.witness.empty()) return replays::AddViolation(violation.rule, "", std::nullopt, graph);
  return replays::AddViolation(violation.rule, violation.witness.back(), graph);
}

std::size_t AddToCauses(const sim::JobViolation& violation, Time start, replays::CauseGraph& graph) {
  if (violation.event.has_value()) return replays::AddViolation(violation.rule, *violation.event, graph);
  std::optional<Duration> at;
  if (violation.at.has_value()) at = *violation.at - start;
  return replays::AddViolation(violation.rule, violation.task, at, graph);
}

std::optional<replays::CauseChain> WhyBroken(const replays::Scenario& scenario, const replays::Outcome& outcome,
                                             std::string_view rule) {
  if (scenario.unit.has_value() || scenario.trace != nullptr || outcome.verdict == replays::Verdict::kNotSetUp)
    return std::nullopt;
  const auto chain = [&](const auto& violations, const auto&... more) -> std::optional<replays::CauseChain> {
    const auto found = std::ranges::find_if(violations, [rule](const auto& each) { return each.rule == rule; });
    if (found == violations.end()) return std::nullopt;
    replays::CauseGraph graph = replays::CausesOf(scenario, outcome);
    const std::size_t from = AddToCauses(*found, more..., graph);
    return replays::WalkBack(graph, from);
  };
  if (outcome.job.has_value()) return chain(outcome.job->violations, outcome.start);
  return chain(CheckRules(outcome, scenario).violations);
}

std::string WhyText(const replays::CauseChain& chain) {
  std::string text = "  what is in its past, oldest first:\n";
  for (const std::string& line : replays::ChainText(chain)) text += fmt::format("    {}\n", line);
  return text;
}

}  // namespace vigil::properties
