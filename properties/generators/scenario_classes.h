// What kinds of things a scenario has: for asserting that a generator still draws all of them.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_GENERATORS_SCENARIO_CLASSES_H_
#define VIGIL_PROPERTIES_GENERATORS_SCENARIO_CLASSES_H_

#include <set>
#include <string>

#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

// "session training", "hook checkpoint_saver", "action report", "fault restore", "statement step", "behaviour default",
// "worker", "listener", "options", ... Names are those of the scenario file.
std::set<std::string> ClassesOf(const replays::Scenario& scenario);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_SCENARIO_CLASSES_H_
