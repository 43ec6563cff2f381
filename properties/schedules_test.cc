#include "vigil/properties/schedules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/base/planted.h"
#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/properties/judging_player.h"
#include "vigil/replays/parse.h"
#include "vigil/replays/result.h"
#include "vigil/sim/chooser.h"

namespace vigil::properties {
namespace {

using replays::Recording;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// Two threads of hooks that hear of no stop for a second.
constexpr char kTwoDeaf[] =
    R"({"id":"two_deaf","hooks":[{"hook":"probe","name":"a","plan":[{"method":"after_create_session","call":1,)"
    R"("do":"start_thread","value":1}]},{"hook":"probe","name":"b","plan":[{"method":"after_create_session","call":1,)"
    R"("do":"start_thread","value":1}]}],"drive":[{"op":"run"}]})";

Recording Read(const std::string& text) {
  absl::StatusOr<Recording> recording = replays::ParseRecording(text);
  EXPECT_TRUE(recording.ok()) << MessageOf(recording.status());
  return *std::move(recording);
}

class SchedulesTest : public ::testing::Test {
 protected:
  absl::StatusOr<SchedulesSummary> Explore(const std::string& text, const SchedulesOptions& options,
                                           std::uint64_t stop_after = ~std::uint64_t{0}) {
    std::atomic<bool> stop = false;
    SchedulesCallbacks callbacks;
    callbacks.on_failure = [this](const SchedulesFailure& failure) { failures_.push_back(failure); };
    callbacks.on_error = [](const std::string& error) { ADD_FAILURE() << error; };
    callbacks.on_tick = [&](const SchedulesSummary& summary) { stop = stop || summary.played >= stop_after; };
    callbacks.now = [this] { return clock_.Monotonic(); };
    return RunSchedules(options, Read(text), files_, callbacks, stop);
  }

  // What `vigil replay` says of a saved failure.
  replays::Result Replayed(const std::string& path) {
    const absl::StatusOr<std::string> saved = ReadAll(files_, path);
    EXPECT_TRUE(saved.ok());
    const Recording recording = Read(*saved);
    return replays::Judge(recording, NewJudgingPlayer()(recording));
  }

  fakes::ManualClock clock_;
  fakes::MemoryFiles files_{clock_};
  std::vector<SchedulesFailure> failures_;
};

// All different runs that chance finds, which is all there are after many more plays than there are runs.
std::set<sim::ChoiceMap> FoundByChance(const std::string& text, bool preempt) {
  replays::Scenario scenario = Read(text).scenario;
  replays::Runner runner;
  std::set<sim::ChoiceMap> runs;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    sim::RandomChooser chooser(seed);
    runs.insert(runner.Run(scenario, {.chooser = &chooser, .preempt = preempt}).choices);
  }
  return runs;
}

}  // namespace
}  // namespace vigil::properties
