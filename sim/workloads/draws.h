// Numbers from a seed, the same on every machine and with every library (SplitMix64).
// A plain value; thread safety: as a value.
#ifndef VIGIL_SIM_WORKLOADS_DRAWS_H_
#define VIGIL_SIM_WORKLOADS_DRAWS_H_

#include <cstdint>

#include "vigil/core/base/splitmix64.h"

namespace vigil::sim {

class Draws {
 public:
  // Each stream of a seed gives other numbers.
  explicit Draws(std::uint64_t seed, std::uint64_t stream = 0)
      : numbers_(SplitMixAt(seed, 0) ^ (stream * 0xd1342543de82ef95)) {}

  std::uint64_t Next() { return numbers_.Next(); }
  // In [-1, 1): a multiple of 2^-23, so a float without rounding.
  float Centred() { return static_cast<float>(static_cast<std::int64_t>(Next() >> 40) - (1 << 23)) / (1 << 23); }

 private:
  SplitMix64 numbers_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_WORKLOADS_DRAWS_H_
