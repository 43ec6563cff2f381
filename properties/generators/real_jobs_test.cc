#include "vigil/properties/generators/real_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/real/real_job.h"

namespace vigil::properties {
namespace {

using sim::TimedFault;

TEST(RealJobsTest, ProcessesCanPlayEachAndFilesHoldIt) {
  std::map<TimedFault::Kind, int> kinds;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const replays::Scenario scenario = RealJob(seed);
    EXPECT_EQ(replays::WhyNotReal(*scenario.job), "") << seed;
    const absl::StatusOr<replays::Recording> again = replays::ParseRecording(replays::PrintRecord(scenario));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again->scenario.job, *scenario.job) << seed;
    for (const TimedFault& fault : scenario.job->plan.timed) {
      ++kinds[fault.kind];
      EXPECT_LT(fault.at, *scenario.job->heal_after);
    }
  }
  EXPECT_EQ(kinds.size(), 4U);  // killed, stopped, cut off, silent
  for (const auto& [kind, count] : kinds) EXPECT_GT(count, 100) << static_cast<int>(kind);
}

TEST(RealJobsTest, SoManyKillsOfWhoIsThere) {
  const replays::Scenario scenario = RealJob(7, 40);
  EXPECT_EQ(scenario.id, "real_cluster_40_kills_7");
  EXPECT_EQ(scenario.job->plan.timed.size(), 40U);
  std::map<std::string, Duration> back;
  for (const TimedFault& kill : scenario.job->plan.timed) {
    EXPECT_EQ(kill.kind, TimedFault::Kind::kCrash);
    EXPECT_GT(kill.at, back[kill.task]) << kill.task;
    back[kill.task] = kill.at + *kill.restart_after;
  }
  EXPECT_EQ(back.size(), 5U);  // a chief, two workers, two parameter servers
}

}  // namespace
}  // namespace vigil::properties
