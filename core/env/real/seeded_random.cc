#include "vigil/core/env/real/seeded_random.h"

#include <sys/random.h>

#include "vigil/core/base/check.h"
#include "vigil/core/base/fnv.h"

namespace vigil {

std::uint64_t EntropySeed() {
  std::uint64_t seed = 0;
  VIGIL_CHECK(getrandom(&seed, sizeof(seed), 0) == sizeof(seed));
  return seed;
}

std::uint64_t SeededRandom::Draw(std::string_view stream) {
  const std::lock_guard lock(mutex_);
  auto it = states_.find(stream);
  if (it == states_.end()) {
    it = states_.emplace(stream, SplitMix64(SplitMix(seed_ ^ SplitMix(Fnv1a(stream))))).first;
  }
  return it->second.Next();
}

std::uint64_t SeededRandom::Unique(std::string_view /*stream*/) { return EntropySeed(); }

}  // namespace vigil
