// tf.train.replica_device_setter: where the nodes of a replicated model go: variables to the parameter servers in turn,
// all else to the worker.
//
//   VIGIL_ASSIGN_OR_RETURN(DeviceFunction setter, ReplicaDeviceSetter(env, {.cluster = cluster}));
//   DeviceScope scope(builder, setter);
//   ops::MakeVariable(builder, "v", zero);     // /job:ps/task:0
//   ops::MakeVariable(builder, "w", zero);     // /job:ps/task:1
//
// What scopes further in say wins, part by part. A variable that they put into another job takes no turn.
// Thread safety: a setter belongs to one task at a time (it counts turns; its copies share the count).
// Source: device_setter.py.
#ifndef VIGIL_CORE_CLUSTER_DEVICE_SETTER_H_
#define VIGIL_CORE_CLUSTER_DEVICE_SETTER_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/cluster/cluster_spec.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/builder.h"

namespace vigil {

// Variables, hash tables and the like: the ops that go to parameter servers unless others are named.
std::vector<std::string> StandardPsOps();

struct ReplicaDeviceSetterOptions {
  int ps_tasks = 0;                           // how many there are; not looked at if there is a cluster
  std::string ps_device = "/job:ps";          // "" = no parameter servers
  std::string worker_device = "/job:worker";  // "" = wherever
  bool merge_devices = true;                  // false: a node with any device keeps it as it is (deprecated: warns)
  std::optional<ClusterSpec> cluster;         // tells ps_tasks: the number of tasks in the job of ps_device
  std::optional<std::vector<std::string>> ps_ops;  // none: StandardPsOps()
  // The task for a node that goes to the parameter servers. Null: in turn.
  std::function<int(const Node& node)> ps_strategy;
};

// Null if there are no parameter servers: as a scope that hides the ones further out, as tf.device(None).
// Errors: USAGE for negative ps_tasks, and for a ps_device that is no device string (with a cluster here, else when a
// node is placed; worker_device then).
absl::StatusOr<DeviceFunction> ReplicaDeviceSetter(const Env& env, ReplicaDeviceSetterOptions options);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_DEVICE_SETTER_H_
