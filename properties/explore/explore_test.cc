#include "vigil/properties/explore/explore.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/properties/explore/explore_state.h"
#include "vigil/properties/judge/model_comparison.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/print.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {
namespace {

class ExploreTest : public ::testing::Test {
 protected:
  absl::StatusOr<ExploreSummary> Explore(const ExploreOptions& options, std::uint64_t stop_after = ~std::uint64_t{0}) {
    std::atomic<bool> stop = false;
    ExploreCallbacks callbacks;
    callbacks.on_failure = [&](const ExploreFailure& failure) {
      failures_.push_back(failure);
      stop = stop || stops_at_failure_;
    };
    callbacks.on_error = [](const std::string& error) { ADD_FAILURE() << error; };
    callbacks.on_tick = [&](const ExploreSummary& summary) { stop = stop || summary.counts.played >= stop_after; };
    callbacks.now = [this] { return clock_.Monotonic(); };
    callbacks.play = play_;
    return RunExplore(options, files_, callbacks, stop);
  }

  fakes::ManualClock clock_;
  fakes::MemoryFiles files_{clock_};
  std::vector<ExploreFailure> failures_;
  bool stops_at_failure_ = false;
  std::function<replays::Outcome(replays::Runner&, const replays::Scenario&)> play_;
};

TEST(ScenarioSpaceTest, CountsAsTheFormulaSays) {
  const auto space = ScenarioSpace::Create({.hooks = 3, .runs = 4, .faults = 2});
  ASSERT_TRUE(space.ok());
  EXPECT_EQ(space->size(), 874'250U);
  EXPECT_EQ(space->Formula(), "2 kinds x 25 stop requests x (1 + 188 + 17,296) sets of faults = 874,250 scenarios");
}

TEST(ScenarioSpaceTest, HoldsEachScenarioOnce) {
  const auto space = ScenarioSpace::Create({.hooks = 1, .runs = 1, .faults = 2});
  ASSERT_TRUE(space.ok());
  // 2 kinds, 3 stop requests, 14 sites.
  ASSERT_EQ(space->size(), 2U * 3 * (1 + 14 * 4 + 14 * 13 / 2 * 16));
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < space->size(); ++i) {
    replays::Scenario scenario = space->ScenarioAt(i);
    std::size_t faults = scenario.faults.size();
    for (const replays::PlanEntry& entry : scenario.hooks[0].plan) faults += entry.action == replays::Action::kRaise;
    EXPECT_LE(faults, 2U);
    scenario.id = "";
    seen.insert(replays::PrintRecord(scenario));
  }
  EXPECT_EQ(seen.size(), space->size());
}

TEST(ScenarioSpaceTest, RefusesWhatCannotBeNumbered) {
  EXPECT_EQ(CodeOf(ScenarioSpace::Create({.hooks = 26, .runs = 40, .faults = 9}).status()), Code::kUsage);
  EXPECT_EQ(CodeOf(ScenarioSpace::Create({.hooks = -1}).status()), Code::kUsage);
}

TEST_F(ExploreTest, CoreAndModelAgreeOnASmallScope) {
  const auto summary = Explore({.scope = {.hooks = 2, .runs = 2, .faults = 1}, .jobs = 2});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(summary->counts.played, 2U * 9 * (1 + 25 * 4));
  EXPECT_EQ(summary->counts.played, summary->total);
  EXPECT_EQ(summary->counts.failed, 0U);
  for (const ExploreFailure& failure : failures_) ADD_FAILURE() << failure.text;
  EXPECT_GT(summary->counts.traces.size(), 500U);
  EXPECT_LT(summary->counts.traces.size(), summary->total);
  EXPECT_GT(summary->counts.all_fired, summary->total / 2);
  EXPECT_LT(summary->counts.all_fired, summary->total);
  EXPECT_GT(summary->counts.ends.at("exit clean"), 0U);
  EXPECT_GT(summary->counts.ends.at("construct failed INTERNAL"), 0U);
  EXPECT_FALSE(summary->stopped);
}

TEST_F(ExploreTest, ShardsAddUpToTheWhole) {
  const ExploreScope scope{.hooks = 1, .runs = 1, .faults = 1};
  const auto whole = Explore({.scope = scope});
  std::uint64_t played = 0;
  std::set<std::uint64_t> traces;
  for (std::uint64_t shard = 1; shard <= 4; ++shard) {
    const auto part = Explore({.scope = scope, .shard = shard, .shards = 4});
    ASSERT_TRUE(part.ok());
    EXPECT_EQ(part->counts.played, part->planned);
    played += part->counts.played;
    traces.insert(part->counts.traces.begin(), part->counts.traces.end());
  }
  EXPECT_EQ(played, whole->total);
  EXPECT_EQ(traces, whole->counts.traces);
}

TEST_F(ExploreTest, GoesOnWhereItWasStopped) {
  ExploreOptions options{.scope = {.hooks = 2, .runs = 3, .faults = 1}};
  const auto whole = Explore(options);
  options.state = "state";
  const auto first = Explore(options, 1);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(files_.Stat("state").ok());
  const auto rest = Explore(options);
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rest->resumed, first->counts.played);
  EXPECT_EQ(PrintExploreState(options, rest->counts), PrintExploreState(options, whole->counts));
  // Of another scope.
  options.scope.runs = 2;
  EXPECT_EQ(CodeOf(Explore(options).status()), Code::kUsage);
}

// The rest of the piece that it is in is played later: its crash does not count before that.
TEST_F(ExploreTest, GoesOnWhereACrashStoppedIt) {
  const ExploreScope scope{.hooks = 2, .runs = 3, .faults = 1};
  const std::string crashing = ScenarioSpace::Create(scope)->ScenarioAt(5).id;
  play_ = [crashing](replays::Runner& runner, const replays::Scenario& scenario) {
    if (scenario.id == crashing) std::abort();
    return runner.Run(scenario);
  };
  ExploreOptions options{.scope = scope};
  const auto whole = Explore(options);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->counts.ends.at("crashed"), 1U);
  EXPECT_EQ(whole->counts.played, whole->total);
  options.state = "state";
  stops_at_failure_ = true;
  const auto first = Explore(options);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(first->stopped);
  EXPECT_EQ(first->counts.failed, 1U) << "it is told";
  stops_at_failure_ = false;
  const auto rest = Explore(options);
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(rest->resumed, 0U);
  EXPECT_EQ(PrintExploreState(options, rest->counts), PrintExploreState(options, whole->counts));
}

TEST_F(ExploreTest, GoesOnWithTheSameVersionPlantAndPlayerOnly) {
  ExploreOptions options{.scope = {.hooks = 0, .runs = 1, .faults = 0}, .version = "1.2.3", .state = "state"};
  ASSERT_TRUE(Explore(options).ok());
  ASSERT_TRUE(Explore(options).ok());
  for (const auto change : {+[](ExploreOptions& other) { other.version = "1.2.4"; },
                            +[](ExploreOptions& other) { other.plant = "session.end_twice"; },
                            +[](ExploreOptions& other) { other.player.command = "vigil\nplayer"; }}) {
    ExploreOptions other = options;
    change(other);
    EXPECT_EQ(CodeOf(Explore(other).status()), Code::kUsage);
  }
}

TEST_F(ExploreTest, RefusesADamagedState) {
  const ExploreOptions options{.scope = {.hooks = 0, .runs = 1, .faults = 0}, .state = "state"};
  ASSERT_TRUE(Explore(options).ok());
  auto text = ReadAll(files_, "state");
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(ParseExploreState(*text, options).ok());
  for (std::size_t size = 0; size + 1 < text->size(); size += 7)
    EXPECT_FALSE(ParseExploreState(text->substr(0, size), options).ok()) << size;
  for (std::size_t i = 0; i < text->size(); ++i) {
    std::string changed = *text;
    changed[i] = changed[i] == '1' ? '2' : '1';
    EXPECT_FALSE(ParseExploreState(changed, options).ok()) << i;
  }
}

// A core that forgets to say that it closed the session, whenever it recovered.
TEST_F(ExploreTest, FindsAndSavesWhatAWrongCoreDoes) {
  play_ = [](replays::Runner& runner, const replays::Scenario& scenario) {
    replays::Outcome outcome = runner.Run(scenario);
    auto& events = outcome.events;
    if (std::find(events.begin(), events.end(), "session 2 created") != events.end())
      std::erase(events, "session 1 close");
    return outcome;
  };
  const auto summary = Explore({.scope = {.hooks = 1, .runs = 2, .faults = 1}, .jobs = 2});
  ASSERT_TRUE(summary.ok());
  EXPECT_GT(summary->counts.disagreements, kSavedFailures);
  EXPECT_LT(summary->counts.disagreements, summary->total);
  ASSERT_EQ(failures_.size(), kSavedFailures);
  const ExploreFailure& first = failures_.front();
  EXPECT_EQ(first.rule, "");
  EXPECT_EQ(first.file, "failures/model-" + first.id + ".json");
  EXPECT_NE(first.text.find("\n  -   1"), std::string::npos) << first.text;
  EXPECT_TRUE(first.text.ends_with("  ./vigil replay " + first.file + "\n")) << first.text;
  // The core as it is does what the file expects.
  const auto text = ReadAll(files_, first.file);
  ASSERT_TRUE(text.ok());
  replays::JsonDocument scratch;
  const auto saved = replays::ParseRecording(*text, first.file, 1, scratch);
  ASSERT_TRUE(saved.ok()) << saved.status();
  const replays::Result result = replays::Judge(*saved, replays::Runner().Run(saved->scenario));
  EXPECT_EQ(result.status, replays::Status::kPassed) << result.reason;
}

TEST(HeldByModelTest, ReportsTheFirstLineThatDiffers) {
  const auto space = ScenarioSpace::Create({.hooks = 1, .runs = 1, .faults = 0});
  const replays::Scenario scenario = space->ScenarioAt(0);
  replays::Outcome outcome = replays::Runner().Run(scenario);
  EXPECT_EQ(CompareWithModel(scenario, outcome).disagreement, "");
  outcome.events[2] = "session 7 created";
  const ModelComparison says = CompareWithModel(scenario, outcome);
  EXPECT_EQ(says.disagreement, "the reference model says something else: event 3 differs");
  EXPECT_NE(says.report.find("session 7 created"), std::string::npos);
  EXPECT_EQ(says.expect.events[2], "session 1 created");
  outcome.events.pop_back();
  outcome.final.checkpoints = {3};
  EXPECT_NE(CompareWithModel(scenario, outcome).disagreement, "");
}

TEST(HeldByModelTest, SaysWhatIsNotModelled) {
  replays::Scenario scenario;
  scenario.limits.virtual_s = 1;
  EXPECT_EQ(CompareWithModel(scenario, replays::Outcome()).refused, "limits.virtual_s");
}

}  // namespace
}  // namespace vigil::properties
