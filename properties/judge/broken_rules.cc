#include "vigil/properties/judge/broken_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/properties/judge/explain.h"
#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/sim/checkers/checker.h"

namespace vigil::properties {

std::vector<BrokenRule> BrokenRulesIn(replays::Outcome& outcome, const replays::Scenario& scenario) {
  std::vector<BrokenRule> broken;
  if (outcome.verdict == replays::Verdict::kPlayerFailed) {
    for (const std::string& rule : *outcome.violated)
      broken.push_back({rule, fmt::format("  {}\n{}", outcome.reason, outcome.explanation)});
    return broken;
  }
  if (outcome.job.has_value()) {
    JudgeJob(scenario, outcome);
    for (const sim::JobViolation& violation : outcome.job->violations)
      broken.push_back({violation.rule, fmt::format("  {}: {}\n", violation.rule, violation.text)});
    return broken;
  }
  for (const Violation& violation : CheckRules(outcome, scenario).violations) {
    broken.push_back({std::string(violation.rule), Explain(violation, outcome.trace)});
  }
  return broken;
}

bool IsRule(std::string_view id) {
  return id == kNodeRules || replays::IsCrashRule(id) || replays::IsPlayerRule(id) ||
         std::ranges::find(sim::Checkers(), id, &sim::Checker::id) != sim::Checkers().end() ||
         std::ranges::any_of(AllRules(), [id](const RuleFactory make) { return make()->info().id == id; });
}

bool Breaks(replays::Outcome& outcome, const replays::Scenario& scenario, std::string_view rule) {
  if (outcome.verdict == replays::Verdict::kPlayerFailed)
    return std::ranges::find(*outcome.violated, rule) != outcome.violated->end();
  if (outcome.job.has_value()) JudgeJob(scenario, outcome);
  const auto is_it = [rule](const auto& violation) { return violation.rule == rule; };
  if (outcome.job.has_value()) return std::ranges::any_of(outcome.job->violations, is_it);
  return std::ranges::any_of(CheckRules(outcome, scenario).violations, is_it);
}

}  // namespace vigil::properties
