// The checkpoints that a job has left, as the disk that the nodes share has them: no fault strikes who looks.
//
// Thread safety: none; tasks of one world take turns. Changes nothing and takes no time.
#ifndef VIGIL_SIM_CLUSTER_WHOLE_CHECKPOINTS_H_
#define VIGIL_SIM_CLUSTER_WHOLE_CHECKPOINTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "vigil/sim/world.h"

namespace vigil::sim {

// The steps of those that are whole, in order.
std::vector<std::int64_t> WholeCheckpoints(World& world);

// The steps of those of which there is data, but no index.
std::vector<std::int64_t> HalfDeletedCheckpoints(World& world);

// The steps of those in whose files a fault has flipped a bit, be they there or not.
std::set<std::int64_t> RottenCheckpoints(World& world);

// The same of the file that says which checkpoints there are.
bool StateFileHasRotted(World& world);

// The loss of the parameters in the one of that step, if it is one of a regression. `seed`: of the job's data.
std::optional<double> LossInCheckpoint(World& world, std::int64_t step, std::uint64_t seed);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_WHOLE_CHECKPOINTS_H_
