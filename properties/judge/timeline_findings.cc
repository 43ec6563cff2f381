#include "vigil/properties/judge/timeline_findings.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/judge/why.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/judge/result.h"

namespace vigil::properties {
namespace {

class FindingAdder {
 public:
  FindingAdder(const replays::Scenario& scenario, const replays::Outcome& outcome, replays::Timeline& timeline)
      : scenario_(scenario), outcome_(outcome), timeline_(timeline) {}

  void Add(const Violation& violation, const std::string& where);
  void Add(const sim::JobViolation& violation) {
    timeline_.findings.push_back(
        {violation.rule, violation.text, {}, Why(AddToCauses(violation, outcome_.start, Causes()))});
  }

 private:
  // Made for the first: most plays break nothing.
  replays::CauseGraph& Causes() {
    if (!causes_.has_value()) causes_ = replays::CausesOf(scenario_, outcome_);
    return *causes_;
  }
  std::vector<replays::TimelineCause> Why(std::size_t violation) {
    return replays::ChainInTimeline(replays::WalkBack(Causes(), violation), timeline_);
  }

  const replays::Scenario& scenario_;
  const replays::Outcome& outcome_;
  replays::Timeline& timeline_;
  std::optional<replays::CauseGraph> causes_;
};

void FindingAdder::Add(const Violation& violation, const std::string& where) {
  replays::TimelineFinding finding;
  finding.rule = violation.rule;
  finding.text = fmt::format("{}{}\nexpected  {}\nactual    {}", where, AllRules()[violation.number]()->info().sentence,
                             violation.expected, violation.actual);
  for (const std::size_t event : violation.witness) {
    const std::size_t mark = timeline_.marks_of_events[event];
    if (mark != replays::kNoMark) finding.witness.push_back(mark);
  }
  finding.why = Why(AddToCauses(violation, Causes()));
  timeline_.findings.push_back(std::move(finding));
}

}  // namespace

void TellTimeline(const replays::Scenario& scenario, const replays::Outcome& outcome, replays::Timeline& timeline) {
  timeline.id = replays::Escaped(scenario.id);
  timeline.title = replays::Escaped(scenario.title);
  timeline.end = std::string(replays::VerdictName(outcome.verdict));
  if (!outcome.reason.empty()) timeline.end += ": " + replays::Escaped(outcome.reason);
  if (scenario.unit.has_value() || scenario.trace != nullptr || outcome.verdict == replays::Verdict::kNotSetUp) return;
  FindingAdder findings(scenario, outcome, timeline);
  if (!outcome.job.has_value()) {
    for (const Violation& violation : CheckRules(outcome, scenario).violations) findings.Add(violation, "");
    return;
  }
  for (const sim::JobViolation& violation : outcome.job->violations) {
    if (violation.rule != kNodeRules) findings.Add(violation);
  }
  for (const NodeJudgement& node : JudgeNodes(outcome, scenario)) {
    for (const Violation& violation : node.judgement.violations)
      findings.Add(violation, fmt::format("{}, life {}: ", node.node, node.life));
  }
}

}  // namespace vigil::properties
