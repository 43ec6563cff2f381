#include "vigil/sim/kernel/pct_chooser.h"

#include <algorithm>
#include <functional>

#include "vigil/core/base/check.h"

namespace vigil::sim {

namespace {

// `depth` - 1 of the first `steps`, the last first.
std::vector<std::uint64_t> DrawChanges(std::uint64_t seed, std::string_view what, int depth, std::uint64_t steps) {
  std::vector<std::uint64_t> changes;
  for (int i = 1; i < depth; ++i) {
    changes.push_back(Bounded(HashDraw(seed, what, static_cast<std::uint64_t>(i)), steps));
  }
  std::ranges::sort(changes, std::greater<>());
  return changes;
}

}  // namespace

bool IsLatency(std::string_view key) { return key.starts_with("net/") && key.ends_with("/latency"); }

PctChooser::PctChooser(const PctOptions& options)
    : seed_(options.seed),
      random_(options.seed),
      below_(static_cast<std::uint64_t>(options.depth)),
      ranks_links_(options.deliveries > 0) {
  VIGIL_CHECK(options.depth >= 1 && options.steps > 0);
  changes_ = DrawChanges(seed_, "pct/change", options.depth, options.steps);
  if (ranks_links_) link_changes_ = DrawChanges(seed_, "pct/link change", options.depth, options.deliveries);
}

std::uint64_t PctChooser::PriorityOf(std::string_view task) {
  const auto found = priorities_.find(task);
  if (found != priorities_.end()) return found->second;
  // Above all that fall; two of 2^63 are hardly ever equal, and then the longer ready one runs.
  const std::uint64_t priority = HashDraw(seed_, task, 0) | (std::uint64_t{1} << 63);
  priorities_.emplace(task, priority);
  return priority;
}

std::size_t PctChooser::Highest(std::span<const std::string_view> labels) {
  std::size_t highest = 0;
  std::uint64_t best = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::uint64_t priority = PriorityOf(labels[i]);
    if (priority > best) {
      best = priority;
      highest = i;
    }
  }
  return highest;
}

// Latencies grow with their labels.
std::size_t PctChooser::Latency(std::string_view link, std::size_t latencies) {
  const std::uint64_t message = message_++;
  while (!link_changes_.empty() && message >= link_changes_.back()) {
    link_changes_.pop_back();
    fallen_.emplace(link);
  }
  if (fallen_.contains(link)) return latencies - 1;
  return Bounded(HashDraw(seed_, link, 1), latencies);
}

std::size_t PctChooser::Choose(const ChoicePoint& point, std::span<const std::string_view> labels) {
  if (ranks_links_ && IsLatency(point.key)) return Latency(point.key, labels.size());
  if (!IsChoiceOfTasks(point.key)) return random_.Choose(point, labels);
  const std::size_t highest = Highest(labels);
  const std::uint64_t step = step_++;
  if (changes_.empty() || step < changes_.back()) return highest;
  changes_.pop_back();
  VIGIL_CHECK(below_ > 0);  // one for each change
  priorities_.find(labels[highest])->second = --below_;
  return Highest(labels);
}

}  // namespace vigil::sim
