#include "vigil/core/env/real/seeded_random.h"

#include <sys/random.h>

#include "vigil/core/base/check.h"

namespace vigil {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// FNV-1a.
std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::uint64_t EntropySeed() {
  std::uint64_t seed = 0;
  VIGIL_CHECK(getrandom(&seed, sizeof(seed), 0) == sizeof(seed));
  return seed;
}

std::uint64_t SeededRandom::Draw(std::string_view stream) {
  const std::lock_guard lock(mutex_);
  auto it = states_.find(stream);
  if (it == states_.end()) it = states_.emplace(stream, Mix(seed_ ^ Mix(HashOf(stream)))).first;
  it->second += 0x9e3779b97f4a7c15u;
  return Mix(it->second);
}

std::uint64_t SeededRandom::Unique(std::string_view /*stream*/) { return EntropySeed(); }

}  // namespace vigil
