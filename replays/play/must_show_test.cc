// What users are promised by Behaviour::Default(), each shown in the simulator.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/summary/file_writer.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/world.h"

namespace vigil::replays {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Outcome Play(const std::string& json) {
  const absl::StatusOr<Recording> recording = ParseRecording(json);
  EXPECT_TRUE(recording.ok()) << recording.status();
  if (!recording.ok()) return {};
  Runner runner;
  Outcome outcome = runner.Run(recording->scenario);
  EXPECT_EQ(outcome.verdict, Verdict::kPlayed) << outcome.reason;
  return outcome;
}

// The number after that beginning in the last such line.
double LastNumber(const Outcome& outcome, std::string_view beginning) {
  double number = -1;
  for (const std::string& line : outcome.events) {
    if (line.starts_with(beginning)) number = std::stod(line.substr(beginning.size()));
  }
  return number;
}

class NeverCreates : public SessionCreator {
 public:
  absl::StatusOr<SessionPtr> CreateSession() override {
    return MakeStatus(Code::kUnavailable, fmt::format("attempt {} found nobody", ++attempts));
  }
  int attempts = 0;
};

TEST(MustShow, ACreatorThatAlwaysFailsGivesUpAfterHalfAnHourWithTheHistory) {
  sim::World world({.seed = 1});
  auto creator = std::make_shared<NeverCreates>();
  absl::Status end;
  world.AddNode("chief").Spawn("main", [&] {
    Graph graph(BuiltinOps());
    end = MonitoredSession::Create(world.FindNode("chief")->env(), graph, {.session_creator = creator}).status();
  });
  const Time start = world.now();
  EXPECT_EQ(world.Run().verdict, sim::WorldVerdict::kDone);
  EXPECT_EQ(world.now() - start, std::chrono::minutes(30));
  EXPECT_EQ(CodeOf(end), Code::kDeadlineExceeded);
  EXPECT_THAT(std::string(MessageOf(end)), AllOf(HasSubstr("Gave up after"), HasSubstr("attempt 1 found nobody"),
                                                 HasSubstr(fmt::format("attempt {} found nobody", creator->attempts))));
  EXPECT_LT(creator->attempts, 50);
}

TEST(MustShow, AStopRequestedBeforeARecoverySurvivesIt) {
  const Outcome outcome = Play(R"({"id":"x","behaviour":"default","hooks":[
      {"hook":"probe","name":"a","plan":[{"method":"before_run","call":2,"do":"request_stop"}]}],
      "faults":[{"at":"run","call":2,"code":"ABORTED"}],"drive":[{"op":"loop","max":9,"body":[{"op":"run"}]}]})");
  EXPECT_THAT(outcome.events, Contains("driver should_stop -> yes"));
  EXPECT_EQ(std::ranges::count(outcome.events, "driver run"), 2);
  EXPECT_THAT(outcome.events, Contains("session 2 run"));
}

TEST(MustShow, ADamagedNewestCheckpointFallsBackToTheOneBeforeWithAWarning) {
  for (const char* damage : {"missing_data", "missing_index"}) {
    const Outcome outcome = Play(fmt::format(
        R"({{"id":"x","behaviour":"default","checkpoint":{{"dir":true,"preload":[3,8],"damage":"{}"}},"drive":[{{"op":"run"}}]}})",
        damage));
    EXPECT_THAT(outcome.events, Contains("driver result step=4 fed=0")) << damage;
    EXPECT_THAT(outcome.events, Contains(HasSubstr("log WARNING Checkpoint DIR/model.ckpt-8 is not complete")));
  }
}

TEST(MustShow, ASoftNanStopNeverOverwritesTheLastGoodCheckpoint) {
  const std::string saver = R"({"hook":"checkpoint_saver","save_steps":2})";
  const std::string nan = R"({"hook":"nan_tensor","fail_on_nan_loss":false})";
  for (const std::string& hooks : {saver + "," + nan, nan + "," + saver}) {
    for (const int nan_at : {1, 2, 3, 4}) {
      const Outcome outcome = Play(fmt::format(
          R"({{"id":"x","behaviour":"default","checkpoint":{{"dir":true}},"model":{{"nan_at":{}}},"hooks":[{}],
          "drive":[{{"op":"loop","max":9,"body":[{{"op":"run"}}]}}]}})",
          nan_at, hooks));
      const std::int64_t last_good = (nan_at - 1) / 2 * 2;
      ASSERT_FALSE(outcome.final.checkpoints.empty());
      EXPECT_EQ(outcome.final.checkpoints.back(), last_good) << nan_at << hooks;
      EXPECT_EQ(outcome.final.latest, fmt::format("model.ckpt-{}", last_good));
    }
  }
}

TEST(MustShow, CloseWithAStuckThreadTakesOneGracePeriodWhateverTheRecoveries) {
  for (const char* faults :
       {"[]", R"([{"at":"run","call":1,"code":"ABORTED"}])", R"([{"at":"run","call":[1,2,3],"code":"ABORTED"}])"}) {
    const Outcome outcome = Play(fmt::format(
        R"({{"id":"x","behaviour":"default","faults":{},"hooks":[{{"hook":"probe","name":"a","plan":[
        {{"method":"after_create_session","call":null,"do":"start_thread","value":100000}}]}}],
        "drive":[{{"op":"run"}}],"after":[{{"op":"clock"}}]}})",
        faults));
    double waited = 0;  // before each attempt of the recovery
    for (const std::string& line : outcome.events) {
      if (line.starts_with("sleep ")) waited += std::stod(line.substr(6));
    }
    EXPECT_NEAR(LastNumber(outcome, "driver clock ") - waited, 120, 0.1) << faults;
  }
}

TEST(MustShow, TwoWritersOfOneSecondAndDirectoryNeverShareAFile) {
  sim::World world({.seed = 1});
  for (const char* name : {"one", "two"}) {
    sim::Node& node = world.AddNode(name);
    // Both on the disk of the first.
    node.Spawn("main", [&world, &node] {
      Env env = node.env();
      env.files = &world.FindNode("one")->disk();
      for (int i = 0; i < 2; ++i) {
        const auto writer = NewFileWriter(env, {.logdir = "/logs"});
        ASSERT_TRUE(writer.ok()) << writer.status();
        EXPECT_TRUE((*writer)->AddSessionLog(SessionLogStatus::kStart, 1).ok());
        EXPECT_TRUE((*writer)->Close().ok());
      }
    });
  }
  EXPECT_EQ(world.Run().verdict, sim::WorldVerdict::kDone);
  EXPECT_EQ(world.now(), sim::WorldOptions().start);
  EXPECT_EQ(world.FindNode("one")->disk().List("/logs")->size(), 4u);
}

TEST(MustShow, AWriterOnAFullDiskReportsIt) {
  const Outcome outcome = Play(R"({"id":"x","behaviour":"default","checkpoint":{"dir":true},"model":{"summary":true},
      "hooks":[{"hook":"summary_saver","save_steps":1}],
      "faults":[{"at":"write","file":"tfevents","call":[1,2,3,4,5,6,7,8,9],"code":"RESOURCE_EXHAUSTED"}],
      "drive":[{"op":"run","times":3}]})");
  EXPECT_THAT(outcome.events, Contains(HasSubstr("failed RESOURCE_EXHAUSTED")));
  EXPECT_THAT(outcome.events, Not(Contains("driver exit clean")));
}

TEST(MustShow, OldCheckpointsStayWithinTheLimitAcrossRestartsAndChangedLimits) {
  const Outcome outcome = Play(R"({"id":"x","behaviour":"default","unit":"saver","args":{"max_to_keep":4},"ops":[
      {"op":"save","step":1},{"op":"save","step":2},{"op":"save","step":3},{"op":"save","step":4},
      {"op":"new_saver","args":{"max_to_keep":4}},{"op":"save","step":5},
      {"op":"new_saver","args":{"max_to_keep":2}},{"op":"save","step":6}]})");
  ASSERT_GE(outcome.events.size(), 6u);
  std::vector<std::string> disks;
  for (const std::string& line : outcome.events) {
    if (line.starts_with("disk ")) disks.push_back(line.substr(0, line.find(" meta")));
  }
  EXPECT_THAT(disks, Contains("disk index=model.ckpt-2,model.ckpt-3,model.ckpt-4,model.ckpt-5"));
  EXPECT_EQ(disks.back(), "disk index=model.ckpt-5,model.ckpt-6");
  const Outcome session = Play(R"({"id":"x","behaviour":"default","checkpoint":{"dir":true,"preload":[1,2,3,4,5,6,7],
      "preload_keep":7},"hooks":[{"hook":"checkpoint_saver","save_steps":1}],"drive":[{"op":"run"}]})");
  EXPECT_THAT(session.final.checkpoints, ElementsAre(4, 5, 6, 7, 8));
}

// Aborts its second run, once, and writes down how many recoveries it is told of.
class Counts : public SessionRunHook {
 public:
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    recoveries.push_back(context.recoveries());
    return recoveries.size() == 2 ? MakeStatus(Code::kAborted, "preempted") : absl::OkStatus();
  }
  std::vector<int> recoveries;
};

TEST(MustShow, RecoveriesAreCountedAndLogged) {
  sim::World world({.seed = 1});
  sim::Node& node = world.AddNode("chief");
  auto hook = std::make_shared<Counts>();
  node.Spawn("main", [&] {
    Graph graph(BuiltinOps());
    Builder b(graph);
    const Output one = b.Const("one", Tensor::Scalar<std::int64_t>(1));
    const auto session = MonitoredSession::Create(node.env(), graph, {.hooks = {hook}});
    ASSERT_TRUE(session.ok()) << session.status();
    for (int i = 0; i < 3; ++i) EXPECT_TRUE((*session)->Run(one).ok());
    EXPECT_EQ((*session)->recoveries(), 1);
    EXPECT_TRUE((*session)->Close().ok());
  });
  EXPECT_EQ(world.Run().verdict, sim::WorldVerdict::kDone);
  EXPECT_THAT(hook->recoveries, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(std::ranges::count_if(node.log(),
                                  [](const sim::LogLine& line) {
                                    return line.severity == Severity::kWarning &&
                                           line.text.find("preempted") != line.text.npos;
                                  }),
            1);
}

// Pain 18: what a hook before the saver changes in its End is in the last checkpoint, and its threads end with the
// session.
TEST(MustShow, EndsAreInListOrderSoThatTheSaverComesLastIfListedLast) {
  const Outcome outcome =
      Play(R"({"id":"x","behaviour":"default","session":{"kind":"training","save_checkpoint_steps":100,
      "chief_only_hooks":[{"hook":"probe","name":"first","plan":[]}]},"checkpoint":{"dir":true},
      "hooks":[{"hook":"probe","name":"last","plan":[]}],"drive":[{"op":"run"}]})");
  const auto at = [&](std::string_view line) {
    return std::ranges::find(outcome.events, line) - outcome.events.begin();
  };
  const auto saved = std::ranges::find(outcome.events.rbegin(), outcome.events.rend(), "session 1 save");
  const auto last_save = outcome.events.rend() - saved - 1;
  EXPECT_LT(at("hook first end session=1"), last_save);
  EXPECT_LT(last_save, at("hook last end session=1"));
}

TEST(MustShow, AThreadThatAHookStartedEndsWithTheSessionAlsoAfterAnError) {
  for (const char* drive : {R"([{"op":"run"}])", R"([{"op":"raise","code":"OTHER"}])"}) {
    const Outcome outcome = Play(fmt::format(
        R"({{"id":"x","behaviour":"default","hooks":[{{"hook":"probe","name":"a","plan":[
        {{"method":"after_create_session","call":1,"do":"start_thread","value":7}}]}}],
        "drive":{},"after":[{{"op":"clock"}}]}})",
        drive));
    EXPECT_NEAR(LastNumber(outcome, "driver clock "), 7, 0.1) << "joined, on every way out";
  }
}

}  // namespace
}  // namespace vigil::replays
