#include "vigil/core/base/time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace vigil {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(Time, ForEverFromAnyTimeIsNever) {
  EXPECT_EQ(Time{5s} + Duration::max(), kNever);
  EXPECT_EQ(kNever + 1ms, kNever);
  EXPECT_EQ(Time{Duration::min()} + Duration::min(), Time{Duration::min()});
  EXPECT_EQ(Time{5s} + -2s, Time{3s});
}

TEST(Time, DifferencesStayInTheirRange) {
  EXPECT_EQ(kNever - Time{-1s}, Duration::max());
  EXPECT_EQ(Time{Duration::min()} - Time{1s}, Duration::min());
  EXPECT_EQ(Time{5s} - Time{7s}, -2s);
}

TEST(Time, SecondsOutOfRangeAreTheLongestDurations) {
  EXPECT_EQ(Seconds(1e300), Duration::max());
  EXPECT_EQ(Seconds(-1e300), Duration::min());
  EXPECT_EQ(Seconds(std::numeric_limits<double>::infinity()), Duration::max());
  EXPECT_EQ(Seconds(std::nan("")), Duration::zero());
  EXPECT_EQ(Seconds(0.25), 250ms);
  EXPECT_EQ(Milliseconds(kMost), Duration::max());
  EXPECT_EQ(Milliseconds(kLeast), Duration::min());
  EXPECT_EQ(Milliseconds(1500), 1500ms);
}

TEST(Saturating, NumbersStopAtTheirEnds) {
  EXPECT_EQ(SaturatingAdd(kMost, std::int64_t{1}), kMost);
  EXPECT_EQ(SaturatingAdd(kLeast, std::int64_t{-1}), kLeast);
  EXPECT_EQ(SaturatingSubtract(kLeast, std::int64_t{1}), kLeast);
  EXPECT_EQ(SaturatingSubtract(std::int64_t{0}, kLeast), kMost);
  EXPECT_EQ(SaturatingMultiply(kMost, std::int64_t{-2}), kLeast);
  EXPECT_EQ(SaturatingMultiply(std::int64_t{3}, std::int64_t{-2}), -6);
}

}  // namespace
}  // namespace vigil
