#include "vigil/replays/play/play_chooser.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace vigil::replays {
namespace {

constexpr std::uint64_t kPreemptsOneIn = 8;  // of jobs under a schedule by chance
constexpr double kStalls = 0.01;             // the chance, at each point of preemption of these

}  // namespace

bool PreemptsByChance(const Scenario& scenario) {
  return scenario.job.has_value() && sim::HashDraw(scenario.seed, "preempts", 0) % kPreemptsOneIn == 0;
}

PlayChooser::PlayChooser(const Scenario& scenario, const RunnerOptions& options)
    : random_(scenario.seed), replay_(scenario.choices), chooser_(&replay_) {
  if (options.random_schedule) chooser_ = &random_;
  if (options.chooser != nullptr) chooser_ = options.chooser;
  const auto chosen = [&scenario](std::string_view point) {
    return std::ranges::any_of(scenario.choices, [point](const auto& entry) { return entry.first.ends_with(point); });
  };
  const bool by_chance = options.random_schedule && PreemptsByChance(scenario);
  const bool stalls = (by_chance && options.stalls) || chosen("/stall");
  preempt_ = options.preempt || by_chance || stalls || chosen("/preempt");
  stalls_ = stalls ? kStalls : 0;
}

std::vector<std::string> PlayChooser::Unused() const {
  std::vector<std::string> unused = replay_.UnusedEntries();
  unused.insert(unused.end(), replay_.RefusedEntries().begin(), replay_.RefusedEntries().end());
  return unused;
}

}  // namespace vigil::replays
