#include "vigil/sim/dfs_chooser.h"

#include <fmt/format.h>

#include "vigil/core/base/check.h"

namespace vigil::sim {

std::size_t DfsChooser::Choose(const ChoicePoint& point, std::span<const std::string_view> labels) {
  if (!point.key.ends_with(options_.only)) return 0;
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

bool DfsChooser::Next() {
  VIGIL_CHECK(depth_ == branches_.size());  // a run ended before it had repeated what it was to
  while (!branches_.empty() && branches_.back().taken + 1 == branches_.back().labels) branches_.pop_back();
  depth_ = 0;
  if (branches_.empty()) {
    exhausted_ = true;
    return false;
  }
  if (options_.max_runs != 0 && runs_ >= options_.max_runs) return false;
  ++branches_.back().taken;
  ++runs_;
  return true;
}

}  // namespace vigil::sim
