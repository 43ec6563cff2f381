#include "vigil/core/base/planted.h"

#ifdef VIGIL_PLANTED_BUGS

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>

namespace vigil {
namespace {

// The one state of a process in core, of dev builds only: a bug has no options through which to reach it.
constinit std::array<std::atomic<bool>, std::size(kPlantedBugs)> planted_on{};

}  // namespace

bool PlantedBugIsOn(std::size_t number) { return planted_on[number].load(std::memory_order_relaxed); }

bool TurnOnPlantedBug(std::string_view id) {
  const auto found = std::find(std::begin(kPlantedBugs), std::end(kPlantedBugs), id);
  if (found == std::end(kPlantedBugs)) return false;
  planted_on[static_cast<std::size_t>(found - std::begin(kPlantedBugs))].store(true);
  return true;
}

void TurnOffPlantedBugs() {
  for (std::atomic<bool>& on : planted_on) on.store(false);
}

}  // namespace vigil

#endif  // VIGIL_PLANTED_BUGS
