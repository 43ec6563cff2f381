// Random jobs for processes of this machine (replays/real): small clusters, quick steps, and such faults alone as these
// can meet, in seconds instead of minutes.
//
// Thread safety: pure function.
#ifndef VIGIL_PROPERTIES_GENERATORS_REAL_JOBS_H_
#define VIGIL_PROPERTIES_GENERATORS_REAL_JOBS_H_

#include <cstdint>

#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

// The same for the same seed and number; how it is played is another way each time. Under Behaviour::Default().
// `kills`: a chief, two workers and two parameter servers, of which one or the other is killed, so many times; 0: what
// the seed says.
replays::Scenario RealJob(std::uint64_t seed, std::int64_t kills = 0);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_REAL_JOBS_H_
