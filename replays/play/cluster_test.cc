// What real clusters did, played in the simulator: each play is one that they could have made.
//
// A few seeds of each scenario; `vigil replay replays/cluster` plays fifty, and also wants every recorded way to be
// taken.
#include <gtest/gtest.h>

#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/judge/job_comparison.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/traces/input.h"

namespace vigil::replays {
namespace {

constexpr std::uint64_t kSeedsOfACluster = 2;

TEST(RecordedClusters, AreWhatTheSimulatedOnesDo) {
  PosixFiles files;
  Runner runner;
  int played = 0;
  const ChunkSource no_input = [] { return std::string(); };
  ReadRecords(files, no_input, {std::string(VIGIL_SOURCE_DIR) + "/replays/cluster"}, [&](RawRecord raw) {
    absl::StatusOr<Recording> recording = ParseRecording(raw.text, raw.source, raw.record);
    EXPECT_TRUE(recording.ok()) << recording.status();
    if (!recording.ok()) return false;
    Scenario& scenario = recording->scenario;
    for (scenario.seed = 1; scenario.seed <= kSeedsOfACluster; ++scenario.seed) {
      const Outcome outcome = runner.Run(scenario, {.random_schedule = true});
      EXPECT_EQ(outcome.verdict, Verdict::kPlayed) << scenario.id << ": " << outcome.reason;
      for (const std::string& miss : Misses(*scenario.job, *outcome.job, *recording->expect->job))
        ADD_FAILURE() << scenario.id << " seed " << scenario.seed << ": " << miss;
      ++played;
    }
    return true;
  });
  EXPECT_EQ(played, 108);
}

}  // namespace
}  // namespace vigil::replays
