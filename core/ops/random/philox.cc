#include "vigil/core/ops/random/philox.h"

namespace vigil {
namespace {

constexpr std::uint32_t Low(std::uint64_t bits) { return static_cast<std::uint32_t>(bits); }
constexpr std::uint32_t High(std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> 32); }

}  // namespace

Philox::Philox(std::uint64_t seed, std::uint64_t seed2)
    : key_{Low(seed), High(seed)}, counter_{0, 0, Low(seed2), High(seed2)} {}

Philox::Sample Philox::Next() {
  constexpr int kRounds = 10;
  Sample x = counter_;
  std::array<std::uint32_t, 2> key = key_;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * x[2];
    x = {High(b) ^ x[1] ^ key[0], Low(b), High(a) ^ x[3] ^ key[1], Low(a)};
    key[0] += 0x9E3779B9;  // the golden ratio
    key[1] += 0xBB67AE85;  // the root of 3, less 1
  }
  for (std::uint32_t& word : counter_) {
    if (++word != 0) break;
  }
  return x;
}

void Philox::Skip(std::uint64_t samples) {
  const std::uint64_t before = std::uint64_t{counter_[1]} << 32 | counter_[0];
  const std::uint64_t after = before + samples;
  counter_[0] = Low(after);
  counter_[1] = High(after);
  if (after < before && ++counter_[2] == 0) ++counter_[3];
}

}  // namespace vigil
