#include "vigil/properties/generators/measured.h"

#include <cstdint>
#include <span>
#include <vector>

#include "vigil/core/base/time.h"

namespace vigil::properties {
namespace {

// Tenths, in milliseconds, as `replays/recorder/durations.py --rows` prints them: of 136 starts of processes in
// replays/cluster, of 398 sessions and 2477 first runs in replays/recorder/client_durations.json.
constexpr std::int64_t kBoots[] = {2110, 2250, 2430, 2530, 2660, 2880, 3240, 3890, 4810, 7710};
constexpr std::int64_t kSessions[] = {6, 9, 10, 12, 13, 15, 17, 19, 23, 33};
constexpr std::int64_t kSignatures[] = {5, 9, 13, 18, 23, 28, 34, 42, 53, 76};

std::vector<Duration> TimesOf(std::span<const std::int64_t> milliseconds) {
  std::vector<Duration> times;
  for (const std::int64_t time : milliseconds) times.push_back(Milliseconds(time));
  return times;
}

}  // namespace

void TakeMeasuredTimes(sim::WorkloadSpec& workload) {
  workload.boots = TimesOf(kBoots);
  workload.sessions = TimesOf(kSessions);
  workload.signatures = TimesOf(kSignatures);
  const sim::WorkloadSpec unsaid;
  workload.least_boot = unsaid.least_boot;
  workload.most_boot = unsaid.most_boot;
}

}  // namespace vigil::properties
