#include "vigil/properties/planted/registry.h"

#include <algorithm>

namespace vigil::properties {

std::vector<const PlantedBug*> BugsThatMustBeFoundBy(std::string_view rule) {
  std::vector<const PlantedBug*> found;
  for (const PlantedBug& bug : PlantedBugs()) {
    if (std::ranges::count(bug.Rules(), rule) > 0) found.push_back(&bug);
  }
  return found;
}

std::vector<std::string_view> PlantedBug::Rules() const {
  std::vector<std::string_view> out;
  for (std::string_view rest = rules; !rest.empty();) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    out.push_back(rest.substr(0, space));
    rest.remove_prefix(std::min(space + 1, rest.size()));
  }
  return out;
}

std::string PlantedBug::NeedsText() const {
  std::string text;
  const auto add = [&](unsigned need, std::string_view name) {
    if ((needs & need) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(kNeedsRecovery, "recovery");
  add(kNeedsTwoFaults, "two faults");
  add(kNeedsCluster, "cluster");
  return text;
}

}  // namespace vigil::properties
