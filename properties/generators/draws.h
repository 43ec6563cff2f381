// Draws from a seed, in named streams that split: one more draw in one place shifts no other place.
//
//   Draws draws(seed);
//   Draws hook = draws.Split("hook", 2);        // the same stream for the same seed, name and number
//   if (hook.Chance(30)) plan = hook.Between(1, 5);
//
// Thread safety: none.
#ifndef VIGIL_PROPERTIES_GENERATORS_DRAWS_H_
#define VIGIL_PROPERTIES_GENERATORS_DRAWS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "vigil/sim/kernel/chooser.h"

namespace vigil::properties {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  Draws Split(std::string_view name, std::uint64_t number = 0) const {
    return Draws(sim::HashDraw(seed_, name, number));
  }

  // Uniform over [0, bound). REQUIRES: bound > 0.
  std::uint64_t Below(std::uint64_t bound) { return sim::Bounded(sim::HashDraw(seed_, "draw", count_++), bound); }
  // Uniform over [first, last].
  std::int64_t Between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(Below(static_cast<std::uint64_t>(last - first) + 1));
  }
  bool Chance(int percent) { return Below(100) < static_cast<std::uint64_t>(percent); }
  // One of them; what stands there twice is drawn twice as often.
  template <typename T, std::size_t kSize>
  const T& Pick(const T (&from)[kSize]) {
    return from[Below(kSize)];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_DRAWS_H_
