// The checkpoints that a job has left, as the disk that the nodes share has them: no fault strikes who looks.
//
// Thread safety: of those of a world none, its tasks take turns; of the others that of the files. Changes nothing, and
// takes no time of a world.
#ifndef VIGIL_SIM_CLUSTER_WHOLE_CHECKPOINTS_H_
#define VIGIL_SIM_CLUSTER_WHOLE_CHECKPOINTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "vigil/core/env/files.h"
#include "vigil/sim/cluster/chronicle.h"
#include "vigil/sim/world.h"

namespace vigil::sim {

// Those that have an index, by their steps, in order.
IndexedCheckpoints LookAtCheckpoints(Files& files, const std::string& folder);
IndexedCheckpoints LookAtCheckpoints(World& world);

// The steps of those of which there is data, but no index.
std::vector<std::int64_t> HalfDeletedCheckpoints(Files& files, const std::string& folder);
std::vector<std::int64_t> HalfDeletedCheckpoints(World& world);

// The steps of those in whose files a fault has flipped a bit, be they there or not.
std::set<std::int64_t> RottenCheckpoints(World& world);

// The same of the file that says which checkpoints there are.
bool StateFileHasRotted(World& world);
// Which ones it named as the newest, wrongly or not, after a bit of it had flipped.
std::set<std::int64_t> NamedByRottenStateFile(World& world);

// How often parameter servers have read a bit that a fault has flipped in the data of the checkpoint of that step, or
// found that one of its files was lost.
std::int64_t DamageMet(World& world, std::int64_t step);

// The loss of the parameters in the one of that step, if it is one of a regression. `seed`: of the job's data.
std::optional<double> LossInCheckpoint(Files& files, const std::string& folder, std::int64_t step, std::uint64_t seed);
std::optional<double> LossInCheckpoint(World& world, std::int64_t step, std::uint64_t seed);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_WHOLE_CHECKPOINTS_H_
