// What a shrinker takes for the same failure.
#include "vigil/properties/judge/same_failure.h"

#include <gtest/gtest.h>

#include "vigil/replays/format/parse.h"

namespace vigil::properties {
namespace {

using replays::Outcome;
using replays::Scenario;
using replays::Verdict;

const char kTwoRuns[] = R"({"id":"a","drive":[{"op":"run"},{"op":"run"}]})";

Scenario TwoRuns() { return replays::ParseRecording(kTwoRuns)->scenario; }
Outcome Played() { return replays::Runner().Run(TwoRuns()); }

// The model says something else of it.
Outcome Disagreeing() {
  Outcome outcome = Played();
  outcome.events.pop_back();
  return outcome;
}

// A recovery at the end, without a cause.
Outcome BreakingARule(Outcome outcome) {
  const sim::TraceRecord last = outcome.trace[outcome.trace.size() - 1];
  outcome.trace.Append(last.node, last.task, last.time, Event{.kind = EventKind::kRecovery, .code = Code::kInternal});
  return outcome;
}

bool Fails(const FailureKind& kind, Outcome outcome) { return FailsLike(kind, outcome, TwoRuns()); }

TEST(SameFailure, AGoodRunFailsInNoWay) {
  EXPECT_FALSE(Fails({}, Played()));
  EXPECT_FALSE(Fails({.rule = "recovery.only_on_aborted_or_unavailable"}, Played()));
  EXPECT_FALSE(Fails({.verdict = Verdict::kDeadlock}, Played()));
}

TEST(SameFailure, ADisagreementIsNoBrokenRule) {
  EXPECT_TRUE(Fails({}, Disagreeing()));
  EXPECT_FALSE(Fails({}, BreakingARule(Disagreeing())));
  EXPECT_TRUE(Fails({.rule = "recovery.only_on_aborted_or_unavailable"}, BreakingARule(Disagreeing())));
  EXPECT_FALSE(Fails({.rule = "begin.once_in_a_life"}, BreakingARule(Disagreeing())));
}

TEST(SameFailure, HowItEndsIsPartOfIt) {
  const auto ending = [](Verdict verdict) {
    Outcome outcome = Played();
    outcome.verdict = verdict;
    return outcome;
  };
  EXPECT_TRUE(Fails({.verdict = Verdict::kDeadlock}, ending(Verdict::kDeadlock)));
  EXPECT_FALSE(Fails({.verdict = Verdict::kRunaway}, ending(Verdict::kDeadlock)));
  EXPECT_FALSE(Fails({}, ending(Verdict::kDeadlock)));
  EXPECT_FALSE(Fails({.verdict = Verdict::kDeadlock}, BreakingARule(ending(Verdict::kDeadlock))));
  EXPECT_FALSE(Fails({.verdict = Verdict::kInterrupted}, ending(Verdict::kInterrupted)));
}

}  // namespace
}  // namespace vigil::properties
