// What a campaign of planted bugs comes to: lines for people, a document for programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "vigil/properties/planted/campaign.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/json_writer.h"
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

void WriteShrunk(const PlantedShrunk& shrunk, replays::JsonWriter& w) {
  w.Key("shrunk").Open('{').Key("rule").String(shrunk.rule).Key("before").Natural(shrunk.before);
  w.Key("after").Natural(shrunk.after).Key("plays").Natural(shrunk.plays);
  w.Key("seconds").Seconds(ToSeconds(shrunk.took)).Key("minimal").Bool(shrunk.minimal);
  w.Key("story").String(shrunk.story).Key("scenario").Raw(shrunk.scenario).Close('}');
}

}  // namespace

std::vector<RuleNeed> RuleNeeds(const PlantedReport& report) {
  std::vector<RuleNeed> needs;
  for (const RuleFactory rule : AllRules()) {
    const RuleInfo& info = rule()->info();
    needs.push_back({.rule = std::string(info.id), .only = {}, .stays = info.stays});
  }
  for (const sim::Checker& checker : sim::Checkers()) {
    needs.push_back({.rule = std::string(checker.id), .only = {}, .stays = checker.stays});
  }
  for (const std::string_view other : {kSameChoicesSameHash, kComesToAnEnd}) {
    needs.push_back(
        {.rule = std::string(other), .only = {}, .stays = "it is no rule: without it nothing could be said"});
  }
  for (RuleNeed& need : needs) {
    for (const PlantedFinding& finding : report.findings) {
      if (finding.found_by.contains(need.rule)) ++need.finds;
      if (std::ranges::count(finding.only_by, need.rule) > 0) need.only.emplace_back(finding.bug->id);
    }
  }
  return needs;
}

std::vector<std::string> NeededByNothing(const PlantedReport& report) {
  std::vector<std::string> rules;
  if (report.findings.size() != PlantedBugs().size()) return rules;  // some bugs say little
  for (const RuleNeed& need : RuleNeeds(report)) {
    if (need.only.empty() && need.stays.empty()) rules.push_back(need.rule);
  }
  return rules;
}

bool PlantedReport::passed() const {
  return missed() == 0 && NeededByNothing(*this).empty() && MedianSize() <= kMostElements && too_slow() == 0;
}

std::string PlantedLine(const PlantedFinding& finding) {
  const PlantedBug& bug = *finding.bug;
  std::string line = fmt::format("{:<16} {:<43} {:<22} {:>6}  {}{}\n", VerdictText(finding), bug.id, bug.NeedsText(),
                                 finding.first == 0 ? "-" : fmt::to_string(finding.first), FoundText(finding),
                                 finding.as_expected ? "" : fmt::format(" (expected {})", bug.rules));
  if (!finding.shrunk.has_value()) return line;
  const PlantedShrunk& shrunk = *finding.shrunk;
  return line + fmt::format("{:<16} from {} to {} elements, {} plays, {:.1f} s{}: {}\n", "", shrunk.before,
                            shrunk.after, shrunk.plays, ToSeconds(shrunk.took), shrunk.minimal ? "" : ", not minimal",
                            replays::Escaped(shrunk.story));
}

std::string PlantedText(const PlantedReport& report) {
  std::string text = fmt::format(
      "\n{} planted bugs: {} found by the rule that must find them; scenarios to the first finding: median {}, worst "
      "{}\n",
      report.findings.size(), report.findings.size() - report.missed(), report.Median(), report.Worst());
  if (report.MedianSize() > 0) {
    text +=
        fmt::format("shrunk, in elements (hooks, faults, statements): median {}, worst {}; {} took more than {} s\n",
                    report.MedianSize(), report.WorstSize(), report.too_slow(), kLongestShrinkingOfABug.count());
  }
  std::uint64_t alone = 0;
  std::uint64_t stay = 0;
  for (const RuleNeed& need : RuleNeeds(report)) {
    if (!need.only.empty()) ++alone;
    if (need.only.empty() && !need.stays.empty()) ++stay;
  }
  text += fmt::format("{} rules and invariants find a bug that no other finds", alone);
  const bool all = report.findings.size() == PlantedBugs().size();  // else it says little
  text += all ? fmt::format("; {} more say why they stay\n", stay) : "\n";
  if (const std::vector<std::string> idle = NeededByNothing(report); !idle.empty()) {
    text += fmt::format("NOT NEEDED, and without a reason to stay: {}\n", fmt::join(idle, ", "));
  }
  if (report.stopped) text += "interrupted: this is what was found so far\n";
  return text;
}

std::string PlantedJson(const PlantedReport& report) {
  replays::JsonWriter w;
  w.Open('{').Key("planted").Natural(report.findings.size()).Key("missed").Natural(report.missed());
  w.Key("median").Natural(report.Median()).Key("worst").Natural(report.Worst());
  if (report.MedianSize() > 0) {
    w.Key("shrunk").Open('{').Key("median").Natural(report.MedianSize()).Key("worst").Natural(report.WorstSize());
    w.Key("too_slow").Natural(report.too_slow()).Close('}');
  }
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
    w.Close('}');
    if (finding.shrunk.has_value()) WriteShrunk(*finding.shrunk, w);
    w.Close('}');
  }
  w.Close(']').Newline().Key("rules").Open('[');
  for (const RuleNeed& need : RuleNeeds(report)) {
    w.Newline().Open('{').Key("id").String(need.rule).Key("finds").Natural(need.finds).Key("only").Open('[');
    for (const std::string& id : need.only) w.String(id);
    w.Close(']');
    if (!need.stays.empty()) w.Key("stays").String(need.stays);
    w.Close('}');
  }
  w.Close(']').Close('}');
  return w.Take() + "\n";
}

}  // namespace vigil::properties
