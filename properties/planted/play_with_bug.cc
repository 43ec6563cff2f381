#include "vigil/properties/planted/play_with_bug.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "vigil/core/base/behaviour.h"
#include "vigil/properties/generators/jobs.h"
#include "vigil/properties/generators/scenarios.h"
#include "vigil/properties/judge/broken_rules.h"
#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/judge/play_twice.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/judge/job_invariants.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Runner;
using replays::Scenario;

constexpr double kLongest = 50'000;  // virtual seconds of one scenario

Outcome PlayBothWays(Runner& runner, const Scenario& scenario) {
  const Play play = [&runner](const Scenario& played, const replays::RunnerOptions& how) {
    return runner.Run(played, how);
  };
  return PlayTwice(play, scenario);
}

ShownByBug ShownIn(Outcome outcome, const Scenario& scenario) {
  ShownByBug shown;
  if (outcome.job.has_value()) {
    if (outcome.verdict != replays::Verdict::kInterrupted) replays::CheckInvariants(scenario, outcome, *outcome.job);
    // Not as one invariant: which of the rules of a session finds a bug is what a campaign is for.
    for (const NodeJudgement& node : JudgeNodes(outcome, scenario)) {
      for (const Violation& violation : node.judgement.violations)
        outcome.job->violations.push_back({std::string(violation.rule), NodeViolationText(node, violation, outcome)});
    }
    shown.rules = RulesIn(outcome.job->violations);
    for (const sim::JobViolation& violation : outcome.job->violations)
      shown.text += (shown.text.empty() ? "" : "; ") + violation.text;
  } else {
    const Judgement judgement = CheckRules(outcome, scenario);
    shown.rules = RulesIn(judgement.violations);
    for (const Violation& violation : judgement.violations) {
      shown.text +=
          fmt::format("{}expected {}, seen {}", shown.text.empty() ? "" : "; ", violation.expected, violation.actual);
    }
  }
  if (!outcome.explanation.empty()) shown.rules.emplace_back(kSameChoicesSameHash);
  const bool endless = outcome.verdict == replays::Verdict::kDeadlock || outcome.verdict == replays::Verdict::kRunaway;
  if (endless && !scenario.job.has_value()) shown.rules.emplace_back(kComesToAnEnd);
  if (shown.rules.empty() && outcome.verdict != replays::Verdict::kPlayed) shown.text = outcome.reason;
  return shown;
}

}  // namespace

Scenario ScenarioWithBug(const PlantedBug& bug, std::uint64_t seed) {
  if (bug.suite == PlantedSuite::kRandom) {
    Scenario scenario = RandomScenario(seed);
    scenario.limits.virtual_s = kLongest;  // who waits for ever has been found out
    if (bug.probes_only) {
      std::erase_if(scenario.hooks, [](const auto& hook) { return hook.hook != "probe"; });
      if (scenario.session.kind == replays::SessionKind::kTraining)
        scenario.session = {};  // it brings hooks of its own
    }
    return scenario;
  }
  Scenario job = RandomJob(seed);
  if (!bug.without.empty()) {
    for (const BehaviourSwitch& known : BehaviourSwitches()) job.behaviour.switches[std::string(known.name)] = true;
    job.behaviour.name = "switches";
    job.behaviour.switches[std::string(bug.without)] = false;
  }
  return job;
}

ShownByBug PlayWithBug(Runner& runner, const Scenario& scenario) {
  const bool job = scenario.job.has_value();
  return ShownIn(job ? runner.Run(scenario, {.random_schedule = true}) : PlayBothWays(runner, scenario), scenario);
}

bool ShowsBug(Runner& runner, const Scenario& scenario, std::string_view rule) {
  const bool twice = rule == kSameChoicesSameHash;
  const ShownByBug shown = ShownIn(twice ? PlayBothWays(runner, scenario) : runner.Run(scenario), scenario);
  return std::ranges::count(shown.rules, rule) > 0;
}

}  // namespace vigil::properties
