// The tree of all runs, depth first, without storing it: state_.branches is the path of the run under way. Next() drops
// the branches at its end that have no further label and takes the next label of the last one left; the next run
// repeats the path up to there and is calm from then on.
#include "vigil/sim/kernel/dfs_chooser.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/core/base/check.h"

namespace vigil::sim {

bool DfsChooser::Varies(std::string_view key) const {
  return options_.only.empty() ||
         std::ranges::any_of(options_.only, [key](const std::string& end) { return key.ends_with(end); });
}

std::size_t DfsChooser::Choose(const ChoicePoint& point, std::span<const std::string_view> labels) {
  if (!Varies(point.key)) return 0;
  if (options_.max_choices != 0 && depth_ >= options_.max_choices) {
    state_.truncated = true;
    return 0;
  }
  if (depth_ == state_.branches.size()) {
    state_.branches.push_back({fmt::format("{}[{}]", point.key, point.count), labels.size(), 0});
  }
  const DfsState::Branch& branch = state_.branches[depth_++];
  // The same choices lead to the same point, or the world is not deterministic.
  VIGIL_CHECK(branch.labels == labels.size() && branch.point.starts_with(point.key));
  return branch.taken;
}

bool DfsChooser::HasNext() {
  const DfsState::Branch& last = state_.branches.back();
  VIGIL_CHECK(last.taken < last.labels);
  if (last.taken + 1 == last.labels) return false;
  if (last.taken > 0 || options_.max_changes == 0 || state_.changes < options_.max_changes) return true;
  state_.truncated = true;
  return false;
}

bool DfsChooser::Next() {
  VIGIL_CHECK(depth_ == state_.branches.size());  // a run ended before it had repeated what it was to
  while (!state_.branches.empty() && !HasNext()) {
    state_.changes -= state_.branches.back().taken > 0 ? 1 : 0;
    state_.branches.pop_back();
  }
  depth_ = 0;
  if (state_.branches.empty()) {
    state_.exhausted = true;
    return false;
  }
  if (options_.max_runs != 0 && state_.runs >= options_.max_runs) {
    const auto calm = [](const DfsState::Branch& branch) { return branch.taken == 0; };
    state_.calm_so_far =
        static_cast<std::size_t>(std::ranges::find_if_not(state_.branches, calm) - state_.branches.begin());
    return false;
  }
  state_.changes += state_.branches.back().taken == 0 ? 1 : 0;
  ++state_.branches.back().taken;
  ++state_.runs;
  return true;
}

void DfsChooser::BreakOff() {
  state_.branches.resize(depth_);
  const auto changed = [](const DfsState::Branch& branch) { return branch.taken > 0; };
  state_.changes = static_cast<std::size_t>(std::ranges::count_if(state_.branches, changed));
}

}  // namespace vigil::sim
