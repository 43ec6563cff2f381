#include "vigil/sim/kernel/pct_chooser.h"

#include <algorithm>
#include <functional>

#include "vigil/core/base/check.h"

namespace vigil::sim {

PctChooser::PctChooser(const PctOptions& options)
    : seed_(options.seed), random_(options.seed), below_(static_cast<std::uint64_t>(options.depth)) {
  VIGIL_CHECK(options.depth >= 1 && options.steps > 0);
  for (int i = 1; i < options.depth; ++i) {
    changes_.push_back(Bounded(HashDraw(seed_, "pct/change", static_cast<std::uint64_t>(i)), options.steps));
  }
  std::ranges::sort(changes_, std::greater<>());
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

std::size_t PctChooser::Choose(const ChoicePoint& point, std::span<const std::string_view> labels) {
  const bool schedules = point.key.ends_with("/schedule") || point.key.ends_with("/preempt");
  if (!schedules) return random_.Choose(point, labels);
  const std::size_t highest = Highest(labels);
  const std::uint64_t step = step_++;
  if (changes_.empty() || step < changes_.back()) return highest;
  changes_.pop_back();
  VIGIL_CHECK(below_ > 0);  // one for each change
  priorities_.find(labels[highest])->second = --below_;
  return Highest(labels);
}

}  // namespace vigil::sim
