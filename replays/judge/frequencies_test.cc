#include "vigil/replays/judge/frequencies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace vigil::replays {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using Change = std::function<void(TaskPlay&, int play)>;

constexpr char kWorker[] = "worker:0";

// So many plays of a worker that recovers once, in one of three plays after half a minute more.
std::vector<JobPlay> Plays(int n, const Change& change) {
  std::vector<JobPlay> plays(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    TaskPlay& play = plays[static_cast<std::size_t>(i)].tasks[kWorker];
    play = {.outcome = "clean", .sessions = 2, .run_failed = {Code::kUnavailable}, .hook_end = 1};
    play.longest_run_s = (i % 3 == 0 ? 36 : 6) + 0.01 * (i % 7);
    play.opened_after_s = 3 + 0.01 * (i % 5);
    play.last_step = 598 + i % 4;
    if (change != nullptr) change(play, i);
  }
  return plays;
}

std::vector<std::string> Judged(const Change& recorded, const Change& seen) {
  return TooDifferent(Frequencies(Plays(12, recorded), Plays(200, seen)));
}

TEST(FrequenciesTest, PlaysOfOneSourceDoNotDiffer) { EXPECT_THAT(Judged(nullptr, nullptr), IsEmpty()); }

TEST(FrequenciesTest, AWayThatIsTakenTooSeldomIsFound) {
  const Change never = [](TaskPlay& play, int) { play.longest_run_s = 6; };
  EXPECT_THAT(Judged([](TaskPlay& play, int i) { play.longest_run_s = i % 4 == 0 ? 6 : 36; }, never),
              ElementsAre(StartsWith("worker:0 longest_run_s: recorded 6 to 36, half up to 36; seen 6 (p = ")));
}

// Each could be a way of the recorded ones, and the ranges of an expectation have nothing to say against it.
TEST(FrequenciesTest, AWayThatIsTakenTooOftenIsFound) {
  const Change recorded = [](TaskPlay& play, int i) {
    if (i == 0) play.sessions = 3;
  };
  const Change seen = [](TaskPlay& play, int i) {
    if (i % 20 != 0) play.sessions = 3;
  };
  EXPECT_THAT(Judged(recorded, seen),
              ElementsAre(StartsWith(
                  "worker:0 sessions: recorded 2: 11 of 12, 3: 1 of 12; seen 2: 10 of 200, 3: 190 of 200 (p = ")));
  EXPECT_THAT(Judged(recorded,
                     [](TaskPlay& play, int i) {
                       if (i % 10 == 0) play.sessions = 3;
                     }),
              IsEmpty());
}

TEST(FrequenciesTest, EveryFieldIsLookedAt) {
  const std::vector<std::pair<std::string, Change>> changes = {
      {"outcome", [](TaskPlay& play, int) { play.outcome = "ABORTED"; }},
      {"sessions", [](TaskPlay& play, int) { play.sessions = 1; }},
      {"run_failed", [](TaskPlay& play, int) { play.run_failed = {Code::kAborted}; }},
      {"run_failed", [](TaskPlay& play, int) { play.run_failed.push_back(Code::kUnavailable); }},
      {"create_failed", [](TaskPlay& play, int) { play.create_failed = {Code::kAborted}; }},
      {"hook_end", [](TaskPlay& play, int) { play.hook_end = 0; }},
      {"longest_run_s", [](TaskPlay& play, int) { play.longest_run_s += 30; }},
      {"last_step", [](TaskPlay& play, int) { play.last_step.reset(); }},
  };
  for (const auto& [field, change] : changes) {
    const std::vector<std::string> found = Judged(nullptr, change);
    EXPECT_THAT(found, ElementsAre(StartsWith("worker:0 " + field + ": "))) << field;
    EXPECT_EQ(Judged(change, change), std::vector<std::string>()) << field;
  }
  const std::vector<std::string> silent = Judged(nullptr, [](TaskPlay& play, int) { play.step_back_silent = {20}; });
  EXPECT_THAT(silent, ElementsAre(HasSubstr("step_back_silent"), HasSubstr("steps lost")));
  const std::vector<std::string> back = Judged(nullptr, [](TaskPlay& play, int) { play.step_back_recovered = {20}; });
  EXPECT_THAT(back, ElementsAre(HasSubstr("step_back_recovered"), HasSubstr("steps lost")));
}

TEST(FrequenciesTest, TheOrderOfFailuresIsNoDifference) {
  const Change one = [](TaskPlay& play, int) { play.run_failed = {Code::kAborted, Code::kUnavailable}; };
  const Change other = [](TaskPlay& play, int) { play.run_failed = {Code::kUnavailable, Code::kAborted}; };
  EXPECT_THAT(Judged(one, other), IsEmpty());
}

TEST(FrequenciesTest, EachPlayHasEachTask) {
  std::vector<JobPlay> recorded = Plays(12, nullptr);
  std::vector<JobPlay> seen = Plays(200, nullptr);
  recorded[5].tasks["worker:7"] = {.outcome = "clean"};
  EXPECT_THAT(TooDifferent(Frequencies(recorded, seen)),
              ElementsAre("worker:7 plays that have this task: recorded 1 of 12; seen 0 of 200 (p = 0)"));
  recorded[5].tasks.clear();
  EXPECT_THAT(TooDifferent(Frequencies(recorded, seen)),
              ElementsAre("worker:0 plays that have this task: recorded 11 of 12; seen 200 of 200 (p = 0)"));
}

TEST(FrequenciesTest, WithoutRecordedPlaysThereIsNothingToSay) {
  EXPECT_TRUE(Frequencies({}, Plays(200, nullptr)).empty());
  EXPECT_TRUE(Frequencies(Plays(12, nullptr), {}).empty());
  EXPECT_EQ(PrintFrequencies({}), "");
}

TEST(FrequenciesTest, IsPrinted) {
  const std::vector<Frequency> one = {
      {.task = kWorker, .field = "sessions", .recorded = "2: 12 of 12", .seen = "2: 200 of 200", .p = 1}};
  EXPECT_EQ(PrintFrequencies(one),
            R"([{"task":"worker:0","field":"sessions","recorded":"2: 12 of 12","seen":"2: 200 of 200","p":1}])");
}

}  // namespace
}  // namespace vigil::replays
