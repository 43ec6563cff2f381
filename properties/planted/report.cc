// What a campaign of planted bugs comes to: lines for people, a document for programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "vigil/properties/planted/campaign.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/escape.h"
#include "vigil/replays/json_writer.h"
#include "vigil/sim/checkers/checker.h"

namespace vigil::properties {
namespace {

std::string FoundText(const PlantedFinding& finding) {
  if (finding.first == 0) return "nothing";
  if (finding.rules.empty()) return "no rule: " + replays::Escaped(finding.text.substr(0, finding.text.find('\n')));
  for (const std::string_view expected : finding.bug->Rules()) {
    if (std::ranges::count(finding.rules, expected) > 0) return std::string(expected);
  }
  return fmt::format("{}", fmt::join(finding.rules, ", "));
}

std::string_view VerdictText(const PlantedFinding& finding) {
  return finding.as_expected ? "found" : finding.first == 0 ? "MISSED" : "FOUND BY ANOTHER";
}

}  // namespace

std::vector<RuleNeed> RuleNeeds(const PlantedReport& report) {
  std::vector<RuleNeed> needs;
  for (const RuleFactory rule : AllRules()) needs.push_back({std::string(rule()->info().id), {}, 0});
  for (const sim::Checker& checker : sim::Checkers()) needs.push_back({std::string(checker.id), {}, 0});
  for (const std::string_view other : {kSameChoicesSameHash, kComesToAnEnd}) {
    needs.push_back({std::string(other), {}, 0});
  }
  for (RuleNeed& need : needs) {
    for (const PlantedFinding& finding : report.findings) {
      if (finding.found_by.contains(need.rule)) ++need.finds;
      if (std::ranges::count(finding.only_by, need.rule) > 0) need.only.emplace_back(finding.bug->id);
    }
  }
  return needs;
}

std::string PlantedLine(const PlantedFinding& finding) {
  const PlantedBug& bug = *finding.bug;
  return fmt::format("{:<16} {:<40} {:<22} {:>6}  {}{}\n", VerdictText(finding), bug.id, bug.NeedsText(),
                     finding.first == 0 ? "-" : fmt::to_string(finding.first), FoundText(finding),
                     finding.as_expected ? "" : fmt::format(" (expected {})", bug.rules));
}

std::string PlantedText(const PlantedReport& report) {
  std::string text = fmt::format(
      "\n{} planted bugs: {} found by the rule that must find them; scenarios to the first finding: median {}, worst "
      "{}\n",
      report.findings.size(), report.findings.size() - report.missed(), report.Median(), report.Worst());
  std::uint64_t alone = 0;
  std::vector<std::string> idle;
  for (const RuleNeed& need : RuleNeeds(report)) {
    if (!need.only.empty()) ++alone;
    if (need.finds == 0) idle.push_back(need.rule);
  }
  text += fmt::format("{} rules and invariants find a bug that no other finds\n", alone);
  const bool all = report.findings.size() == PlantedBugs().size();  // else it says little
  if (all && !idle.empty()) text += fmt::format("{} find none of these bugs: {}\n", idle.size(), fmt::join(idle, ", "));
  if (report.stopped) text += "interrupted: this is what was found so far\n";
  return text;
}

std::string PlantedJson(const PlantedReport& report) {
  replays::JsonWriter w;
  w.Open('{').Key("planted").Natural(report.findings.size()).Key("missed").Natural(report.missed());
  w.Key("median").Natural(report.Median()).Key("worst").Natural(report.Worst());
  w.Key("interrupted").Bool(report.stopped).Newline().Key("bugs").Open('[');
  for (const PlantedFinding& finding : report.findings) {
    const PlantedBug& bug = *finding.bug;
    w.Newline().Open('{').Key("id").String(bug.id).Key("where").String(bug.where).Key("mistake").String(bug.mistake);
    w.Key("needs").String(bug.NeedsText());
    w.Key("suite").String(bug.suite == PlantedSuite::kCluster ? "cluster" : "random");
    if (!bug.without.empty()) w.Key("without").String(bug.without);
    if (bug.takes_back_a_measure) w.Key("takes_back_a_measure").Bool(true);
    w.Key("expected").Open('[');
    for (const std::string_view rule : bug.Rules()) w.String(rule);
    w.Close(']').Key("as_expected").Bool(finding.as_expected).Key("first").Natural(finding.first);
    w.Key("found").Open('[');
    for (const std::string& rule : finding.rules) w.String(rule);
    w.Close(']').Key("text").String(finding.text).Key("found_by").Open('{');
    for (const auto& [rule, times] : finding.found_by) w.Key(rule).Natural(times);
    w.Close('}').Close('}');
  }
  w.Close(']').Newline().Key("rules").Open('[');
  for (const RuleNeed& need : RuleNeeds(report)) {
    w.Newline().Open('{').Key("id").String(need.rule).Key("finds").Natural(need.finds).Key("only").Open('[');
    for (const std::string& id : need.only) w.String(id);
    w.Close(']').Close('}');
  }
  w.Close(']').Close('}');
  return w.Take() + "\n";
}

}  // namespace vigil::properties
