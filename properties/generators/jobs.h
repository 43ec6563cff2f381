// Random jobs: clusters, workloads, timing and faults from a seed.
//
// A swarm: the seed also draws which kinds of faults exist at all, so that many runs have few kinds and some have all.
// The faults fall within a phase; then everything heals, and the job must get on. In a few jobs they are aimed at one
// another (situations.h).
// Thread safety: pure function.
#ifndef VIGIL_PROPERTIES_GENERATORS_JOBS_H_
#define VIGIL_PROPERTIES_GENERATORS_JOBS_H_

#include <cstdint>

#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

// The same for the same seed. Under Behaviour::Default(); with a random schedule from the scenario's seed it is a whole
// run.
replays::Scenario RandomJob(std::uint64_t seed);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_JOBS_H_
