#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "vigil/core/base/check.h"
#include "vigil/core/env/real/real_env.h"

// Sanitizers have gmock's own main, and reports of their own.
#if !defined(VIGIL_SANITIZES_ADDRESS) && !defined(VIGIL_SANITIZES_THREAD)

namespace vigil::fakes {
namespace {

[[gnu::noinline]] void ACallThatEndsBadly() {
  raise(SIGSEGV);
  asm volatile("");  // or it is a jump, and no call
}

TEST(TestMainDeathTest, ACrashSaysWhereAndInWhichTest) {
  EXPECT_EXIT(ACallThatEndsBadly(), testing::KilledBySignal(SIGSEGV),
              "Signal 11 in test TestMainDeathTest.ACrashSaysWhereAndInWhichTest");
  EXPECT_EXIT(RealEnv().env().tasks->Spawn("t", ACallThatEndsBadly)->Join(kNever), testing::KilledBySignal(SIGSEGV),
              "ACallThatEndsBadly");
}

TEST(TestMainDeathTest, ACheckThatFailsSaysWhere) {
  EXPECT_EXIT(VIGIL_CHECK(testing::Test::HasFailure()), testing::KilledBySignal(SIGABRT),
              "(.|\n)*Signal 6 in test (.|\n)*main");
}

}  // namespace
}  // namespace vigil::fakes

#endif
