#include "vigil/replays/play/play_chooser.h"

#include <algorithm>
#include <cstdint>

namespace vigil::replays {
namespace {

constexpr std::uint64_t kPreemptsOneIn = 8;  // of jobs under a schedule by chance

}  // namespace

bool PreemptsByChance(const Scenario& scenario) {
  return scenario.job.has_value() && sim::HashDraw(scenario.seed, "preempts", 0) % kPreemptsOneIn == 0;
}

PlayChooser::PlayChooser(const Scenario& scenario, const RunnerOptions& options)
    : random_(scenario.seed), replay_(scenario.choices), chooser_(&replay_) {
  if (options.random_schedule) chooser_ = &random_;
  if (options.chooser != nullptr) chooser_ = options.chooser;
  preempt_ = options.preempt || (options.random_schedule && PreemptsByChance(scenario)) ||
             std::ranges::any_of(scenario.choices, [](const auto& point) { return point.first.ends_with("/preempt"); });
}

std::vector<std::string> PlayChooser::Unused() const {
  std::vector<std::string> unused = replay_.UnusedEntries();
  unused.insert(unused.end(), replay_.RefusedEntries().begin(), replay_.RefusedEntries().end());
  return unused;
}

}  // namespace vigil::replays
