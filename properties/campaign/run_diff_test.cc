#include "vigil/properties/campaign/run_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vigil/replays/format/json.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/show/timeline.h"

namespace vigil::properties {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

replays::Outcome PlayScenario(const std::string& text) {
  const absl::StatusOr<replays::Recording> recording = replays::ParseRecording(text);
  EXPECT_TRUE(recording.ok()) << recording.status();
  replays::Outcome outcome = replays::Runner().Run(recording->scenario);
  outcome.timeline = replays::ShowTimeline(recording->scenario, outcome);
  return outcome;
}

std::string Failing(const std::string& code) {
  return R"({"id":"x","hooks":[{"hook":"probe","name":"a"}],"faults":[{"at":"run","call":2,"code":")" + code +
         R"("}],"drive":[{"op":"run","times":3}]})";
}

TEST(RunDiffTest, TheSameRun) {
  const RunDiff diff = CompareRuns(PlayScenario(Failing("ABORTED")), PlayScenario(Failing("ABORTED")));
  EXPECT_TRUE(diff.same);
  EXPECT_THAT(diff.first, IsEmpty());
  EXPECT_EQ(diff.detail, "");
  EXPECT_THAT(RunDiffText(diff, "a", "b"), StartsWith("the same run: "));
}

TEST(RunDiffTest, FiveLinesBeforeAndFromTheFirstDifference) {
  const RunDiff diff = CompareRuns(PlayScenario(Failing("ABORTED")), PlayScenario(Failing("INTERNAL")));
  EXPECT_FALSE(diff.same);
  EXPECT_THAT(diff.before, SizeIs(kDiffContext));
  EXPECT_THAT(diff.before.back(), EndsWith("hook a before_run returns OK"));
  EXPECT_THAT(diff.first, SizeIs(kDiffContext));
  EXPECT_THAT(diff.first[0], EndsWith("session 1 run failed ABORTED"));
  EXPECT_THAT(diff.first[1], EndsWith("recovery from ABORTED"));
  EXPECT_THAT(diff.second[0], EndsWith("session 1 run failed INTERNAL"));
  const std::string text = RunDiffText(diff, "one", "two");
  EXPECT_THAT(text, HasSubstr("| two\n"));
  EXPECT_THAT(text, testing::ContainsRegex(
                        "\n! +[0-9]+ .*session 1 run failed ABORTED +\\| .*session 1 run failed INTERNAL\n"));
  EXPECT_THAT(text, HasSubstr("  the first event that differs:\n"));
}

TEST(RunDiffTest, ARunThatEndsEarlierHasNothingOnItsSide) {
  const RunDiff diff =
      CompareRuns(PlayScenario(R"({"id":"x","drive":[]})"), PlayScenario(R"({"id":"x","drive":[{"op":"run"}]})"));
  EXPECT_FALSE(diff.same);
  EXPECT_NE(diff.first, diff.second);
}

TEST(RunDiffTest, ANumberThatNoLineShowsIsADifference) {
  replays::Outcome first = PlayScenario(Failing("ABORTED"));
  const replays::Outcome second = PlayScenario(Failing("ABORTED"));
  ++first.hash;
  const RunDiff diff = CompareRuns(first, second);
  EXPECT_FALSE(diff.same);
  EXPECT_THAT(diff.first, IsEmpty());
  EXPECT_THAT(RunDiffText(diff, "a", "b"), HasSubstr("but not the same run\n    all events and choices are the same"));
}

TEST(RunDiffTest, UnitsAreComparedByWhatTheySay) {
  const char* const unit = R"({"id":"u","unit":"coordinator","ops":[{"op":"should_stop"}]})";
  const char* const other = R"({"id":"u","unit":"coordinator","ops":[{"op":"request_stop"},{"op":"should_stop"}]})";
  EXPECT_TRUE(CompareRuns(PlayScenario(unit), PlayScenario(unit)).same);
  EXPECT_FALSE(CompareRuns(PlayScenario(unit), PlayScenario(other)).same);
}

TEST(RunDiffTest, JsonIsReadable) {
  const RunDiff diff = CompareRuns(PlayScenario(Failing("ABORTED")), PlayScenario(Failing("INTERNAL")));
  replays::JsonDocument document;
  ASSERT_TRUE(document.Parse(RunDiffJson(diff, "a\"b", "</x>")).ok());
  std::vector<std::string> keys;
  for (const replays::Json member : document.root()) keys.emplace_back(member.key());
  EXPECT_THAT(keys, ElementsAre("same", "lines", "before", "first", "second", "detail"));
}

}  // namespace
}  // namespace vigil::properties
