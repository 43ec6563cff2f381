#include "vigil/core/train/hooks/second_or_step_timer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;

class SecondOrStepTimerTest : public testing::Test {
 protected:
  SecondOrStepTimer Make(SecondOrStepTimerOptions options) {
    auto timer = SecondOrStepTimer::Create(fake_.env(), options);
    EXPECT_TRUE(timer.ok()) << timer.status();
    return *std::move(timer);
  }
  std::string Refused(SecondOrStepTimerOptions options) {
    const auto timer = SecondOrStepTimer::Create(fake_.env(), options);
    EXPECT_EQ(CodeOf(timer.status()), Code::kUsage);
    return std::string(MessageOf(timer.status()));
  }
  fakes::FakeEnv fake_;
};

TEST_F(SecondOrStepTimerTest, TakesExactlyOnePeriod) {
  EXPECT_EQ(Refused({}), "Either every_secs or every_steps should be provided.");
  EXPECT_EQ(Refused({.every_secs = 2s, .every_steps = 10}), "Can not provide both every_secs and every_steps.");
}

TEST_F(SecondOrStepTimerTest, EverySecond) {
  SecondOrStepTimer timer = Make({.every_secs = 1s});
  EXPECT_TRUE(timer.ShouldTriggerForStep(1));
  timer.UpdateLastTriggeredStep(1);
  EXPECT_FALSE(timer.ShouldTriggerForStep(1));
  EXPECT_FALSE(timer.ShouldTriggerForStep(2));
  fake_.clock.Advance(999999999ns);
  EXPECT_FALSE(timer.ShouldTriggerForStep(2));
  fake_.clock.Advance(1ns);
  EXPECT_FALSE(timer.ShouldTriggerForStep(1)) << "never twice for one step";
  EXPECT_TRUE(timer.ShouldTriggerForStep(2));
}

TEST_F(SecondOrStepTimerTest, EveryThirdStep) {
  SecondOrStepTimer timer = Make({.every_steps = 3});
  EXPECT_TRUE(timer.ShouldTriggerForStep(1));
  timer.UpdateLastTriggeredStep(1);
  for (const std::int64_t step : {1, 2, 3}) EXPECT_FALSE(timer.ShouldTriggerForStep(step)) << step;
  EXPECT_TRUE(timer.ShouldTriggerForStep(4));
}

TEST_F(SecondOrStepTimerTest, UpdateTellsWhatHasPassed) {
  SecondOrStepTimer timer = Make({.every_steps = 1});
  EXPECT_EQ(timer.last_triggered_step(), std::nullopt);
  EXPECT_FALSE(timer.UpdateLastTriggeredStep(1).has_value());
  EXPECT_EQ(timer.last_triggered_step(), 1);
  fake_.clock.Advance(1500ms);
  const auto second = timer.UpdateLastTriggeredStep(5);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->time, 1500ms);
  EXPECT_EQ(second->steps, 4);
  fake_.clock.Advance(1s);
  const auto third = timer.UpdateLastTriggeredStep(7);
  EXPECT_EQ(third->time, 1s);
  EXPECT_EQ(third->steps, 2);
}

TEST_F(SecondOrStepTimerTest, SettingTheWallClockChangesNothing) {
  SecondOrStepTimer timer = Make({.every_secs = 10s});
  timer.UpdateLastTriggeredStep(1);
  fake_.clock.JumpWall(24h);
  EXPECT_FALSE(timer.ShouldTriggerForStep(2));
  fake_.clock.JumpWall(-48h);
  fake_.clock.Advance(10s);
  EXPECT_TRUE(timer.ShouldTriggerForStep(2));
}

TEST_F(SecondOrStepTimerTest, APeriodWithoutEndDoesNotOverflow) {
  SecondOrStepTimer timer = Make({.every_secs = Duration::max()});
  timer.UpdateLastTriggeredStep(1);
  fake_.clock.Advance(1s);
  EXPECT_FALSE(timer.ShouldTriggerForStep(2));
  SecondOrStepTimer steps = Make({.every_steps = std::numeric_limits<std::int64_t>::max()});
  steps.UpdateLastTriggeredStep(1);
  EXPECT_FALSE(steps.ShouldTriggerForStep(2));
}

TEST_F(SecondOrStepTimerTest, ResetBeginsAnew) {
  SecondOrStepTimer timer = Make({.every_steps = 3});
  timer.UpdateLastTriggeredStep(1);
  timer.Reset();
  EXPECT_TRUE(timer.ShouldTriggerForStep(1));
  EXPECT_FALSE(timer.UpdateLastTriggeredStep(2).has_value());
}

}  // namespace
}  // namespace vigil
