#include "vigil/properties/campaign/recording_player.h"

#include <memory>

#include "fmt/format.h"
#include "vigil/properties/judge/broken_rules.h"
#include "vigil/properties/judge/node_rules.h"
#include "vigil/properties/judge/timeline_findings.h"
#include "vigil/properties/judge/why.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/job_expectation.h"
#include "vigil/replays/play/job_player.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/show/causes.h"
#include "vigil/replays/show/timeline.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Recording;

bool IsOfARealCluster(const Recording& recording) {
  return recording.expect.has_value() && recording.expect->job != nullptr;
}
bool NamesARule(const Recording& recording) {
  return !IsOfARealCluster(recording) && recording.expect.has_value() && !recording.expect->violates.empty();
}

// A saved failure of a rule that there is not.
Outcome Unknown(const std::string& rule) {
  Outcome unknown;
  unknown.verdict = replays::Verdict::kNotSetUp;
  unknown.reason = fmt::format("/expect/violates: no rule is called {}; vigil rules lists them", replays::Quoted(rule));
  return unknown;
}

// By the rules: where it says which it violates, and where nothing else is said of it.
bool IsJudged(const Recording& recording) {
  const bool says_nothing =
      !recording.expect.has_value() && !recording.scenario.unit.has_value() && recording.scenario.trace == nullptr;
  return says_nothing || NamesARule(recording);
}

Outcome PlayRecording(replays::Runner& runner, const RecordingPlayerOptions& options, const Recording& recording) {
  if (!IsOfARealCluster(recording) || !runner.is_our_core()) {
    return runner.Run(recording.scenario,
                      {.interrupt = options.interrupt,
                       .quiet = IsJudged(recording) || options.timeline,
                       // For what led to what is violated, or to the event.
                       .log_messages = IsJudged(recording) || options.timeline || options.why.has_value()});
  }
  const replays::JobExpectation& expected = *recording.expect->job;
  return replays::PlayJobLikeRecorded(
      runner, recording.scenario, expected,
      {.first = options.first_seed,
       .seeds = options.seeds.value_or(expected.plays.empty() ? kPlaysOfACluster : kPlaysForFrequencies),
       .once = options.job_text.has_value() || options.timeline || options.why.has_value(),
       .log_messages = options.timeline || options.why.has_value(),
       .interrupt = options.interrupt});
}

void JudgeRecording(const RecordingPlayerOptions& options, const Recording& recording, Outcome& outcome) {
  if (IsOfARealCluster(recording)) return;  // that was compared
  if (replays::IsWithoutPlay(outcome.verdict)) return;
  if (!IsJudged(recording)) {
    // A picture shows what is violated, whatever the file asks for.
    if (options.timeline && outcome.job.has_value()) JudgeJob(recording.scenario, outcome);
    return;
  }
  outcome.violated.emplace();
  const std::vector<BrokenRule> all_broken = BrokenRulesIn(outcome, recording.scenario);
  std::string shown = all_broken.empty() ? "" : all_broken.front().rule;
  if (NamesARule(recording)) shown = recording.expect->violates;
  const std::optional<replays::CauseChain> why = WhyBroken(recording.scenario, outcome, shown);
  if (why.has_value()) {
    outcome.why = replays::ChainJson(*why);
    outcome.explanation = WhyText(*why);
  }
  for (const BrokenRule& broken : all_broken) {
    outcome.violated->push_back(broken.rule);
    outcome.explanation += broken.text;
  }
}

// Beside the events, which are compared with the file's.
void ShowWhy(std::uint64_t event, const replays::Scenario& scenario, Outcome& outcome) {
  const replays::CauseGraph graph = replays::CausesOf(scenario, outcome);
  const std::size_t events = graph.of_events.size();
  if (event < 1 || event > events) {
    outcome.extra = fmt::format("{} there is no event {}: those of {} are 1 to {}", kNoSuchEvent, event,
                                replays::Quoted(scenario.id), events);
    return;
  }
  const replays::CauseChain chain = replays::WalkBack(graph, graph.of_events[event - 1]);
  for (const std::string& line : replays::ChainText(chain)) outcome.extra += line + "\n";
  outcome.why = replays::ChainJson(chain);
}

void ShowRecording(const RecordingPlayerOptions& options, const Recording& recording, Outcome& outcome) {
  const replays::Scenario& scenario = recording.scenario;
  if (scenario.job.has_value() && options.job_text.has_value())
    replays::ShowJob(*scenario.job, outcome, *options.job_text, outcome);
  if (options.why.has_value()) ShowWhy(*options.why, scenario, outcome);
  if (!options.timeline) return;
  outcome.timeline = replays::ShowTimeline(scenario, outcome);
  TellTimeline(scenario, outcome, *outcome.timeline);
}

}  // namespace

replays::Player NewRecordingPlayer(const RecordingPlayerOptions& options) {
  return [runner = std::make_shared<replays::Runner>(options.player),
          options](const Recording& recording) -> replays::PlainOutcome {
    if (NamesARule(recording) && !IsRule(recording.expect->violates)) return Unknown(recording.expect->violates);
    Outcome outcome = PlayRecording(*runner, options, recording);
    JudgeRecording(options, recording, outcome);
    ShowRecording(options, recording, outcome);
    return outcome;
  };
}

}  // namespace vigil::properties
