#include "vigil/replays/unbuilt.h"

#include <fmt/format.h>

#include "vigil/replays/unit.h"

namespace vigil::replays {
namespace {

std::string NotBuilt(std::string_view what) { return fmt::format("{} is not built yet", what); }

}  // namespace

std::string WhatIsUnbuilt(const Scenario& scenario) {
  if (!scenario.unbuilt.empty()) return NotBuilt(fmt::format("field \"{}\"", scenario.unbuilt.front()));
  if (scenario.unit.has_value()) {
    if (FindUnitPlayer(scenario.unit->unit) != nullptr) return "";
    return NotBuilt(fmt::format("unit \"{}\"", scenario.unit->unit));
  }
  switch (scenario.session.kind) {
    case SessionKind::kMonitored:
    case SessionKind::kSingular:
      break;
    case SessionKind::kTraining:
      return NotBuilt("session kind \"training\"");
    case SessionKind::kSupervisor:
      return NotBuilt("session kind \"supervisor\"");
  }
  if (scenario.session.shared_state) return NotBuilt("session \"shared_state\"");
  for (const Fault& fault : scenario.faults) {
    if (fault.at == FaultPoint::kSleep) return NotBuilt("fault at \"sleep\"");
    if (fault.chief_init.has_value()) return NotBuilt("fault \"chief_init\"");
  }
  return "";
}

}  // namespace vigil::replays
