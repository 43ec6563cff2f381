// Time as the core sees it: durations and points in integer nanoseconds, so that a virtual clock is exact.
//
// Arithmetic on points saturates: what is later than every Time is kNever, and "for ever" (Duration::max()) from now is
// kNever. Sums of durations that a caller may have chosen are made with SaturatingAdd; a plain + of two durations is
// for constants.
#ifndef VIGIL_CORE_BASE_TIME_H_
#define VIGIL_CORE_BASE_TIME_H_

#include <chrono>
#include <cstdint>

#include "vigil/core/base/saturating.h"

namespace vigil {

using Duration = std::chrono::nanoseconds;

// A point in time: nanoseconds since the Unix epoch for wall time, since an arbitrary start for monotonic time.
struct Time {
  Duration since_epoch{0};
  friend auto operator<=>(const Time&, const Time&) = default;
  friend constexpr Time operator+(Time t, Duration d) { return {SaturatingAdd(t.since_epoch, d)}; }
  friend constexpr Duration operator-(Time a, Time b) { return SaturatingSubtract(a.since_epoch, b.since_epoch); }
};

inline constexpr Time kNever{Duration::max()};

// Seconds as TensorFlow's interfaces take and print them. Exact for what a JSON file says in decimal up to nanoseconds;
// more seconds than there are is the longest Duration, and what is no number is none.
constexpr double ToSeconds(Duration d) { return static_cast<double>(d.count()) / 1e9; }
constexpr Duration Seconds(double s) {
  const double ns = s * 1e9;
  if (!(ns == ns)) return Duration::zero();
  if (ns >= 0x1p63) return Duration::max();
  if (ns <= -0x1p63) return Duration::min();
  return Duration(static_cast<std::int64_t>(ns + (ns < 0 ? -0.5 : 0.5)));
}
// As options name them. Not std::chrono::milliseconds, which wraps around on its way to nanoseconds.
constexpr Duration Milliseconds(std::int64_t ms) { return Duration(SaturatingMultiply(ms, 1'000'000)); }

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_TIME_H_
