// Faults at every point of a small job find what seeds meet by chance only.
#include "vigil/properties/explore/crash_every.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/properties/planted/switches.h"
#include "vigil/replays/format/parse.h"

namespace vigil::properties {
namespace {

#ifdef VIGIL_PLANTED_BUGS
struct FoundAtPoints {
  CrashEverySummary summary;
  std::string rule;   // of the first failure
  std::string text;   // its report
  std::string saved;  // its scenario
};

class PlantedCrashEveryTest : public testing::Test {
 protected:
  ~PlantedCrashEveryTest() override { TurnOffPlantedBugs(); }

  // One in so many of the faults.
  static FoundAtPoints Explore(std::string_view job, std::uint64_t shards) {
    fakes::ManualClock clock;
    fakes::MemoryFiles files(clock);
    std::atomic<bool> stop = false;
    FoundAtPoints found;
    CrashEveryCallbacks callbacks;
    callbacks.on_plan = [](const CrashEverySummary&) {};
    callbacks.on_error = [](const std::string& error) { ADD_FAILURE() << error; };
    callbacks.on_tick = [](const CrashEverySummary&) {};
    callbacks.now = [&clock] { return clock.Monotonic(); };
    callbacks.on_failure = [&](const ExploreFailure& failure) {
      if (!found.rule.empty()) return;
      found.rule = failure.rule;
      found.text = failure.text;
      found.saved = *ReadAll(files, failure.file);
    };
    const auto summary =
        RunCrashEvery({.scenario = *SmallJobOf(job), .shard = 1, .shards = shards, .jobs = 0}, files, callbacks, stop);
    EXPECT_TRUE(summary.ok()) << summary.status();
    if (summary.ok()) found.summary = *summary;
    return found;
  }
};

TEST_F(PlantedCrashEveryTest, APowerCutBetweenARenameAndItsSyncIsAmongThem) {
  EXPECT_EQ(Explore("chief", 23).summary.counts.failed, 0U);
  ASSERT_TRUE(TurnOnPlantedBug("saver.renamed_without_sync"));
  const FoundAtPoints found = Explore("chief", 23);
  EXPECT_GT(found.summary.counts.failed, 0U);
  EXPECT_TRUE(found.summary.counts.violated.contains("checkpoint.reported_survives"));
  // What is saved names the point, and replays.
  const auto saved = replays::ParseRecording(found.saved);
  ASSERT_TRUE(saved.ok()) << saved.status();
  ASSERT_EQ(saved->scenario.job->plan.timed.size(), 1U);
  EXPECT_TRUE(saved->scenario.job->plan.timed[0].point.has_value());
  EXPECT_THAT(found.text, testing::HasSubstr("vigil replay failures/"));
}

TEST_F(PlantedCrashEveryTest, AGraphThatIsKeptIsFoundWhereverTheFaultFalls) {
  ASSERT_TRUE(TurnOnPlantedBug("cluster.graph_kept"));
  const FoundAtPoints found = Explore("worker", 31);
  EXPECT_TRUE(found.summary.counts.violated.contains("job.resources_return"));
}
#endif

}  // namespace
}  // namespace vigil::properties
