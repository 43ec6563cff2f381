#include "vigil/properties/verify/evidence.h"

#include <fmt/format.h>

#include <iterator>

#include "vigil/properties/verify/findings.h"

namespace vigil {
namespace {

struct OutsideOffence {
  std::string_view promise;
  std::string_view what;
};
constexpr OutsideOffence kOutsideOffences[kOutsideKinds] = {
    {promise::kClock, "asks the machine for the time"},         {promise::kFiles, "uses a file of the machine"},
    {promise::kRandom, "draws a random number of the machine"}, {promise::kSleeps, "sleeps for real"},
    {promise::kOwnThread, "starts a thread of its own"},
};

}  // namespace

void Evidence::NoteOutside() {
  if (options->may_use_outside) return;
  for (std::size_t kind = 0; kind < kOutsideKinds; ++kind) {
    const char* const name = outside.first[kind].load();
    if (name == nullptr) continue;
    Offend(kOutsideOffences[kind].promise, fmt::format("{} by {} {}", kOutsideOffences[kind].what, name, Where()));
  }
}

bool IsOutside(std::string_view promise) {
  return std::ranges::find(kOutsideOffences, promise, &OutsideOffence::promise) != std::end(kOutsideOffences);
}

std::string Evidence::Where() const {
  if (inside.empty()) return fmt::format("outside of its methods, after step {}", last_step);
  return fmt::format("in {} after step {}", inside, last_step);
}

}  // namespace vigil
