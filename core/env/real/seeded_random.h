// Random streams from one seed: the n-th draw of a stream depends on the seed, its name and n. Contract: random.h.
// Not for secrets.
#ifndef VIGIL_CORE_ENV_REAL_SEEDED_RANDOM_H_
#define VIGIL_CORE_ENV_REAL_SEEDED_RANDOM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "vigil/core/base/splitmix64.h"
#include "vigil/core/env/random.h"

namespace vigil {

// 64 bits of the system's entropy.
std::uint64_t EntropySeed();

class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t Draw(std::string_view stream) override;
  // Of the system's entropy, whatever the seed.
  std::uint64_t Unique(std::string_view stream) override;
  std::uint64_t seed() const { return seed_; }

 private:
  const std::uint64_t seed_;
  std::mutex mutex_;
  std::map<std::string, SplitMix64, std::less<>> states_;  // guarded by mutex_
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_REAL_SEEDED_RANDOM_H_
