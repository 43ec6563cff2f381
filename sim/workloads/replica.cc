#include "vigil/sim/workloads/replica.h"

#include <fmt/format.h>

#include "vigil/core/cluster/device_setter.h"

namespace vigil::sim {

std::string Replica::Device() const {
  if (!works_at.empty()) return works_at;
  return cluster.empty() ? std::string() : fmt::format("/job:{}/task:{}", job, task);
}

absl::StatusOr<DeviceFunction> DevicesFor(const Env& env, const Replica& replica) {
  if (replica.cluster.empty()) return DeviceFunction();
  return ReplicaDeviceSetter(env, {.worker_device = replica.Device(), .cluster = replica.cluster});
}

}  // namespace vigil::sim
