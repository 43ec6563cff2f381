// What every Clock promises (core/env/clock.h), together with the sleep of its task seam.
#ifndef VIGIL_PROPERTIES_CONTRACTS_CLOCK_CONTRACT_H_
#define VIGIL_PROPERTIES_CONTRACTS_CLOCK_CONTRACT_H_

#include <gtest/gtest.h>

#include "vigil/core/env/env.h"

namespace vigil::contracts {

template <typename Place>
class ClockContract : public testing::Test {
 protected:
  Place place_;
};
TYPED_TEST_SUITE_P(ClockContract);

TYPED_TEST_P(ClockContract, MonotonicTimeNeverGoesBack) {
  this->place_.Run([](const Env& env) {
    Time last = env.clock->Monotonic();
    for (int i = 0; i < 100; ++i) {
      const Time now = env.clock->Monotonic();
      ASSERT_GE(now, last);
      last = now;
    }
  });
}

TYPED_TEST_P(ClockContract, ASleepEndsNotBeforeItsDeadlineAndMovesBothClocks) {
  this->place_.Run([](const Env& env) {
    const Time wall = env.clock->Now();
    const Time deadline = DeadlineAfter(env, 3 * TypeParam::Tick());
    env.tasks->SleepUntil(deadline);
    EXPECT_GE(env.clock->Monotonic(), deadline);
    // The system may slew its wall clock meanwhile, but not by two thirds.
    EXPECT_GE(env.clock->Now(), wall + TypeParam::Tick());
  });
}

TYPED_TEST_P(ClockContract, ASleepUntilThePastReturns) {
  this->place_.Run([](const Env& env) {
    env.tasks->SleepUntil(env.clock->Monotonic());
    env.tasks->SleepUntil({Duration(-1)});
  });
}

REGISTER_TYPED_TEST_SUITE_P(ClockContract, MonotonicTimeNeverGoesBack, ASleepEndsNotBeforeItsDeadlineAndMovesBothClocks,
                            ASleepUntilThePastReturns);

}  // namespace vigil::contracts

#endif  // VIGIL_PROPERTIES_CONTRACTS_CLOCK_CONTRACT_H_
