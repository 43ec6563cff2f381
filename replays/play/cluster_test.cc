// What real clusters did, played in the simulator: each play is one that they could have made.
//
// A few seeds of each scenario; `vigil replay replays/cluster` plays fifty, and also wants every recorded way to be
// taken. Of those whose plays were kept it plays two hundred, and each way is to be taken as often.
#include <gtest/gtest.h>

#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/env/real/posix_files.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/judge/job_summary.h"
#include "vigil/replays/play/job_player.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/traces/input.h"

namespace vigil::replays {
namespace {

constexpr int kSeedsOfACluster = 2;
// Tasks of its jobs also lose the processor after an unlock, a notification, a spawn.
constexpr std::uint64_t kSeedThatPreempts = 9;
#ifdef VIGIL_SANITIZES_ADDRESS
constexpr int kSeedsForFrequencies = 3;  // what it looks at is memory
#else
constexpr int kSeedsForFrequencies = 10;
#endif

// Every second recording, from that one on: they take long.
class RecordedClusters : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Halves, RecordedClusters, testing::Values(0, 1));

TEST_P(RecordedClusters, AreWhatTheSimulatedOnesDo) {
  PosixFiles files;
  Runner runner;
  int seen = 0;
  int played = 0;
  const ChunkSource no_input = [] { return std::string(); };
  ReadRecords(files, no_input, {std::string(VIGIL_SOURCE_DIR) + "/replays/cluster"}, [&](RawRecord raw) {
    if (seen++ % 2 != GetParam()) return true;
    absl::StatusOr<Recording> recording = ParseRecording(raw.text, raw.source, raw.record);
    EXPECT_TRUE(recording.ok()) << recording.status();
    if (!recording.ok()) return false;
    const JobExpectation& recorded = *recording->expect->job;
    const int seeds = recorded.plays.empty() ? kSeedsOfACluster : kSeedsForFrequencies;
    const Outcome outcome = PlayJobLikeRecorded(runner, recording->scenario, recorded, {.seeds = seeds});
    EXPECT_EQ(outcome.verdict, Verdict::kPlayed) << recording->scenario.id << ": " << outcome.reason;
    for (const std::string& miss : outcome.misses) ADD_FAILURE() << recording->scenario.id << " " << miss;
    if (recorded.plays.empty()) {
      const Outcome preempted =
          PlayJobLikeRecorded(runner, recording->scenario, recorded, {.first = kSeedThatPreempts});
      for (const std::string& miss : preempted.misses) ADD_FAILURE() << recording->scenario.id << " " << miss;
    }
    ++played;
    return true;
  });
  EXPECT_EQ(seen, 69);
  EXPECT_EQ(played, GetParam() == 0 ? 35 : 34);
}

// The file's ranges are what its plays had in common.
TEST(KeptPlays, RangesAreThoseOfThePlaysThatWereKept) {
  PosixFiles files;
  const ChunkSource no_input = [] { return std::string(); };
  ReadRecords(files, no_input, {std::string(VIGIL_SOURCE_DIR) + "/replays/cluster/often.jsonl"}, [&](RawRecord raw) {
    const absl::StatusOr<Recording> recording = ParseRecording(raw.text, raw.source, raw.record);
    EXPECT_TRUE(recording.ok()) << recording.status();
    if (!recording.ok()) return false;
    const JobExpectation& recorded = *recording->expect->job;
    EXPECT_EQ(recorded.plays.size(), 12U);
    JobSummary summary;
    for (const JobPlay& play : recorded.plays) summary.Add(play);
    JobExpectation ranges = recorded;
    ranges.plays.clear();
    EXPECT_EQ(summary.expectation(), ranges) << recording->scenario.id;
    return true;
  });
}

}  // namespace
}  // namespace vigil::replays
