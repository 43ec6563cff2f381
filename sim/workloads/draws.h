// Numbers from a seed, the same on every machine and with every library (SplitMix64).
// A plain value; thread safety: as a value.
#ifndef VIGIL_SIM_WORKLOADS_DRAWS_H_
#define VIGIL_SIM_WORKLOADS_DRAWS_H_

#include <cstdint>

namespace vigil::sim {

class Draws {
 public:
  // Each stream of a seed gives other numbers.
  explicit Draws(std::uint64_t seed, std::uint64_t stream = 0) : state_(seed) {
    state_ = Next() ^ (stream * 0xd1342543de82ef95);
  }

  std::uint64_t Next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // In [-1, 1): a multiple of 2^-23, so a float without rounding.
  float Centred() { return static_cast<float>(static_cast<std::int64_t>(Next() >> 40) - (1 << 23)) / (1 << 23); }

 private:
  std::uint64_t state_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_WORKLOADS_DRAWS_H_
