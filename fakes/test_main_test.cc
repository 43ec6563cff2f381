#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "vigil/core/env/real/real_env.h"

namespace vigil::fakes {
namespace {

[[gnu::noinline]] void ACallThatEndsBadly() {
  raise(SIGSEGV);
  asm volatile("");  // or it is a jump, and no call
}

TEST(TestMainDeathTest, ACrashSaysWhereAndInWhichTest) {
  EXPECT_EXIT(ACallThatEndsBadly(), testing::KilledBySignal(SIGSEGV),
              "Signal 11 at address .*in test TestMainDeathTest.ACrashSaysWhereAndInWhichTest");
  EXPECT_EXIT(RealEnv().env().tasks->Spawn("t", ACallThatEndsBadly)->Join(kNever), testing::KilledBySignal(SIGSEGV),
              "ACallThatEndsBadly");
}

}  // namespace
}  // namespace vigil::fakes
