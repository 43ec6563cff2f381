#include "vigil/properties/judge/same_failure.h"

#include "vigil/properties/judge/broken_rules.h"
#include "vigil/properties/judge/model_comparison.h"

namespace vigil::properties {
namespace {

// The model says something else of a session.
bool Disagrees(const replays::Outcome& outcome, const replays::Scenario& scenario) {
  return !scenario.job.has_value() && !CompareWithModel(scenario, outcome).disagreement.empty();
}

}  // namespace

bool FailsLike(const FailureKind& kind, replays::Outcome& outcome, const replays::Scenario& scenario) {
  if (outcome.verdict == replays::Verdict::kInterrupted || outcome.verdict == replays::Verdict::kCannot) return false;
  if (!kind.rule.empty()) return Breaks(outcome, scenario, kind.rule);
  if (outcome.verdict != kind.verdict || !BrokenRulesIn(outcome, scenario).empty()) return false;
  return kind.verdict != replays::Verdict::kPlayed || Disagrees(outcome, scenario);
}

}  // namespace vigil::properties
