#include "vigil/replays/judge/job_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vigil::replays {
namespace {

using ::testing::ElementsAre;

TEST(JobSummaryTest, SetsAndRangesOverAllPlays) {
  sim::JobFacts one;
  sim::TaskFacts& chief = one.tasks["chief:0"];
  chief.outcome = "clean";
  chief.sessions = 2;
  chief.run_failed = {Code::kUnavailable};
  chief.step_back_recovered = {3, 12};
  chief.longest_run = std::chrono::milliseconds(1500);
  chief.opened_after = std::chrono::seconds(4);
  chief.runs = 5;
  chief.last_step = 600;
  chief.hook_end = 1;
  one.newest_checkpoint = 601;
  sim::JobFacts other = one;
  sim::TaskFacts& failed = other.tasks["chief:0"];
  failed.outcome = "ABORTED";
  failed.text = "gone";
  failed.sessions = 1;
  failed.run_failed = {Code::kAborted, Code::kUnavailable};
  failed.step_back_recovered = {};
  failed.opened_after.reset();
  failed.last_step = 580;
  failed.hook_end = 0;
  other.newest_checkpoint.reset();

  JobSummary summary;
  summary.Add(PlayOf(one));
  summary.Add(PlayOf(other));
  const JobExpectation& all = summary.expectation();
  EXPECT_EQ(all.repeats, 2);
  EXPECT_EQ(all.newest_checkpoint, (Span<std::int64_t>{601, 601}));
  const TaskExpectation& task = all.tasks.find("chief:0")->second;
  EXPECT_THAT(task.outcome, ElementsAre("ABORTED", "clean"));
  EXPECT_THAT(task.texts, ElementsAre("gone"));
  EXPECT_EQ(task.sessions, (Span<std::int64_t>{1, 2}));
  EXPECT_EQ(task.run_failed.size(), 2U);
  EXPECT_EQ(task.run_failed_times, (Span<std::int64_t>{1, 2}));
  EXPECT_EQ(task.step_back_recovered_times, (Span<std::int64_t>{0, 2}));
  EXPECT_EQ(task.step_back_recovered, (Span<std::int64_t>{3, 12}));
  EXPECT_EQ(task.step_back_silent_times, (Span<std::int64_t>{0, 0}));
  EXPECT_EQ(task.step_back_silent, std::nullopt);
  EXPECT_EQ(task.longest_run_s, (Span<double>{1.5, 1.5}));
  EXPECT_EQ(task.opened_after_s, (Span<double>{4, 4}));
  EXPECT_EQ(task.last_step, (Span<std::int64_t>{580, 600}));
  EXPECT_EQ(task.hook_end, (Span<std::int64_t>{0, 1}));
}

}  // namespace
}  // namespace vigil::replays
