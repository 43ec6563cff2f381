// Which task of which cluster a workload's graph is built for, and the device setter that goes with it.
// A plain value.
#ifndef VIGIL_SIM_WORKLOADS_REPLICA_H_
#define VIGIL_SIM_WORKLOADS_REPLICA_H_

#include <string>

#include "absl/status/statusor.h"
#include "vigil/core/cluster/cluster_spec.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/builder.h"

namespace vigil::sim {

struct Replica {
  ClusterSpec cluster = {};  // empty: no cluster, no devices
  std::string job = {};
  int task = 0;
  std::string works_at = {};  // of a client that has no server: the device of its master

  bool IsChief() const { return cluster.empty() || job == "chief"; }
  std::string Device() const;  // "/job:chief/task:0", of all but its variables; "" without a cluster
};

// Variables in turn to the parameter servers, all else to the replica; null without a cluster.
absl::StatusOr<DeviceFunction> DevicesFor(const Env& env, const Replica& replica);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_WORKLOADS_REPLICA_H_
