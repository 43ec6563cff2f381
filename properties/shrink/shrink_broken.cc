#include "vigil/properties/shrink/shrink_broken.h"

#include <cstdint>

namespace vigil::properties {
namespace {

using replays::Scenario;

// A job that is broken off has tasks that run.
constexpr std::string_view kNeedsTheEnd = "job.every_task_ends";
constexpr std::int64_t kLeastPart = 100;  // events

Scenario BrokenOff(const Scenario& scenario, std::int64_t events) {
  Scenario part = scenario;
  part.limits.events =
      events == replays::Limits{}.events ? events + 1 : events;  // of a job the default means: many more
  return part;
}

// How much of a job must be played: to a factor of two, since what is left of it needs less and less.
class PlayedPart {
 public:
  PlayedPart(std::int64_t events, const StillFails& breaks) : events_(events), breaks_(breaks) {}

  bool Breaks(const Scenario& scenario) {
    ++plays_;
    if (!breaks_(BrokenOff(scenario, events_))) return false;
    while (events_ / 2 >= kLeastPart && (++plays_, breaks_(BrokenOff(scenario, events_ / 2)))) events_ /= 2;
    return true;
  }
  std::uint64_t plays() const { return plays_; }

 private:
  std::int64_t events_;
  const StillFails& breaks_;
  std::uint64_t plays_ = 0;
};

}  // namespace

Shrunk ShrinkBroken(const Scenario& failing, std::string_view rule, std::int64_t events, const StillFails& breaks,
                    const ShrinkOptions& options) {
  std::uint64_t plays = 0;
  if (failing.job.has_value() && rule != kNeedsTheEnd && events > 0) {
    PlayedPart part(events, breaks);
    if (part.Breaks(failing)) {
      Shrunk shrunk = Shrink(
          failing, [&part](const Scenario& candidate) { return part.Breaks(candidate); }, options);
      plays = shrunk.plays = part.plays() + 1;
      if (breaks(shrunk.scenario)) return shrunk;
    }
  }
  Shrunk shrunk = Shrink(failing, breaks, options);
  shrunk.plays += plays;
  return shrunk;
}

}  // namespace vigil::properties
