// On which of a session's devices each needed node runs. See partition.h.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_CLUSTER_PARTITION_PLACEMENT_H_
#define VIGIL_CORE_CLUSTER_PARTITION_PLACEMENT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/cluster/partition/partition.h"
#include "vigil/core/graph/graph.h"

namespace vigil {

// By node: an index into `devices`, -1 for what is not needed. Errors: see PartitionGraph.
absl::StatusOr<std::vector<int>> PlaceNodes(const Graph& graph, const std::vector<bool>& needed,
                                            const std::vector<TaskDevice>& devices, int own);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_PARTITION_PLACEMENT_H_
