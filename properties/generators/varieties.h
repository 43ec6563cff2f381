// What random scenarios have besides probes and faults: the library's own hooks, training sessions and supervisors,
// options and nested fetches, whatever else a one-session scenario can say. Each draws from its own named stream: what
// one draws moves no other.
//
// A scenario that gets nothing here is as it was. Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_GENERATORS_VARIETIES_H_
#define VIGIL_PROPERTIES_GENERATORS_VARIETIES_H_

#include "vigil/properties/generators/draws.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

// Adds to a monitored or singular session with probes, or turns it into one of the other kinds. `draws`: the
// scenario's.
void AddVarieties(const Draws& draws, replays::Scenario& scenario);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_VARIETIES_H_
