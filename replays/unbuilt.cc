#include "vigil/replays/unbuilt.h"

#include <fmt/format.h>

#include "vigil/replays/unit.h"

namespace vigil::replays {
namespace {

std::string NotBuilt(std::string_view what) { return fmt::format("{} is not built yet", what); }

}  // namespace

std::string WhatIsUnbuilt(const Scenario& scenario) {
  if (scenario.job.has_value()) return NotBuilt("a cluster");
  if (scenario.unit.has_value()) {
    if (FindUnitPlayer(scenario.unit->unit) != nullptr) return "";
    return NotBuilt(fmt::format("unit \"{}\"", scenario.unit->unit));
  }
  return "";
}

}  // namespace vigil::replays
