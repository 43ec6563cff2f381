#include "vigil/properties/generators/rapidcheck_scenarios.h"

#include <gtest/gtest.h>
// rapidcheck's own header for GoogleTest wants to come after it.
#include <rapidcheck/gtest.h>

#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {
namespace {

RC_GTEST_PROP(AnyScenarioTest, IsPlayedAndKeepsEveryRule, ()) {
  const replays::Scenario scenario = *AnyScenario();
  replays::Runner runner;
  const replays::Outcome outcome = runner.Run(scenario, {.random_schedule = true});
  RC_ASSERT(outcome.verdict == replays::Verdict::kPlayed);
  RC_ASSERT(CheckRules(outcome, scenario).violations.empty());
}

RC_GTEST_PROP(AnyScenarioTest, ComesBackFromItsRecord, ()) {
  const replays::Scenario scenario = *AnyScenario();
  replays::JsonDocument scratch;
  const absl::StatusOr<replays::Recording> read =
      replays::ParseRecording(replays::PrintRecord(scenario), "generated", 1, scratch);
  RC_ASSERT(read.ok());
  RC_ASSERT(read->scenario == scenario);
}

TEST(SmallerScenariosTest, LackOneThingEach) {
  const replays::Scenario scenario = RandomScenario(1);
  const std::vector<replays::Scenario> smaller = SmallerScenarios(scenario);
  EXPECT_EQ(smaller.size(),
            scenario.hooks.size() + scenario.faults.size() + scenario.drive.size() + scenario.after.size());
  for (const replays::Scenario& less : smaller) EXPECT_FALSE(less == scenario);
}

TEST(SmallerScenariosTest, LackStatementsInBodiesToo) {
  const auto of = [](replays::Op op, std::vector<replays::Statement> body = {}) {
    replays::Statement statement;
    statement.op = op;
    statement.body = std::move(body);
    return statement;
  };
  const replays::Statement run = of(replays::Op::kRun);
  const replays::Statement ask = of(replays::Op::kShouldStop);
  replays::Scenario scenario;
  scenario.drive = {of(replays::Op::kLoop, {run, ask}), of(replays::Op::kLoop, {run})};
  const std::vector<replays::Scenario> smaller = SmallerScenarios(scenario);
  ASSERT_EQ(smaller.size(), 4U);
  EXPECT_TRUE(smaller[1].drive == std::vector({of(replays::Op::kLoop, {ask}), scenario.drive[1]}));
  EXPECT_TRUE(smaller[2].drive == std::vector({of(replays::Op::kLoop, {run}), scenario.drive[1]}));
  EXPECT_TRUE(smaller[3].drive == std::vector({scenario.drive[0]}));
}

}  // namespace
}  // namespace vigil::properties
