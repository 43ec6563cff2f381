// Time as the core sees it: durations and points in integer nanoseconds, so that a virtual clock is exact.
#ifndef VIGIL_CORE_BASE_TIME_H_
#define VIGIL_CORE_BASE_TIME_H_

#include <chrono>
#include <cstdint>

namespace vigil {

using Duration = std::chrono::nanoseconds;

// A point in time: nanoseconds since the Unix epoch for wall time, since an arbitrary start for monotonic time.
struct Time {
  Duration since_epoch{0};
  friend auto operator<=>(const Time&, const Time&) = default;
  friend Time operator+(Time t, Duration d) { return {t.since_epoch + d}; }
  friend Duration operator-(Time a, Time b) { return a.since_epoch - b.since_epoch; }
};

inline constexpr Time kNever{Duration::max()};

// Seconds as TensorFlow's interfaces take and print them. Exact for what a JSON file says in decimal up to nanoseconds.
constexpr double ToSeconds(Duration d) { return static_cast<double>(d.count()) / 1e9; }
constexpr Duration Seconds(double s) {
  const double ns = s * 1e9;
  return Duration(static_cast<std::int64_t>(ns + (ns < 0 ? -0.5 : 0.5)));
}

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_TIME_H_
