#include "vigil/properties/explore/schedules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/properties/campaign/recording_player.h"
#include "vigil/properties/planted/switches.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/format/trace_spec.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/kernel/chooser.h"

namespace vigil::properties {
namespace {

using replays::Recording;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;

// Two threads of hooks that hear of no stop for a second.
constexpr char kTwoDeaf[] =
    R"({"id":"two_deaf","hooks":[{"hook":"probe","name":"a","plan":[{"method":"after_create_session","call":1,)"
    R"("do":"start_thread","value":1}]},{"hook":"probe","name":"b","plan":[{"method":"after_create_session","call":1,)"
    R"("do":"start_thread","value":1}]}],"drive":[{"op":"run"}]})";

// The input is longer than its queue; its runner fails, and a hook reports an error.
constexpr char kFillAndReport[] =
    R"({"id":"fill_and_report","model":{"batches":40,"input":"queue"},"hooks":[{"hook":"probe","name":"a","plan":[)"
    R"({"method":"after_run","call":3,"do":"report","code":"ABORTED"}]}],"faults":[{"at":"enqueue","call":2,)"
    R"("code":"INTERNAL"}],"drive":[{"op":"loop","max":9,"body":[{"op":"run"}]}]})";
// A queue runner that would fail at once, beside a session that closes at once.
constexpr char kRacesTheEnd[] =
    R"({"id":"races_the_end","model":{"batches":3,"input":"queue"},"hooks":[{"hook":"probe","name":"a","plan":[]}],)"
    R"("faults":[{"at":"enqueue","call":1,"code":"INTERNAL"}],"drive":[]})";
#ifdef VIGIL_PLANTED_BUGS
// The queue runner fails after the first batches; a hook stops the coordinator in the second run.
constexpr char kStopAfterAFailure[] =
    R"({"id":"stop_after_a_failure","model":{"batches":3,"input":"queue"},"hooks":[{"hook":"probe","name":"a","plan":[)"
    R"({"method":"after_run","call":2,"do":"coordinator_stop"}]}],"faults":[{"at":"enqueue","call":2,)"
    R"("code":"INTERNAL"}],"drive":[{"op":"loop","max":4,"body":[{"op":"run"}]}]})";
#endif

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
    return replays::Judge(recording, NewRecordingPlayer()(recording));
  }

  fakes::ManualClock clock_;
  fakes::MemoryFiles files_{clock_};
  std::vector<SchedulesFailure> failures_;
};

// All different runs that chance finds: all there are, after many more plays than there are runs.
std::set<sim::ChoiceMap> FoundByChance(const std::string& text) {
  const replays::Scenario scenario = Read(text).scenario;
  replays::Runner runner;
  std::set<sim::ChoiceMap> runs;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    sim::RandomChooser chooser(seed);
    runs.insert(runner.Run(scenario, {.chooser = &chooser}).choices);
  }
  return runs;
}

// Either thread starts first; a second later both can run. If the one that the session joins first does, then either
// the other one or the session goes on; else only the session is left to wait for it: 2 x (2 + 1).
TEST_F(SchedulesTest, PlaysEachScheduleOnce) {
  const auto summary = Explore(kTwoDeaf, {});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->played, 6U);
  EXPECT_TRUE(summary->all);
  EXPECT_EQ(summary->left_out, "");
  EXPECT_EQ(summary->failed, 0U);
  EXPECT_EQ(summary->choices, 3U);
  EXPECT_EQ(summary->refused, "");
  EXPECT_THAT(summary->ends, ElementsAre(Pair("exit clean", 6U)));
  for (const char* const text : {kTwoDeaf, kFillAndReport, kRacesTheEnd}) {
    const auto all = Explore(text, {.limit = 0});
    ASSERT_TRUE(all.ok());
    EXPECT_TRUE(all->all);
    EXPECT_EQ(all->played, FoundByChance(text).size()) << text;
    EXPECT_GT(all->played, 2U) << text;
  }
}

// And the same each time, whether by one search or in pieces.
TEST_F(SchedulesTest, TheReducedSearchLosesNoTrace) {
  for (const char* const text : {kTwoDeaf, kFillAndReport, kRacesTheEnd}) {
    const auto plain = Explore(text, {.limit = 0});
    const auto reduced = Explore(text, {.search = ScheduleSearch::kReduced, .limit = 0});
    const auto again = Explore(text, {.search = ScheduleSearch::kReduced, .limit = 0, .jobs = 0});
    ASSERT_TRUE(plain.ok() && reduced.ok() && again.ok());
    EXPECT_TRUE(reduced->all);
    EXPECT_EQ(reduced->traces, plain->traces) << text;
    EXPECT_EQ(reduced->callers, plain->callers) << text;
    EXPECT_LE(reduced->played, plain->played) << text;
    EXPECT_EQ(again->played, reduced->played);
    EXPECT_EQ(again->blocked, reduced->blocked);
    EXPECT_EQ(again->traces, reduced->traces);
  }
}

TEST_F(SchedulesTest, OneTaskHasOneSchedule) {
  for (const ScheduleSearch search :
       {ScheduleSearch::kDepthFirst, ScheduleSearch::kReduced, ScheduleSearch::kPriorities}) {
    const auto summary = Explore(R"({"id":"one","drive":[{"op":"run"}]})", {.search = search});
    ASSERT_TRUE(summary.ok());
    EXPECT_EQ(summary->played, 1U);
    EXPECT_EQ(summary->choices, 0U);
    EXPECT_TRUE(summary->all);
    EXPECT_FALSE(summary->stopped);
  }
}

TEST_F(SchedulesTest, SaysWhatBoundsLeftOut) {
  const auto limit = Explore(kTwoDeaf, {.limit = 2});
  EXPECT_EQ(limit->played, 2U);
  EXPECT_FALSE(limit->all);
  EXPECT_THAT(limit->left_out,
              HasSubstr("cut after 2 schedules (--limit): the first 2 choices have been the calm ones"));
  const auto changes = Explore(kTwoDeaf, {.changes = 1});
  EXPECT_EQ(changes->played, 4U);  // the calm one, and one for each of its three choices
  EXPECT_FALSE(changes->all);
  EXPECT_EQ(changes->left_out,
            "these are all with at most 1 choices other than the calm one (--changes); there are others");
  const auto choices = Explore(kTwoDeaf, {.choices = 1});
  EXPECT_EQ(choices->played, 2U);
  EXPECT_THAT(choices->left_out, HasSubstr("only the first 1 choices vary (--choices); there are others"));
  EXPECT_TRUE(Explore(kTwoDeaf, {.limit = 6, .choices = 3, .changes = 3})->all);
}

TEST_F(SchedulesTest, DrawsByPrioritiesTheSameWithAnyNumberOfJobs) {
  const SchedulesOptions options{
      .search = ScheduleSearch::kPriorities, .first_seed = 5, .last_seed = 104, .preempt = sim::Preempt::kAtCalls};
  const auto one = Explore(kRacesTheEnd, options);
  SchedulesOptions more = options;
  more.jobs = 3;
  const auto three = Explore(kRacesTheEnd, more);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(one->played, 101U);
  EXPECT_EQ(three->played, 101U);
  EXPECT_EQ(one->traces, three->traces);
  EXPECT_EQ(one->ends, three->ends);
  EXPECT_GT(one->traces.size(), 2U);
  EXPECT_FALSE(one->all);
  EXPECT_EQ(one->left_out, "drawn by priorities (seeds 5..104, depth 3): not all there are");
}

TEST_F(SchedulesTest, StopsAndKeepsWhatWasPlayed) {
  for (const ScheduleSearch search :
       {ScheduleSearch::kDepthFirst, ScheduleSearch::kReduced, ScheduleSearch::kPriorities}) {
    const auto summary = Explore(
        kRacesTheEnd, {.search = search, .limit = 0, .last_seed = 10'000'000, .preempt = sim::Preempt::kAtCalls}, 7);
    EXPECT_GE(summary->played, 7U);
    EXPECT_TRUE(summary->stopped);
    EXPECT_FALSE(summary->all);
  }
}

// The calm schedule exits cleanly; in others the queue runner fails first. What was expected holds in the former alone.
TEST_F(SchedulesTest, HoldsWhatTheFileExpectsAgainstEverySchedule) {
  Recording recording = Read(kRacesTheEnd);
  recording.expect.emplace().events = replays::Runner().Run(recording.scenario).events;
  const std::string expecting = replays::PrintRecord(recording.scenario, &*recording.expect);
  const auto calm = Explore(expecting, {.changes = 2, .preempt = sim::Preempt::kAtCalls});
  EXPECT_EQ(calm->failed, 0U);
  EXPECT_GT(calm->as_expected.value(), 0U);
  EXPECT_LT(calm->as_expected.value(), calm->played);
  EXPECT_EQ(calm->callers->size(), 2U);
  const auto every = Explore(expecting, {.changes = 2, .preempt = sim::Preempt::kAtCalls, .as_expected = true});
  EXPECT_EQ(every->failed, every->played - *every->as_expected);
  ASSERT_EQ(failures_.size(), 1U);
  EXPECT_EQ(failures_[0].rule, "");
  EXPECT_THAT(failures_[0].text,
              ContainsRegex("\n  found by schedule [0-9]+: event [0-9]+ is not what the file expects\n"));
  EXPECT_THAT(failures_[0].text, EndsWith("\n  ./vigil replay " + failures_[0].file + "\n"));
  // Its choices stand in the file, and make it happen.
  const replays::Result replayed = Replayed(failures_[0].file);
  EXPECT_EQ(replayed.status, replays::Status::kFailed);
  EXPECT_THAT(replayed.reason, ContainsRegex("^event [0-9]+ differs$"));
  EXPECT_THAT(replayed.outcome.unused_choices, IsEmpty());
  // One that is wrong in the calm schedule.
  recording.expect->events.push_back("driver run");
  const auto wrong = Explore(replays::PrintRecord(recording.scenario, &*recording.expect), {});
  EXPECT_EQ(wrong->failed, 1U);
}

TEST_F(SchedulesTest, ChoicesOfPreemptedTasksReplay) {
  Recording recording = Read(kRacesTheEnd);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    replays::Runner runner;
    sim::RandomChooser chooser(seed);
    recording.scenario.choices.clear();
    const replays::Outcome first =
        runner.Run(recording.scenario, {.chooser = &chooser, .preempt = sim::Preempt::kAtCalls});
    recording.scenario.choices = first.choices;
    EXPECT_EQ(runner.Run(recording.scenario).hash, first.hash);
  }
}

TEST_F(SchedulesTest, BoundsTheSchedulesOfACluster) {
  constexpr char kCluster[] =
      R"({"id":"c","cluster":{"tasks":{"chief":1,"ps":1,"worker":1}},"workload":{"name":"async_regression","last_step":4,)"
      R"("step_s":1},"limit_s":120})";
  const auto dfs = Explore(kCluster, {.limit = 20, .changes = 1});
  ASSERT_TRUE(dfs.ok());
  EXPECT_EQ(dfs->played, 20U);
  EXPECT_EQ(dfs->failed, 0U);
  EXPECT_FALSE(dfs->callers.has_value());
  EXPECT_EQ(dfs->refused, "cluster");
  EXPECT_THAT(dfs->ends, ElementsAre(Pair("chief:0 clean, worker:0 clean", 20U)));
  const auto pct = Explore(kCluster, {.search = ScheduleSearch::kPriorities, .last_seed = 20});
  EXPECT_EQ(pct->played, 21U);
  EXPECT_EQ(pct->failed, 0U);
}

TEST_F(SchedulesTest, RefusesWhatHasNoSchedules) {
  Recording recording = Read(kTwoDeaf);
  recording.scenario.trace = std::make_shared<replays::TraceSpec>();
  const std::atomic<bool> stop = false;
  const auto refused = RunSchedules({}, recording, files_, {}, stop);
  EXPECT_EQ(CodeOf(refused.status()), Code::kUsage);
}

#ifdef VIGIL_PLANTED_BUGS
class PlantedSchedulesTest : public SchedulesTest {
 protected:
  ~PlantedSchedulesTest() override { TurnOffPlantedBugs(); }
};

// Joining before the stop was asked for waits second by second, without an event and for ever.
TEST_F(PlantedSchedulesTest, AWaitThatMakesNoEventsEnds) {
  const Recording recording =
      Read(R"({"id":"joined_first","model":{"batches":3,"input":"queue"},"faults":[{"at":"enqueue","call":1,)"
           R"("code":"ABORTED"}],"drive":[{"op":"loop","max":4,"body":[{"op":"run"}]}]})");
  EXPECT_EQ(replays::Runner().Run(recording.scenario).verdict, replays::Verdict::kPlayed);
  ASSERT_TRUE(TurnOnPlantedBug("coordinator.joined_before_stop"));
  const replays::Outcome outcome = replays::Runner().Run(recording.scenario);
  EXPECT_EQ(outcome.verdict, replays::Verdict::kRunaway);
  EXPECT_THAT(outcome.reason, HasSubstr("switches"));
}

// Of a join that crashes once somebody has reported an error, the calm schedule shows nothing. Each crash is counted,
// the first is told and saved with its choices, and the search goes on behind it.
TEST_F(PlantedSchedulesTest, ACrashIsAFindingAndTheRestIsPlayed) {
  ASSERT_TRUE(TurnOnPlantedBug("coordinator.divides_by_zero"));
  for (const int jobs : {1, 3}) {
    const SchedulesOptions searches[] = {{.limit = 0, .changes = 1, .jobs = jobs, .preempt = sim::Preempt::kAtCalls},
                                         {.search = ScheduleSearch::kPriorities,
                                          .last_seed = 20,
                                          .depth = 2,
                                          .jobs = jobs,
                                          .preempt = sim::Preempt::kAtCalls}};
    for (const SchedulesOptions& options : searches) {
      failures_.clear();
      const auto summary = Explore(kRacesTheEnd, options);
      ASSERT_TRUE(summary.ok());
      EXPECT_FALSE(summary->stopped);
      EXPECT_FALSE(summary->given_up);
      EXPECT_EQ(summary->played, options.search == ScheduleSearch::kDepthFirst ? 25U : 21U);
      EXPECT_GT(summary->failed, 0U);
      EXPECT_LT(summary->failed, summary->played);
      EXPECT_EQ(summary->ends.at("crashed"), summary->failed);
      ASSERT_EQ(failures_.size(), 1U);
      EXPECT_THAT(failures_[0].rule, StartsWith("crash."));
      EXPECT_EQ(summary->violated.at(failures_[0].rule), summary->failed);
      EXPECT_THAT(failures_[0].text, HasSubstr("\n  shrunk from "));
      EXPECT_THAT(failures_[0].text, EndsWith("\n  ./vigil replay " + failures_[0].file + "\n"));
      EXPECT_THAT(*ReadAll(files_, failures_[0].file), HasSubstr("\"choices\""));
    }
  }
}

// Of a coordinator that forgets a clean stop, the calm schedule shows nothing: the queue runner has failed before.
TEST_F(PlantedSchedulesTest, FindsWhatOnlySomeSchedulesShow) {
  ASSERT_TRUE(TurnOnPlantedBug("coordinator.clean_stop_lost"));
  EXPECT_EQ(Explore(kStopAfterAFailure, {.limit = 1, .preempt = sim::Preempt::kAtCalls})->failed, 0U);
  const SchedulesOptions searches[] = {
      {.limit = 0, .changes = 1, .preempt = sim::Preempt::kAtCalls},
      {.search = ScheduleSearch::kPriorities, .last_seed = 200, .depth = 2, .preempt = sim::Preempt::kAtCalls}};
  for (const SchedulesOptions& options : searches) {
    failures_.clear();
    const auto summary = Explore(kStopAfterAFailure, options);
    ASSERT_TRUE(summary.ok());
    EXPECT_GT(summary->failed, 0U);
    EXPECT_LT(summary->failed, summary->played / 2);
    EXPECT_THAT(summary->violated, ElementsAre(Pair("coordinator.keeps_the_first_error", summary->failed),
                                               Pair("stop.coordinator_stop_ends_the_loop", summary->failed)));
    ASSERT_EQ(failures_.size(), 1U) << "of each rule the first";
    EXPECT_EQ(failures_[0].rule, "stop.coordinator_stop_ends_the_loop");
    EXPECT_THAT(failures_[0].text, HasSubstr("\n  shrunk from "));
    EXPECT_THAT(failures_[0].text, EndsWith("\n  ./vigil replay " + failures_[0].file + "\n"));
    EXPECT_EQ(Replayed(failures_[0].file).reason, "violates stop.coordinator_stop_ends_the_loop");
  }
  TurnOffPlantedBugs();
  EXPECT_EQ(Replayed(failures_[0].file).status, replays::Status::kPassed);
  EXPECT_EQ(Explore(kStopAfterAFailure, searches[0])->failed, 0U);
}
#endif

}  // namespace
}  // namespace vigil::properties
