#include "vigil/properties/judge/timeline_findings.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/judge/result.h"

namespace vigil::properties {
namespace {

void AddFinding(const Violation& violation, const std::string& where, replays::Timeline& timeline) {
  replays::TimelineFinding finding;
  finding.rule = violation.rule;
  finding.text = fmt::format("{}{}\nexpected  {}\nactual    {}", where, AllRules()[violation.number]()->info().sentence,
                             violation.expected, violation.actual);
  for (const std::size_t event : violation.witness) {
    const std::size_t mark = timeline.marks_of_events[event];
    if (mark != replays::kNoMark) finding.witness.push_back(mark);
  }
  timeline.findings.push_back(std::move(finding));
}

}  // namespace

void TellTimeline(const replays::Scenario& scenario, const replays::Outcome& outcome, replays::Timeline& timeline) {
  timeline.id = replays::Escaped(scenario.id);
  timeline.title = replays::Escaped(scenario.title);
  timeline.end = std::string(replays::VerdictName(outcome.verdict));
  if (!outcome.reason.empty()) timeline.end += ": " + replays::Escaped(outcome.reason);
  if (scenario.unit.has_value() || scenario.trace != nullptr || outcome.verdict == replays::Verdict::kNotSetUp) return;
  if (!outcome.job.has_value()) {
    for (const Violation& violation : CheckRules(outcome, scenario).violations) AddFinding(violation, "", timeline);
    return;
  }
  for (const sim::JobViolation& violation : outcome.job->violations) {
    if (violation.rule != kNodeRules) timeline.findings.push_back({violation.rule, violation.text, {}});
  }
  for (const NodeJudgement& node : JudgeNodes(outcome, scenario)) {
    for (const Violation& violation : node.judgement.violations)
      AddFinding(violation, fmt::format("{}, life {}: ", node.node, node.life), timeline);
  }
}

}  // namespace vigil::properties
