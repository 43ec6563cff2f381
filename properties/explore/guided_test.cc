#include "vigil/properties/explore/guided.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"

namespace vigil::properties {
namespace {

using testing::HasSubstr;

class GuidedTest : public testing::Test {
 protected:
  absl::StatusOr<GuidedSummary> Explore(GuidedOptions options) {
    std::atomic<bool> stop = false;
    GuidedCallbacks callbacks;
    callbacks.on_failure = [](const ExploreFailure& failure) { ADD_FAILURE() << failure.text; };
    callbacks.on_error = [](const std::string& error) { ADD_FAILURE() << error; };
    callbacks.on_tick = [](const GuidedSummary&) {};
    callbacks.now = [this] { return clock_.Monotonic(); };
    return RunGuided(options, files_, callbacks, stop);
  }

  fakes::ManualClock clock_;
  fakes::MemoryFiles files_{clock_};
};

TEST_F(GuidedTest, ASeedGivesOneCampaignWhateverTheJobs) {
  GuidedOptions options{.scenario = *SmallJobOf("chief"), .plays = 150, .jobs = 1};
  const auto first = Explore(options);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->counts.played, 150U);
  EXPECT_EQ(std::accumulate(first->lengths.begin(), first->lengths.end(), std::uint64_t{0}), 150U);
  EXPECT_GT(first->lengths[2], 0U);
  EXPECT_EQ(first->growth.back(), std::pair(std::uint64_t{150}, first->pairs));
  EXPECT_FALSE(first->stopped);
  options.jobs = 2;
  const auto second = Explore(options);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(first->growth, second->growth);
  EXPECT_EQ(first->counts.traces, second->counts.traces);
  options.seed = 2;
  const auto other = Explore(options);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_NE(first->counts.traces, other->counts.traces);
}

TEST_F(GuidedTest, ReachesMoreThanWithoutGuidance) {
  GuidedOptions options{.scenario = *SmallJobOf("chief"), .plays = 512, .jobs = 2};
  const auto guided = Explore(options);
  options.blind = true;
  const auto blind = Explore(options);
  ASSERT_TRUE(guided.ok() && blind.ok());
  EXPECT_GT(guided->pairs, blind->pairs * 11 / 10);
}

TEST_F(GuidedTest, APairIsAFaultAndWhatItMeets) {
  replays::Outcome outcome;
  CourseFault fault{.kind = CourseFault::Kind::kRestart,
                    .point = {.at = {sim::FaultPoint::Kind::kSent, 7},
                              .task = "chief:0",
                              .peer = "ps:0",
                              .what = "RunGraph",
                              .time = std::chrono::seconds(10)}};
  EXPECT_EQ(PairsOf({}, outcome).size(), 0U);
  EXPECT_EQ(PairsOf({fault}, outcome).size(), 1U);
  const auto moment = [&](int second, sim::JobMoment::Kind kind) {
    outcome.history.push_back({.at = outcome.start + std::chrono::seconds(second), .task = "worker:0", .kind = kind});
  };
  moment(1, sim::JobMoment::Kind::kStarted);
  moment(9, sim::JobMoment::Kind::kRunStarted);
  const auto running = PairsOf({fault}, outcome);
  EXPECT_EQ(running.size(), 2U);
  moment(11, sim::JobMoment::Kind::kRunFailed);
  moment(12, sim::JobMoment::Kind::kRecovery);
  EXPECT_EQ(PairsOf({fault}, outcome).size(), 3U) << "the first reaction of each task counts";
  CourseFault later = fault;
  later.point.at.n = 8;
  EXPECT_EQ(PairsOf({later}, outcome), PairsOf({fault}, outcome)) << "where in the course it falls does not";
  later.kind = CourseFault::Kind::kPowerCut;
  EXPECT_NE(PairsOf({later}, outcome), PairsOf({fault}, outcome));
  EXPECT_EQ(PairsOf({fault, later}, outcome).size(), 4U);
}

TEST_F(GuidedTest, RefusesWhatItCannotPlay) {
  const auto no_job = Explore({.scenario = {}});
  EXPECT_EQ(CodeOf(no_job.status()), Code::kUsage);
  EXPECT_THAT(std::string(no_job.status().message()), HasSubstr("name the scenario of a cluster"));
}

}  // namespace
}  // namespace vigil::properties
