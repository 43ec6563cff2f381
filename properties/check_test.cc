#include "vigil/properties/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>

#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/properties/generators/scenarios.h"
#include "vigil/replays/json.h"
#include "vigil/replays/parse.h"
#include "vigil/replays/print.h"
#include "vigil/replays/report.h"
#include "vigil/replays/runner.h"
#include "vigil/sim/world.h"

namespace vigil::properties {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A promise that nobody made and some schedules break: queue threads wait until all of them have been started.
constexpr RuleInfo kQueuesWait{
    .id = "test.queues_wait", .sentence = "No queue thread acts before all are started.", .observed = "none"};
class QueuesWait : public Rule {
 public:
  QueuesWait() : Rule(kQueuesWait) {}
  void OnEvent(const Moment& now) override {
    if (now.Is(EventKind::kSessionCreated)) started_ = false;
    if (now.Is(EventKind::kQueueRunners)) started_ = true;
    if (!now.on_main && !started_) Violate({now.index}, "the start of the queue runners first", "another task's call");
  }

 private:
  bool started_ = false;
};

constexpr RuleInfo kNeverArmed{.id = "test.never_armed", .sentence = "Nothing.", .observed = "none"};
class NeverArmed : public Rule {
 public:
  NeverArmed() : Rule(kNeverArmed) {}
  void OnEvent(const Moment&) override {}
};

constexpr RuleInfo kNoSecondRun{.id = "test.no_second_run", .sentence = "Nobody runs twice.", .observed = "none"};
class NoSecondRun : public Rule {
 public:
  NoSecondRun() : Rule(kNoSecondRun) {}
  void OnEvent(const Moment& now) override {
    if (!now.LayerCall(CallKind::kRun)) return;
    Arm();
    if (++runs_ == 2) Violate({now.index}, "one run", "a second");
  }

 private:
  int runs_ = 0;
};

class CheckTest : public ::testing::Test {
 protected:
  CheckSummary Check() {
    callbacks_.on_failure = [this](const CheckFailure& failure) { failures_.push_back(failure); };
    callbacks_.on_error = [this](const std::string& error) { errors_.push_back(error); };
    return RunCheck(options_, files_, callbacks_, stop_);
  }

  replays::Recording Saved(const std::string& path) {
    const absl::StatusOr<std::string> text = ReadAll(files_, path);
    EXPECT_TRUE(text.ok()) << text.status();
    replays::JsonDocument scratch;
    absl::StatusOr<replays::Recording> recording = replays::ParseRecording(*text, path, 1, scratch);
    EXPECT_TRUE(recording.ok()) << recording.status();
    return *std::move(recording);
  }

  fakes::ManualClock clock_;
  fakes::MemoryFiles files_{clock_};
  CheckOptions options_;
  CheckCallbacks callbacks_;
  std::atomic<bool> stop_ = false;
  std::vector<CheckFailure> failures_;
  std::vector<std::string> errors_;
};

TEST_F(CheckTest, AViolationIsSavedAndItsReplayFailsUntilItIsMended) {
  options_.last_seed = 30;
  options_.rules = {NewRule<NoSecondRun>};
  const CheckSummary summary = Check();
  EXPECT_GT(summary.failed(), 0U);
  EXPECT_EQ(summary.passed() + summary.failed(), 30U);
  ASSERT_FALSE(failures_.empty());
  const CheckFailure& failure = failures_.front();
  EXPECT_EQ(failure.rule, "test.no_second_run");
  EXPECT_EQ(failure.file, "failures/test.no_second_run-" + failure.id + ".json");
  EXPECT_THAT(failure.text, HasSubstr("test.no_second_run: Nobody runs twice."));
  EXPECT_THAT(failure.text, ::testing::EndsWith("  ./vigil replay " + failure.file + "\n"));

  const replays::Recording saved = Saved(failure.file);
  const replays::Result again = replays::Judge(saved, NewJudgingPlayer(options_.rules)(saved));
  EXPECT_EQ(again.status, replays::Status::kFailed);
  EXPECT_THAT(replays::FailureText(again), HasSubstr("expected  one run"));
  const replays::Result mended = replays::Judge(saved, NewJudgingPlayer()(saved));
  EXPECT_EQ(mended.status, replays::Status::kPassed) << mended.reason;
}

TEST_F(CheckTest, OnlyTheFirstFailuresOfARuleAreSaved) {
  options_.last_seed = 200;
  options_.rules = {NewRule<NoSecondRun>};
  EXPECT_GT(Check().failed(), kFullFailures);
  EXPECT_EQ(failures_.size(), kFullFailures);
}

TEST_F(CheckTest, TwoJobsFindWhatOneFinds) {
  options_.last_seed = 100;
  const CheckSummary one = Check();
  options_.jobs = 2;
  const CheckSummary two = Check();
  EXPECT_EQ(one.passed(), two.passed());
  EXPECT_EQ(one.tally.armed, two.tally.armed);
  EXPECT_EQ(one.tally.features, two.tally.features);
}

TEST_F(CheckTest, ARuleThatIsNeverArmedFails) {
  options_.last_seed = kEnoughScenarios;
  options_.jobs = 2;
  options_.rules.push_back(NewRule<NeverArmed>);
  const CheckSummary summary = Check();
  EXPECT_THAT(summary.incomplete, ::testing::ElementsAre("rule test.never_armed was never armed"));
  EXPECT_EQ(summary.failed(), 1U);
}

TEST_F(CheckTest, AFewScenariosNeedNotArmEveryRule) {
  options_.last_seed = 1;
  const CheckSummary summary = Check();
  EXPECT_FALSE(summary.incomplete.empty());
  EXPECT_EQ(summary.failed(), 0U);
}

TEST_F(CheckTest, AFullDiskIsReportedAndTheFailureStillCounts) {
  options_.last_seed = 30;
  options_.rules = {NewRule<NoSecondRun>};
  files_.set_fault([](fakes::FileOp op, const std::string&) {
    return op == fakes::FileOp::kAppend ? absl::ResourceExhaustedError("no space left") : absl::OkStatus();
  });
  EXPECT_GT(Check().failed(), 0U);
  ASSERT_FALSE(failures_.empty());
  EXPECT_EQ(failures_.front().file, "");
  EXPECT_THAT(errors_, Contains(HasSubstr("no space left")));
}

TEST_F(CheckTest, StoppingKeepsWhatWasFound) {
  options_.last_seed = 1'000'000'000;
  callbacks_.on_tick = [this](std::string_view suite, const SuiteCount& count) {
    EXPECT_EQ(suite, "random");
    if (count.passed > 10) stop_ = true;
  };
  const CheckSummary summary = Check();
  EXPECT_TRUE(summary.stopped);
  EXPECT_GT(summary.passed(), 10U);
  EXPECT_THAT(summary.incomplete, IsEmpty());
}

TEST_F(CheckTest, RecordingsAreComparedAndWhatIsNotBuiltIsCountedApart) {
  const std::string lines = R"({"id":"wrong","drive":[],"expect":{"events":["never happens"]}})"
                            "\n"
                            R"({"id":"unit","unit":"timer","args":{"every_steps":1},"ops":[],"expect":{"events":[]}})"
                            "\n"
                            R"({"id":7})"
                            "\n";
  ASSERT_TRUE(WriteAtomically(files_, "some.jsonl", lines).ok());
  options_.recordings = {"some.jsonl"};
  options_.random = false;
  const CheckSummary summary = Check();
  const SuiteCount& count = summary.suites.at("recorded");
  EXPECT_EQ(count.passed, 0U);
  EXPECT_EQ(count.failed, 1U);
  EXPECT_EQ(count.unreadable, 1U);
  EXPECT_EQ(count.unbuilt.size(), 1U);
  ASSERT_EQ(failures_.size(), 1U);
  EXPECT_THAT(failures_.front().text, HasSubstr("./vigil replay some.jsonl --only wrong"));
}

// A scenario and choices with which QueuesWait is violated, while the calm schedule keeps it.
std::optional<replays::Scenario> OneThatItsScheduleBreaks(replays::Runner& runner) {
  const std::vector<RuleFactory> rules = {NewRule<QueuesWait>};
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    replays::Scenario scenario = RandomScenario(seed);
    if (!CheckRules(runner.Run(scenario), scenario, rules).violations.empty()) continue;
    const replays::Outcome wild = runner.Run(scenario, {.random_schedule = true});
    if (CheckRules(wild, scenario, rules).violations.empty()) continue;
    scenario.choices = wild.choices;
    return scenario;
  }
  return std::nullopt;
}

TEST(SavedFailureTest, StillFailsAfterAnUnrelatedChoicePointWasAdded) {
  const std::vector<RuleFactory> rules = {NewRule<QueuesWait>};
  replays::Runner runner;
  const std::optional<replays::Scenario> saved = OneThatItsScheduleBreaks(runner);
  ASSERT_TRUE(saved.has_value());
  const replays::Outcome before = runner.Run(*saved);
  ASSERT_FALSE(CheckRules(before, *saved, rules).violations.empty());
  int asked = 0;
  const auto ask = [&asked](sim::World& world) {
    constexpr std::string_view kLabels[] = {"calm", "wild"};
    ++asked;
    EXPECT_EQ(world.Choose("added_later", kLabels), 0U);
  };
  const replays::Outcome after = runner.Run(*saved, {.at_each_call = ask});
  EXPECT_GT(asked, 0);
  EXPECT_FALSE(CheckRules(after, *saved, rules).violations.empty());
  EXPECT_EQ(after.events, before.events);
  EXPECT_THAT(after.unused_choices, IsEmpty());
}

}  // namespace
}  // namespace vigil::properties
