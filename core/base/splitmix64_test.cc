#include "vigil/core/base/splitmix64.h"

#include <gtest/gtest.h>

namespace vigil {
namespace {

// Those that the generator's authors publish.
TEST(SplitMix64Test, GivesTheKnownNumbers) {
  SplitMix64 numbers(1234567);
  EXPECT_EQ(numbers.Next(), 6457827717110365317u);
  EXPECT_EQ(numbers.Next(), 3203168211198807973u);
  EXPECT_EQ(SplitMixAt(1234567, 2), 9817491932198370423u);
  EXPECT_EQ(numbers.Below(10), 3u);
  EXPECT_EQ(SplitMix64(0).Next(), 0xe220a8397b1dcdafu);
}

}  // namespace
}  // namespace vigil
