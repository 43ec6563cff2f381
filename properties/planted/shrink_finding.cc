// How small the first finding of a planted bug gets.
#include <algorithm>
#include <utility>

#include "vigil/properties/planted/campaign.h"
#include "vigil/properties/planted/play_with_bug.h"
#include "vigil/properties/shrink/crash_report.h"
#include "vigil/properties/shrink/scenario_summary.h"
#include "vigil/properties/shrink/shrink_broken.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/format/print.h"

namespace vigil::properties {
namespace {

// The rule that must find it, if it did.
std::string RuleToKeep(const PlantedFinding& finding) {
  for (const std::string_view expected : finding.bug->Rules()) {
    if (std::ranges::count(finding.rules, expected) > 0) return std::string(expected);
  }
  return finding.rules.empty() ? "" : finding.rules.front();
}

PlantedShrunk Told(PlantedShrunk shrunk, replays::Scenario least, Duration took) {
  shrunk.took = took;
  shrunk.after = Elements(least);
  shrunk.story = ScenarioSummary(least);
  least.choices.clear();
  shrunk.scenario = replays::PrintRecord(least);
  return shrunk;
}

}  // namespace

std::optional<PlantedShrunk> ShrinkFinding(const PlantedFinding& finding, const std::function<Time()>& now,
                                           const std::atomic<bool>& stop) {
  const std::string rule = RuleToKeep(finding);
  if (rule.empty()) return std::nullopt;
  replays::Scenario scenario = ScenarioWithBug(*finding.bug, finding.first);
  PlantedShrunk shrunk{.rule = rule, .before = Elements(scenario)};
  const Time start = now();
  if (replays::IsCrashRule(rule)) {
    const LeastCrash least = ShrinkCrash(scenario, {.rule = rule, .drawn = true, .shrink = true},
                                         [&] { return stop || now() - start > kLongestShrinkingOfABug; });
    shrunk.plays = least.plays;
    shrunk.minimal = least.minimal;
    return Told(shrunk, least.scenario, now() - start);
  }
  replays::Runner runner;
  replays::Outcome whole = runner.Run(scenario, {.random_schedule = true, .quiet = false});
  scenario.choices = std::move(whole.choices);
  const auto events = static_cast<std::int64_t>(whole.trace.size());
  const StillFails fails = [&](const replays::Scenario& candidate) { return ShowsBug(runner, candidate, rule); };
  ShrinkOptions options;
  options.stop = [&] { return stop || now() - start > kLongestShrinkingOfABug; };
  if (fails(scenario)) {
    Shrunk least = ShrinkBroken(scenario, rule, events, fails, options);
    shrunk.plays = least.plays;
    shrunk.minimal = least.minimal;
    scenario = std::move(least.scenario);
  }
  return Told(shrunk, scenario, now() - start);
}

}  // namespace vigil::properties
