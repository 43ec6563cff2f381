#include "vigil/core/train/hooks/stop_at_step_hook.h"

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/testing.h"

namespace vigil {
namespace {

class StopAtStepHookTest : public HookTest {
 protected:
  std::shared_ptr<StopAtStepHook> Make(StopAtStepHookOptions options) {
    auto hook = StopAtStepHook::Create(env(), options);
    EXPECT_TRUE(hook.ok()) << hook.status();
    return *std::move(hook);
  }
  // Whether the hook asks for a stop after a run that changes nothing, with the step set by hand.
  bool StopsAt(std::int64_t step) {
    SetStep(step);
    EXPECT_TRUE(Run(fed_).ok());
    return should_stop();
  }
};

TEST_F(StopAtStepHookTest, TakesExactlyOneOfItsArguments) {
  EXPECT_EQ(MessageOf(StopAtStepHook::Create(env(), {}).status()), "One of num_steps or last_step must be specified.");
  const auto both = StopAtStepHook::Create(env(), {.num_steps = 10, .last_step = 20}).status();
  EXPECT_EQ(MessageOf(both), "Only one of num_steps or last_step can be specified.");
  EXPECT_EQ(CodeOf(both), Code::kUsage);
}

TEST_F(StopAtStepHookTest, NeedsAGlobalStep) {
  Graph without(BuiltinOps());
  const Env begin_env = env();
  BeginContext context{begin_env, without};
  const absl::Status status = Make({.last_step = 1})->Begin(context);
  EXPECT_EQ(CodeOf(status), Code::kUsage);
  EXPECT_EQ(MessageOf(status), "Global step should be created to use StopAtStepHook.");
}

TEST_F(StopAtStepHookTest, TellsWhereItStops) {
  for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
    const std::size_t before = Details(HookDetail::kStopsAt).size();
    Start(Make({.last_step = 10, .behaviour = behaviour}));
    ASSERT_EQ(Details(HookDetail::kStopsAt).size(), before + 1);
    EXPECT_EQ(Details(HookDetail::kStopsAt).back(), 10);
  }
}

TEST_F(StopAtStepHookTest, TellsAfterHowManyStepsItStops) {
  Start(Make({.num_steps = 7}));
  EXPECT_EQ(Details(HookDetail::kStopsAfter), std::vector<double>({7}));
}

TEST_F(StopAtStepHookTest, StopsAtTheLastStep) {
  Start(Make({.last_step = 10}));
  EXPECT_FALSE(StopsAt(5));
  EXPECT_FALSE(StopsAt(9)) << "the run did not train, so the step is still 9";
  EXPECT_TRUE(StopsAt(10));
  ASSERT_TRUE(NewSession().ok());
  EXPECT_TRUE(StopsAt(11));
}

TEST_F(StopAtStepHookTest, AFinishedTrainingRunsNothing) {
  for (const bool nothing : {true, false}) {
    Behaviour behaviour;
    behaviour.finished_runs_nothing = nothing;
    for (auto& hook :
         {Make({.last_step = 0, .behaviour = behaviour}), Make({.num_steps = 0, .behaviour = behaviour})}) {
      Start(hook);
      EXPECT_EQ(coord_->ShouldStop(), nothing);
    }
    Start(Make({.last_step = 1, .behaviour = behaviour}));
    EXPECT_FALSE(coord_->ShouldStop());
  }
}

TEST_F(StopAtStepHookTest, ATrainedStepCountsInItsRun) {
  Start(Make({.last_step = 2}));
  EXPECT_TRUE(Run().ok());
  EXPECT_FALSE(should_stop());
  EXPECT_TRUE(Run().ok());
  EXPECT_TRUE(should_stop());
}

TEST_F(StopAtStepHookTest, CountsFromTheFirstSession) {
  auto hook = Make({.num_steps = 10});
  ASSERT_TRUE(Begin(hook).ok());
  ASSERT_TRUE(NewSession(false).ok());
  SetStep(5);
  ASSERT_TRUE(hook->AfterCreateSession(session_, coord_).ok());
  EXPECT_EQ(hook->last_step(), 15);
  EXPECT_FALSE(StopsAt(13));
  EXPECT_FALSE(StopsAt(14));
  EXPECT_TRUE(StopsAt(15));
  ASSERT_TRUE(NewSession().ok());
  EXPECT_EQ(hook->last_step(), 15) << "not moved by a recovery";
  EXPECT_TRUE(StopsAt(16));
}

TEST_F(StopAtStepHookTest, ForEverDoesNotStop) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const auto& hook : {Make({.num_steps = most}), Make({.last_step = most})}) {
    ASSERT_TRUE(Begin(hook).ok());
    ASSERT_TRUE(NewSession(false).ok());
    SetStep(5);
    ASSERT_TRUE(hook->AfterCreateSession(session_, coord_).ok());
    EXPECT_EQ(hook->last_step(), most);
    EXPECT_FALSE(coord_->ShouldStop());
    EXPECT_FALSE(StopsAt(100));
  }
}

TEST_F(StopAtStepHookTest, AJumpPastTheLastStepStops) {
  auto hook = Make({.num_steps = 10});
  ASSERT_TRUE(Begin(hook).ok());
  ASSERT_TRUE(NewSession(false).ok());
  SetStep(5);
  ASSERT_TRUE(hook->AfterCreateSession(session_, coord_).ok());
  EXPECT_TRUE(StopsAt(25));
}

TEST_F(StopAtStepHookTest, AReadThatFailsComesOut) {
  Start(Make({.last_step = 1}));
  ASSERT_TRUE(session_->Close().ok());
  EXPECT_EQ(CodeOf(Run()), Code::kUsage);
}

TEST_F(StopAtStepHookTest, CountedStepsNeedToKnowWhereTheyBegin) {
  auto hook = StopAtStepHook::Create(env(), {.num_steps = 3});
  ASSERT_TRUE(hook.ok()) << hook.status();
  ASSERT_TRUE(Begin(*hook).ok());
  ASSERT_TRUE(NewSession(false).ok());
  EXPECT_EQ(MessageOf(Run()), "StopAtStepHook with num_steps was not told of the session (AfterCreateSession).");
}

}  // namespace
}  // namespace vigil
