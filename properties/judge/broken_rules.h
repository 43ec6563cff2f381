// What a run has broken: rules of a session, or invariants of a job.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_JUDGE_BROKEN_RULES_H_
#define VIGIL_PROPERTIES_JUDGE_BROKEN_RULES_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {

struct BrokenRule {
  std::string rule;
  std::string text;  // its proof: indented lines
};

// Each rule that these violations name (those of a Judgement, of JobFacts) once, in the order in which they first
// appear.
template <typename Violations>
std::vector<std::string> RulesIn(const Violations& violations) {
  std::vector<std::string> rules;
  for (const auto& violation : violations) {
    if (std::ranges::find(rules, violation.rule) == rules.end()) rules.emplace_back(violation.rule);
  }
  return rules;
}

// In the order in which reports name them. Of a job, judges it first (node_rules.h).
std::vector<BrokenRule> BrokenRulesIn(replays::Outcome& outcome, const replays::Scenario& scenario);

// Whether there is a rule or an invariant of that id.
bool IsRule(std::string_view id);

// Whether it broke that rule. Of a job, judges it first (node_rules.h).
bool Breaks(replays::Outcome& outcome, const replays::Scenario& scenario, std::string_view rule);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_BROKEN_RULES_H_
