// The checkpoints of a job that are whole, as the disk that the nodes share has them: no fault strikes who looks.
//
// Thread safety: none; tasks of one world take turns. Changes nothing and takes no time.
#ifndef VIGIL_SIM_CLUSTER_WHOLE_CHECKPOINTS_H_
#define VIGIL_SIM_CLUSTER_WHOLE_CHECKPOINTS_H_

#include <cstdint>
#include <vector>

#include "vigil/sim/world.h"

namespace vigil::sim {

// Their steps, in order.
std::vector<std::int64_t> WholeCheckpoints(World& world);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_WHOLE_CHECKPOINTS_H_
