// Sums and differences that stay at the end of the range where they would come out at its other end.
//
// Pure functions, no errors: a result beyond the range is the number at that end of it.
//
// "For ever" is often said as the largest number there is: with plain arithmetic for ever and a second is long ago.
#ifndef VIGIL_CORE_BASE_SATURATING_H_
#define VIGIL_CORE_BASE_SATURATING_H_

#include <chrono>
#include <cstdint>
#include <limits>

namespace vigil {

constexpr std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

constexpr std::int64_t SaturatingSubtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

constexpr std::int64_t SaturatingMultiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

constexpr std::chrono::nanoseconds SaturatingAdd(std::chrono::nanoseconds a, std::chrono::nanoseconds b) {
  return std::chrono::nanoseconds(SaturatingAdd(a.count(), b.count()));
}

constexpr std::chrono::nanoseconds SaturatingSubtract(std::chrono::nanoseconds a, std::chrono::nanoseconds b) {
  return std::chrono::nanoseconds(SaturatingSubtract(a.count(), b.count()));
}

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_SATURATING_H_
