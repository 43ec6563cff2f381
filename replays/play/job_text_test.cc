// A small job as people get to see it.
#include "vigil/replays/show/job_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/play/runner.h"

namespace vigil::replays {
namespace {

using testing::Contains;
using testing::ContainsRegex;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

// One pause strikes a task, one comes to nothing: its task has gone away for good.
constexpr char kJob[] =
    R"({"id":"a","cluster":{"tasks":{"chief":1,"ps":1,"worker":1}},"workload":{"name":"async_regression","last_step":400},)"
    R"("plan":[{"at_s":2,"crash":"worker:0"},{"at_s":2.5,"pause":"ps:0","for_s":1.25},{"at_s":4,"pause":"worker:0","for_s":1},)"
    R"({"rpc":"Reset","call":3,"effect":"lost_reply","code":"UNAVAILABLE"}],"limit_s":600})";

Recording SmallJob() {
  absl::StatusOr<Recording> recording = ParseRecording(kJob, "a.json", 1);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return *std::move(recording);
}

std::vector<std::string> Told(const JobTextOptions& options) {
  const Scenario scenario = SmallJob().scenario;
  Outcome outcome = Runner().Run(scenario);
  ShowJob(*scenario.job, outcome, options, outcome);
  return outcome.events;
}

TEST(JobText, HasAColumnForEachNode) {
  const std::vector<std::string> lines = Told({});
  ASSERT_GT(lines.size(), 20U);
  EXPECT_THAT(lines[0], ContainsRegex("^      time \\| chief:0 +\\| ps:0 +\\| worker:0$"));
  EXPECT_THAT(lines[1], ContainsRegex("^-----------\\|--+\\|--+\\|--+$"));
  EXPECT_THAT(lines, Contains(StartsWith("     0.000 | life 1 begins ")));
  EXPECT_THAT(lines, Contains(ContainsRegex("^ +[0-9]+\\.[0-9]{3} \\| run came back with step 1 *")));
  EXPECT_THAT(lines, Contains(ContainsRegex("^ +[0-9]+\\.[0-9]{3} == the plan begins ==$")));
  EXPECT_THAT(lines, Contains(ContainsRegex("^ +[0-9]+\\.[0-9]{3} == crash worker:0 ==$")));
  EXPECT_THAT(lines, Contains(EndsWith("== resume ps:0 ==")));
  // Whatever stands in a column begins below its name.
  const std::size_t last = lines[0].find("worker:0");
  for (const std::string& line : lines) {
    if (line.starts_with("inert") || line.find(" == ") != std::string::npos) continue;
    EXPECT_TRUE(line[11] == '|') << line;
    const std::size_t bars = static_cast<std::size_t>(std::ranges::count(line, '|'));
    EXPECT_EQ(bars, 3U) << line;
    EXPECT_EQ(line.rfind('|'), last - 2) << line;
  }
}

TEST(JobText, AMachineThatATaskWasBroughtToHasAColumn) {
  Scenario scenario = SmallJob().scenario;
  scenario.job->plan.timed = {{.kind = sim::TimedFault::Kind::kCrash,
                               .at = std::chrono::seconds(2),
                               .task = "chief:0",
                               .restart_after = std::chrono::seconds(1),
                               .elsewhere = std::chrono::seconds(0)}};
  Outcome outcome = Runner().Run(scenario);
  ShowJob(*scenario.job, outcome, {}, outcome);
  EXPECT_THAT(outcome.nodes, ElementsAre("chief:0", "ps:0", "worker:0", "chief:0~2"));
  EXPECT_THAT(outcome.events[0], EndsWith("| chief:0~2"));
  EXPECT_THAT(outcome.events, Contains(ContainsRegex("\\| life 2 begins$")));
  EXPECT_THAT(outcome.events, Contains(ContainsRegex("\\| session 1 restore$")));
}

TEST(JobText, NumbersAreThoseOfTheTrace) {
  const Scenario scenario = SmallJob().scenario;
  const Outcome outcome = Runner().Run(scenario);
  const std::vector<std::string> plain = JobText(*scenario.job, outcome, {});
  const std::vector<std::string> numbered = JobText(*scenario.job, outcome, {.numbers = true});
  ASSERT_EQ(plain.size(), numbered.size());
  std::size_t next = 1;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(numbered[i].substr(8), plain[i]);
    if (numbered[i][6] == ' ') continue;
    const std::size_t number = std::stoul(numbered[i].substr(0, 7));
    EXPECT_GE(number, next) << numbered[i];
    next = number + 1;
  }
  EXPECT_GT(next, 20U);
}

TEST(JobText, GoesForwardInTime) {
  double before = 0;
  for (const std::string& line : Told({})) {
    if (line.starts_with("inert") || line.substr(0, 10).find('.') == std::string::npos) continue;
    const double at = std::stod(line.substr(0, 10));
    EXPECT_GE(at, before) << line;
    before = at;
  }
  EXPECT_GT(before, 4);
}

TEST(JobText, EndsWhereItIsAskedTo) {
  const std::vector<std::string> all = Told({});
  const std::vector<std::string> lines = Told({.until = Seconds(6.5)});
  EXPECT_LT(lines.size(), all.size());
  EXPECT_THAT(all, Contains(HasSubstr("== crash")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("== crash"))));
  EXPECT_THAT(lines, Contains(StartsWith("     0.000 | life 1 begins ")));
  for (const std::string& line : lines) {
    if (line.substr(0, 10).find('.') != std::string::npos && !line.starts_with("inert")) {
      EXPECT_LE(std::stod(line.substr(0, 10)), 6.5) << line;
    }
  }
}

TEST(JobText, ShowsOnlySomeNodes) {
  const std::vector<std::string> lines = Told({.only_nodes = {"ps:0", "nobody"}});
  EXPECT_EQ(lines[0], "      time | ps:0");
  EXPECT_THAT(lines, Contains("     0.000 | life 1 begins"));
  EXPECT_THAT(lines, Contains(EndsWith("== crash worker:0 =="))) << "what the plan does is shown all the same";
  EXPECT_THAT(lines, Not(Contains(HasSubstr("driver"))));
  // Without columns there is no table.
  EXPECT_THAT(Told({.only_nodes = {"nobody"}}), Each(StartsWith("inert")));
}

TEST(JobText, IsMadeOnlyWhenAskedFor) { EXPECT_THAT(Runner().Run(SmallJob().scenario).events, IsEmpty()); }

TEST(JobText, NamesFaultsThatChangedNothing) {
  const std::string paused = R"(inert: {"at_s":4,"pause":"worker:0","for_s":1}: it happened and changed nothing)";
  const std::string request =
      R"(inert: {"rpc":"Reset","call":3,"effect":"lost_reply","code":"UNAVAILABLE"}: it never happened)";
  std::vector<std::string> inert = Told({});
  std::erase_if(inert, [](const std::string& line) { return !line.starts_with("inert"); });
  EXPECT_THAT(inert, ElementsAre(paused, request));
  // So does a failure: this record has nothing to compare.
  const Recording recording = SmallJob();
  const Result result = Judge(recording, Runner().Run(recording.scenario));
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_EQ(result.difference.report, "  " + paused + "\n  " + request + "\n");
}

}  // namespace
}  // namespace vigil::replays
