#include "vigil/properties/shrink_broken.h"

#include <optional>

#include "vigil/core/base/time.h"

namespace vigil::properties {
namespace {

using replays::Scenario;

// A job that is broken off has tasks that run.
constexpr std::string_view kNeedsTheEnd = "job.every_task_ends";
constexpr double kLeastPart = 1;  // virtual second

Scenario PartOf(const Scenario& scenario, double virtual_s) {
  Scenario part = scenario;
  part.limits.virtual_s = virtual_s;
  return part;
}

// How long it must be played to break the rule, to a factor of two; none: to its end, as far as is known.
std::optional<double> LengthOfPart(const Scenario& failing, std::string_view rule, const StillFails& breaks,
                                   const ShrinkOptions& options, std::uint64_t& plays) {
  if (!failing.job.has_value() || rule == kNeedsTheEnd) return std::nullopt;
  const double whole = failing.limits.virtual_s > 0 ? failing.limits.virtual_s : ToSeconds(failing.job->limit);
  double enough = whole;
  while (enough / 2 >= kLeastPart && !(options.stop && options.stop())) {
    ++plays;
    if (!breaks(PartOf(failing, enough / 2))) break;
    enough /= 2;
  }
  return enough < whole ? std::optional(enough) : std::nullopt;
}

}  // namespace

Shrunk ShrinkBroken(const Scenario& failing, std::string_view rule, const StillFails& breaks,
                    const ShrinkOptions& options) {
  std::uint64_t plays = 0;
  const std::optional<double> part = LengthOfPart(failing, rule, breaks, options, plays);
  if (part.has_value()) {
    const StillFails soon = [&](const Scenario& candidate) { return breaks(PartOf(candidate, *part)); };
    Shrunk shrunk = Shrink(failing, soon, options);
    plays += shrunk.plays + 1;
    shrunk.plays = plays;
    if (breaks(shrunk.scenario)) return shrunk;
  }
  Shrunk shrunk = Shrink(failing, breaks, options);
  shrunk.plays += plays;
  return shrunk;
}

}  // namespace vigil::properties
