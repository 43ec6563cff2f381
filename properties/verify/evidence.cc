#include "vigil/properties/verify/evidence.h"

#include <fmt/format.h>

#include <iterator>

#include "vigil/properties/verify/findings.h"

namespace vigil {
namespace {

struct OutsideOffence {
  std::string_view kind;
  std::string_view promise;
  std::string_view what;
};
constexpr OutsideOffence kOutsideOffences[kOutsideKinds] = {
    {"clock", promise::kClock, "asks the machine for the time"},
    {"files", promise::kFiles, "uses a file of the machine"},
    {"random", promise::kRandom, "draws a random number of the machine"},
    {"sleep", promise::kSleeps, "sleeps for real"},
    {"thread", promise::kOwnThread, "starts a thread of its own"},
    {"others", promise::kOthers, "opens a connection or starts a program"},
};

}  // namespace

void Evidence::NoteOutside() {
  for (std::size_t kind = 0; kind < kOutsideKinds; ++kind) {
    const char* const function = outside.first[kind].load();
    if (function != nullptr) AsksOutside(static_cast<OutsideKind>(kind), function);
  }
}

void Evidence::AsksOutside(OutsideKind kind, std::string_view function) {
  if (options->may_use_outside) return;
  const OutsideOffence& offence = kOutsideOffences[static_cast<std::size_t>(kind)];
  Offend(offence.promise, fmt::format("{} by {} {}", offence.what, function, Where()));
}

void Evidence::Changes(const std::string& path) {
  const auto in = [&path](std::string_view folder) {
    while (folder.ends_with('/')) folder.remove_suffix(1);
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
  };
  if (std::ranges::any_of(options->may_write, in)) return;
  Offend(promise::kWrites, fmt::format("changes '{}' {}", path, Where()));
}

bool IsOutside(std::string_view promise) {
  return std::ranges::find(kOutsideOffences, promise, &OutsideOffence::promise) != std::end(kOutsideOffences);
}

std::optional<OutsideKind> OutsideKindOf(std::string_view name) {
  const auto* const found = std::ranges::find(kOutsideOffences, name, &OutsideOffence::kind);
  if (found == std::end(kOutsideOffences)) return std::nullopt;
  return static_cast<OutsideKind>(found - std::begin(kOutsideOffences));
}

std::string Evidence::Where() const {
  if (inside.empty()) return fmt::format("outside of its methods, after step {}", last_step);
  return fmt::format("in {} after step {}", inside, last_step);
}

}  // namespace vigil
