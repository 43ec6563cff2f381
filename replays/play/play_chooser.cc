#include "vigil/replays/play/play_chooser.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace vigil::replays {
namespace {

constexpr std::uint64_t kPreemptsOneIn = 8;  // of jobs under a schedule by chance
constexpr std::uint64_t kSpinsOneIn = 2;     // of these
constexpr double kStalls = 0.01;             // the chance, at each call at which these are preempted

}  // namespace

sim::Preempt PreemptsByChance(const Scenario& scenario) {
  if (!scenario.job.has_value() || sim::HashDraw(scenario.seed, "preempts", 0) % kPreemptsOneIn != 0) {
    return sim::Preempt::kNowhere;
  }
  return sim::HashDraw(scenario.seed, "spins", 0) % kSpinsOneIn == 0 ? sim::Preempt::kAtSpins : sim::Preempt::kAtCalls;
}

PlayChooser::PlayChooser(const Scenario& scenario, const RunnerOptions& options)
    : random_(scenario.seed), replay_(scenario.choices), chooser_(&replay_) {
  if (options.random_schedule) chooser_ = &random_;
  if (options.chooser != nullptr) chooser_ = options.chooser;
  const auto chosen = [&scenario](std::string_view point) {
    return std::ranges::any_of(scenario.choices, [point](const auto& entry) { return entry.first.ends_with(point); });
  };
  const sim::Preempt by_chance = options.random_schedule ? PreemptsByChance(scenario) : sim::Preempt::kNowhere;
  const bool stalls_at_spins = chosen("/spin_stall");
  const bool stalls = (by_chance != sim::Preempt::kNowhere && options.stalls) || chosen("/stall") || stalls_at_spins;
  preempt_ = std::max(options.preempt, by_chance);
  if (stalls || chosen("/preempt")) preempt_ = std::max(preempt_, sim::Preempt::kAtCalls);
  if (stalls_at_spins || chosen("/spin")) preempt_ = sim::Preempt::kAtSpins;
  stalls_ = stalls ? kStalls : 0;
}

std::vector<std::string> PlayChooser::Unused() const {
  std::vector<std::string> unused = replay_.UnusedEntries();
  unused.insert(unused.end(), replay_.RefusedEntries().begin(), replay_.RefusedEntries().end());
  return unused;
}

}  // namespace vigil::replays
