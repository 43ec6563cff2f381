// Random scenarios of monitored and singular sessions with probe hooks: faults at every seam that these sessions reach,
// what hooks and callers do, checkpoints and inputs.
//
// A scenario depends on its seed alone, on every machine. A swarm: the seed also draws which kinds of things may happen
// at all, so that rare mixtures are not drowned. No scenario runs for ever: what fails with a preemption fails a
// bounded number of times.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_GENERATORS_SCENARIOS_H_
#define VIGIL_PROPERTIES_GENERATORS_SCENARIOS_H_

#include <cstdint>

#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

// Its id is "random_<seed>", its seed (of the schedule) the same.
replays::Scenario RandomScenario(std::uint64_t seed);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_SCENARIOS_H_
