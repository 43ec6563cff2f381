// What the documents promise, as properties over random scenarios under random schedules.
#include <gtest/gtest.h>
// After gtest:
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/properties/explain.h"
#include "vigil/properties/generators/scenarios.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/runner.h"

namespace vigil::properties {
namespace {

constexpr int kScenariosInATrial = 3;  // rapidcheck makes a hundred trials

std::uint64_t DrawSeed() {
  return *rc::gen::noShrink(rc::gen::inRange<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max()));
}

// No random scenario violates one of these rules, and some arm each of them.
void ExpectToHold(const std::vector<std::string_view>& rules) {
  std::vector<RuleFactory> list;
  for (const RuleFactory factory : AllRules()) {
    if (std::find(rules.begin(), rules.end(), factory()->info().id) != rules.end()) list.push_back(factory);
  }
  ASSERT_EQ(list.size(), rules.size());
  std::vector<std::uint64_t> armed(list.size());
  replays::Runner runner;
  const bool held = rc::check([&] {
    for (int i = 0; i < kScenariosInATrial; ++i) {
      const replays::Scenario scenario = RandomScenario(DrawSeed());
      const replays::Outcome outcome = runner.Run(scenario, {.random_schedule = true});
      if (outcome.verdict != replays::Verdict::kPlayed) RC_FAIL(scenario.id + ": " + outcome.reason);
      const Judgement judgement = CheckRules(outcome, scenario, list);
      for (const Violation& violation : judgement.violations) {
        RC_FAIL(scenario.id + "\n" + Explain(violation, list[violation.number]()->info(), outcome.trace));
      }
      for (std::size_t rule = 0; rule < armed.size(); ++rule) armed[rule] += judgement.armed[rule];
    }
  });
  EXPECT_TRUE(held);
  for (std::size_t rule = 0; held && rule < armed.size(); ++rule) EXPECT_GT(armed[rule], 0U) << rules[rule];
}

TEST(SessionPropertiesTest, BeginThenFinalizeThenCreate) {
  ExpectToHold({"begin.then_finalize_then_create", "begin.once_in_a_life"});
}

TEST(SessionPropertiesTest, HooksAreCalledInListOrder) {
  ExpectToHold({"order.begin", "order.after_create_session", "order.before_run", "order.after_run", "order.end",
                "order.phase_ends_at_a_failing_hook"});
}

TEST(SessionPropertiesTest, SessionsAreReadyBeforeTheyAreUsed) {
  ExpectToHold({"init.order", "init.ready_before_use", "init.restored_means_no_init", "init.restores_a_checkpoint"});
}

TEST(SessionPropertiesTest, QueueRunnersStartBeforeAfterCreateSession) {
  ExpectToHold({"queue_runners.before_after_create_session"});
}

TEST(SessionPropertiesTest, AfterCreateSessionIsCalledForEachSession) {
  ExpectToHold({"after_create_session.for_every_hook_on_each_session"});
}

TEST(SessionPropertiesTest, EveryRunIsBetweenBeforeRunAndAfterRun) {
  ExpectToHold({"run.after_before_run_of_every_hook", "after_run.for_every_hook_after_a_good_run",
                "run.hooks_see_the_session_that_runs"});
}

TEST(SessionPropertiesTest, AfterRunNeverFollowsAFailedRun) { ExpectToHold({"after_run.never_after_a_failed_run"}); }

TEST(SessionPropertiesTest, EndRunsAfterRunSkippedOnOutOfRange) {
  ExpectToHold({"end.after_run_skipped_on_out_of_range"});
}

TEST(SessionPropertiesTest, EndIsCalledOnCleanExitsOnly) {
  ExpectToHold({"end.only_on_clean_exit", "end.for_every_hook_unless_one_fails", "end.before_the_session_is_closed"});
}

TEST(SessionPropertiesTest, RecoversFromAbortedAndUnavailableOnly) {
  ExpectToHold({"recovery.only_on_aborted_or_unavailable", "recovery.preemption_never_leaves_run"});
}

TEST(SessionPropertiesTest, SingularSessionsNeverRecover) { ExpectToHold({"recovery.singular_never"}); }

TEST(SessionPropertiesTest, ARecoveryRepeatsTheWholeCall) {
  ExpectToHold({"recovery.repeats_the_whole_call", "run.ok_means_one_session_run"});
}

TEST(SessionPropertiesTest, AStopRequestEndsTheLoop) {
  ExpectToHold(
      {"stop.request_makes_should_stop_true", "stop.only_for_a_reason", "stop.coordinator_stop_ends_the_loop"});
}

TEST(SessionPropertiesTest, ClosingStopsAndJoinsBeforeItCloses) {
  ExpectToHold({"close.coordinator_stop_then_join_then_close", "close.closes_the_session",
                "close.no_calls_on_a_closed_session"});
}

TEST(SessionPropertiesTest, AScopeSwallowsTheEndOfTheInputAndNothingElse) {
  ExpectToHold({"exit.clean_end_is_swallowed", "exit.other_errors_come_out"});
}

TEST(SessionPropertiesTest, EqualSeedsGiveEqualRuns) {
  replays::Runner runner;
  EXPECT_TRUE(rc::check([&runner] {
    const replays::Scenario scenario = RandomScenario(DrawSeed());
    const replays::Outcome first = runner.Run(scenario, {.random_schedule = true});
    const replays::Outcome again = runner.Run(scenario, {.random_schedule = true});
    RC_ASSERT(first.hash == again.hash);
    RC_ASSERT(first.events == again.events);
    replays::Scenario recorded = scenario;
    recorded.choices = first.choices;
    RC_ASSERT(runner.Run(recorded).hash == first.hash);
  }));
}

}  // namespace
}  // namespace vigil::properties
