#include "vigil/sim/dfs_chooser.h"

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
    truncated_ = true;
    return 0;
  }
  if (depth_ == branches_.size()) {
    branches_.push_back({fmt::format("{}[{}]", point.key, point.count), labels.size(), 0});
  }
  const Branch& branch = branches_[depth_++];
  // The same choices lead to the same point, or the world is not deterministic.
  VIGIL_CHECK(branch.labels == labels.size() && branch.point.starts_with(point.key));
  return branch.taken;
}

bool DfsChooser::HasNext() {
  const Branch& last = branches_.back();
  if (last.taken + 1 == last.labels) return false;
  if (last.taken > 0 || options_.max_changes == 0 || changes_ < options_.max_changes) return true;
  truncated_ = true;
  return false;
}

bool DfsChooser::Next() {
  VIGIL_CHECK(depth_ == branches_.size());  // a run ended before it had repeated what it was to
  while (!branches_.empty() && !HasNext()) {
    changes_ -= branches_.back().taken > 0 ? 1 : 0;
    branches_.pop_back();
  }
  depth_ = 0;
  if (branches_.empty()) {
    exhausted_ = true;
    return false;
  }
  if (options_.max_runs != 0 && runs_ >= options_.max_runs) {
    const auto calm = [](const Branch& branch) { return branch.taken == 0; };
    calm_so_far_ = static_cast<std::size_t>(std::ranges::find_if_not(branches_, calm) - branches_.begin());
    return false;
  }
  changes_ += branches_.back().taken == 0 ? 1 : 0;
  ++branches_.back().taken;
  ++runs_;
  return true;
}

}  // namespace vigil::sim
