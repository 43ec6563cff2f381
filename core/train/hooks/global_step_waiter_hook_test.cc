#include "vigil/core/train/hooks/global_step_waiter_hook.h"

#include <chrono>

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/testing.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class GlobalStepWaiterHookTest : public HookTest {
 protected:
  void StartWaitingFor(std::int64_t step) {
    Start(*GlobalStepWaiterHook::Create(env(), {.wait_until_step = step}));
    fake_.events.Clear();
  }
  std::vector<double> Sleeps() {
    std::vector<double> sleeps;
    for (const Event& event : fake_.events.events()) {
      if (event.kind == EventKind::kSleep) sleeps.push_back(event.value);
    }
    return sleeps;
  }
};

TEST_F(GlobalStepWaiterHookTest, NeedsAGlobalStep) {
  Graph without(BuiltinOps());
  const Env begin_env = env();
  BeginContext context{begin_env, without};
  const absl::Status status = (*GlobalStepWaiterHook::Create(env(), {.wait_until_step = 1}))->Begin(context);
  EXPECT_EQ(MessageOf(status), "Global step should be created to use _GlobalStepWaiterHook.");
}

TEST_F(GlobalStepWaiterHookTest, TellsWhatItWaitsFor) {
  Start(*GlobalStepWaiterHook::Create(env(), {.wait_until_step = 1000}));
  EXPECT_THAT(Details(HookDetail::kWaitsForStep), ElementsAre(1000));
}

TEST_F(GlobalStepWaiterHookTest, DoesNotWaitForStepZero) {
  StartWaitingFor(0);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Sleeps(), IsEmpty());
  EXPECT_THAT(TakeLog(), IsEmpty());
}

TEST_F(GlobalStepWaiterHookTest, PollsUntilOthersHaveReachedTheStep) {
  StartWaitingFor(1000);
  const auto others = env().tasks->Spawn("others", [this] {
    env().tasks->SleepUntil({250ms});
    SetStep(500);
    env().tasks->SleepUntil({750ms});
    SetStep(1100);
  });
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Sleeps(), ElementsAre(0.5, 0.5));
  EXPECT_THAT(TakeLog(), ElementsAre("Waiting for global step 1000 before starting training."));
  EXPECT_EQ(step(), 1101);
  // Never again, not even in a new session at step 0.
  ASSERT_TRUE(NewSession().ok());
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Sleeps(), ElementsAre(0.5, 0.5));
}

TEST_F(GlobalStepWaiterHookTest, ALongWaitSaysHowFarItIs) {
  StartWaitingFor(5000);
  const auto others = env().tasks->Spawn("others", [this] {
    for (const std::int64_t steps : {1, 2, 3}) {
      env().tasks->SleepUntil({steps * 500ms - 1ms});
      SetStep(steps * 1001);
    }
    env().tasks->SleepUntil({2s - 1ms});
    SetStep(5000);
  });
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(TakeLog(), ElementsAre("Waiting for global step 5000 before starting training.",
                                     "Waiting for global step 5000 before starting training. Current step is 1001.",
                                     "Waiting for global step 5000 before starting training. Current step is 2002.",
                                     "Waiting for global step 5000 before starting training. Current step is 3003."));
}

TEST_F(GlobalStepWaiterHookTest, ALineIsForAThousandSteps) {
  StartWaitingFor(5000);
  const auto others = env().tasks->Spawn("others", [this] {
    env().tasks->SleepUntil({499ms});
    SetStep(1001);
    env().tasks->SleepUntil({999ms});
    SetStep(1500);
    env().tasks->SleepUntil({1499ms});
    SetStep(5000);
  });
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(TakeLog(), ElementsAre("Waiting for global step 5000 before starting training.",
                                     "Waiting for global step 5000 before starting training. Current step is 1001."));
}

TEST_F(GlobalStepWaiterHookTest, AWaitThatFailedStartsAgain) {
  StartWaitingFor(10);
  SetStep(20);
  ASSERT_TRUE(session_->Close().ok());
  EXPECT_EQ(CodeOf(Run()), Code::kUsage);
  ASSERT_TRUE(NewSession().ok());
  SetStep(10);
  TakeLog();
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(TakeLog(), ElementsAre("Waiting for global step 10 before starting training."));
}

TEST_F(GlobalStepWaiterHookTest, AStopEndsTheWait) {
  StartWaitingFor(1000);
  const auto other = env().tasks->Spawn("other", [this] {
    env().tasks->SleepUntil({10200ms});
    coord_->RequestStop().IgnoreError();
  });
  EXPECT_TRUE(Run().ok());
  EXPECT_EQ(fake_.clock.Monotonic().since_epoch, 10500ms) << "the next look";
}

}  // namespace
}  // namespace vigil
