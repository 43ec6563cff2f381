#include "vigil/properties/campaign/judging_player.h"

#include <memory>

#include "fmt/format.h"
#include "vigil/properties/judge/broken.h"
#include "vigil/properties/judge/timeline_findings.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/play/job_player.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {

namespace {

using replays::Outcome;
using replays::Recording;

Outcome PlayRecording(replays::Runner& runner, const JudgingOptions& options, const Recording& recording) {
  const replays::JobTextOptions* const text = options.job_text.has_value() ? &*options.job_text : nullptr;
  if (recording.expect.has_value() && recording.expect->job != nullptr) {
    return replays::PlayJobLikeRecorded(runner, recording.scenario, *recording.expect->job,
                                        {.first = options.first_seed,
                                         .seeds = options.seeds,
                                         .text = text,
                                         .timeline = options.timeline,
                                         .interrupt = options.interrupt});
  }
  const bool names_a_rule = recording.expect.has_value() && !recording.expect->violates.empty();
  if (names_a_rule && !IsRule(recording.expect->violates)) {
    Outcome unknown;
    unknown.verdict = replays::Verdict::kNotSetUp;
    unknown.reason = fmt::format("/expect/violates: no rule is called {}; vigil rules lists them",
                                 replays::Quoted(recording.expect->violates));
    return unknown;
  }
  Outcome outcome =
      runner.Run(recording.scenario, {.interrupt = options.interrupt, .job_text = text, .timeline = options.timeline});
  if (!names_a_rule) return outcome;
  outcome.violated.emplace();
  for (const Broken& broken : BrokenIn(outcome, recording.scenario)) {
    outcome.violated->push_back(broken.rule);
    outcome.explanation += broken.text;
  }
  return outcome;
}

}  // namespace

replays::Player NewJudgingPlayer(const JudgingOptions& options) {
  return [runner = std::make_shared<replays::Runner>(), options](const Recording& recording) -> replays::PlainOutcome {
    Outcome outcome = PlayRecording(*runner, options, recording);
    if (outcome.timeline != nullptr) TellTimeline(recording.scenario, outcome, *outcome.timeline);
    return outcome;
  };
}

}  // namespace vigil::properties
