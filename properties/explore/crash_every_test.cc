#include "vigil/properties/explore/crash_every.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"

namespace vigil::properties {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Gt;

class CrashEveryTest : public testing::Test {
 protected:
  absl::StatusOr<CrashEverySummary> Explore(CrashEveryOptions options, std::uint64_t stop_after = ~std::uint64_t{0}) {
    std::atomic<bool> stop = false;
    CrashEveryCallbacks callbacks;
    callbacks.on_plan = [](const CrashEverySummary&) {};
    callbacks.on_failure = [this](const ExploreFailure& failure) { failures_.push_back(failure); };
    callbacks.on_error = [](const std::string& error) { ADD_FAILURE() << error; };
    callbacks.on_tick = [&](const CrashEverySummary& summary) { stop = stop || summary.counts.begun >= stop_after; };
    callbacks.now = [this] { return clock_.Monotonic(); };
    if (!options.scenario.job.has_value()) options.scenario = *SmallJobOf("chief");
    return RunCrashEvery(options, files_, callbacks, stop);
  }

  fakes::ManualClock clock_;
  fakes::MemoryFiles files_{clock_};
  std::vector<ExploreFailure> failures_;
};

TEST_F(CrashEveryTest, EveryFaultOfEachKindFallsAtItsPoint) {
  // One in eleven of them, of all kinds.
  const auto summary = Explore({.scenario = {}, .shard = 2, .shards = 11, .jobs = 1});
  ASSERT_TRUE(summary.ok()) << summary.status();
  for (const ExploreFailure& failure : failures_) ADD_FAILURE() << failure.text;
  EXPECT_THAT(summary->points, Each(testing::Gt(20U)));
  EXPECT_THAT(summary->faults, Each(testing::Gt(20U)));
  EXPECT_EQ(summary->counts.played, summary->planned);
  EXPECT_EQ(summary->counts.begun, summary->planned);
  EXPECT_EQ(summary->counts.failed, 0U);
  EXPECT_GT(summary->counts.traces.size(), 10U);
  // A power cut finds something to take only where something is not synced.
  EXPECT_GT(summary->counts.all_fired, summary->planned / 2);
  EXPECT_FALSE(summary->stopped);
}

TEST_F(CrashEveryTest, ItsScenariosAreReadAsTheyAreWritten) {
  sim::CourseLog course(3);
  course[0] = {
      .at = {sim::FaultPoint::Kind::kSent, 7}, .task = "chief:0", .peer = "ps:0", .request = true, .number = 3};
  course[1] = {.at = {sim::FaultPoint::Kind::kDelivered, 8}, .task = "ps:0", .peer = "chief:0"};
  course[2] = {.at = {sim::FaultPoint::Kind::kFileOp, 9}, .task = "chief:0"};
  const std::vector<CourseFault> faults = FaultsOf(course);
  ASSERT_EQ(faults.size(), 4U + 3U + 2U);
  EXPECT_EQ(NameOf(faults.back()), "file_op_9_power_cut");
  for (const CourseFault& fault : faults) {
    replays::Scenario scenario = *SmallJobOf("chief");
    AddTo(scenario.job->plan, fault);
    const auto again = replays::ParseRecording(replays::PrintRecord(scenario));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->scenario, scenario) << NameOf(fault);
  }
}

TEST_F(CrashEveryTest, ShardsAddUpAndGoOnWhereTheyWereStopped) {
  CrashEveryOptions options{.scenario = {}, .shard = 7, .shards = 40};
  const auto whole = Explore(options);
  ASSERT_TRUE(whole.ok()) << whole.status();
  options.state = "state";
  const auto first = Explore(options, 1);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto rest = Explore(options);
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(rest->resumed, first->counts.begun);
  EXPECT_EQ(rest->counts.played, whole->counts.played);
  EXPECT_EQ(rest->counts.ends, whole->counts.ends);
  EXPECT_EQ(rest->counts.traces, whole->counts.traces);
  CrashEveryOptions other = options;
  other.version = "another";
  EXPECT_EQ(CodeOf(Explore(other).status()), Code::kUsage);
  options.pairs = true;
  EXPECT_EQ(CodeOf(Explore(options).status()), Code::kUsage);  // the state is that of another one
}

TEST_F(CrashEveryTest, OfAPairTheSecondFallsIntoWhatTheFirstHasChanged) {
  replays::Scenario shorter = *SmallJobOf("chief");
  shorter.job->workload.last_step = 1;
  const auto summary = Explore({.scenario = shorter, .pairs = true, .shard = 701, .shards = 1'000'000});
  ASSERT_TRUE(summary.ok()) << summary.status();
  for (const ExploreFailure& failure : failures_) ADD_FAILURE() << failure.text;
  EXPECT_EQ(summary->planned, 1U);
  EXPECT_EQ(summary->counts.begun, 1U);
  EXPECT_GT(summary->counts.played, 50U);
}

TEST_F(CrashEveryTest, EverySmallJobKeepsEverythingWithoutFaults) {
  for (const SmallJobInfo& job : SmallJobs()) {
    const auto summary = Explore({.scenario = *SmallJobOf(job.name), .shard = 1'000'000, .shards = 1'000'000});
    ASSERT_TRUE(summary.ok()) << job.name << ": " << summary.status();
    // Messages that are sent and that arrive, operations on files: who trains nothing saves nothing.
    const std::uint64_t file_ops = job.name == "conversation" ? 0 : 21;
    EXPECT_THAT(summary->points, ElementsAre(Gt(20U), Gt(20U), testing::Ge(file_ops))) << job.name;
    EXPECT_EQ(summary->counts.played, 0U);
  }
}

TEST_F(CrashEveryTest, RefusesWhatItCannotDo) {
  replays::Scenario session;
  std::atomic<bool> stop = false;
  EXPECT_EQ(CodeOf(RunCrashEvery({.scenario = session}, files_, {}, stop).status()), Code::kUsage);
  EXPECT_EQ(CodeOf(Explore({.scenario = {}, .shard = 3, .shards = 2}).status()), Code::kUsage);
  EXPECT_FALSE(SmallJobOf("chef").has_value());
}

}  // namespace
}  // namespace vigil::properties
