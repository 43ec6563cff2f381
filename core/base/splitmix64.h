// SplitMix64 (Steele, Lea, Flood 2014): numbers that look random and are the same on every machine. The n-th of a seed
// needs none of those before it.
//
// Not for secrets. Thread safety: functions are pure; a SplitMix64 is a plain value.
#ifndef VIGIL_CORE_BASE_SPLITMIX64_H_
#define VIGIL_CORE_BASE_SPLITMIX64_H_

#include <cstddef>
#include <cstdint>

namespace vigil {

// Spreads each bit over all: two inputs never give the same.
constexpr std::uint64_t SplitMix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The n-th number of a seed, from 0.
constexpr std::uint64_t SplitMixAt(std::uint64_t seed, std::uint64_t n) {
  return SplitMix(seed + (n + 1) * 0x9e3779b97f4a7c15);
}

class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) : seed_(seed) {}
  constexpr std::uint64_t Next() { return SplitMixAt(seed_, drawn_++); }
  // Almost evenly. REQUIRES: n > 0.
  constexpr std::size_t Below(std::size_t n) { return static_cast<std::size_t>(Next() % n); }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_SPLITMIX64_H_
