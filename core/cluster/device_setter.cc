#include "vigil/core/cluster/device_setter.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/device_spec.h"

namespace vigil {
namespace {

// ps_tasks as the cluster has it; 0 if it has no such job.
absl::StatusOr<int> CountPsTasks(const ReplicaDeviceSetterOptions& options) {
  if (!options.cluster.has_value()) return options.ps_tasks;
  VIGIL_ASSIGN_OR_RETURN(const DeviceSpec ps, DeviceSpec::Parse(options.ps_device));
  if (!ps.job.has_value()) return 0;
  const absl::StatusOr<int> tasks = options.cluster->num_tasks(*ps.job);
  return tasks.ok() ? *tasks : 0;
}

absl::StatusOr<std::string> Place(const ReplicaDeviceSetterOptions& options, const Node& node) {
  if (!options.merge_devices && !node.device.empty()) return node.device;
  VIGIL_ASSIGN_OR_RETURN(const DeviceSpec current, DeviceSpec::Parse(node.device));
  const std::vector<std::string>& ps_ops = *options.ps_ops;
  if (options.ps_device.empty() || std::ranges::find(ps_ops, node.op) == ps_ops.end()) {
    VIGIL_ASSIGN_OR_RETURN(const DeviceSpec worker, DeviceSpec::Parse(options.worker_device));
    return worker.MergedWith(current).ToString();
  }
  VIGIL_ASSIGN_OR_RETURN(DeviceSpec ps, DeviceSpec::Parse(options.ps_device));
  const std::string job = ps.job.value_or("");
  const std::string current_job = current.job.value_or("");
  // Only a node that stays in the job takes a turn.
  if (!job.empty() && (current_job.empty() || current_job == job)) ps.task = options.ps_strategy(node);
  return ps.MergedWith(current).ToString();
}

}  // namespace

std::vector<std::string> StandardPsOps() {
  return {"Variable",
          "VariableV2",
          "AutoReloadVariable",
          "MutableHashTable",
          "MutableHashTableV2",
          "MutableHashTableOfTensors",
          "MutableHashTableOfTensorsV2",
          "MutableDenseHashTable",
          "MutableDenseHashTableV2",
          "VarHandleOp",
          "BoostedTreesEnsembleResourceHandleOp",
          "BoostedTreesQuantileStreamResourceHandleOp",
          "ResourceConditionalAccumulator",
          "DecisionTreeResource"};
}

absl::StatusOr<DeviceFunction> ReplicaDeviceSetter(const Env& env, ReplicaDeviceSetterOptions options) {
  VIGIL_ASSIGN_OR_RETURN(const int ps_tasks, CountPsTasks(options));
  if (ps_tasks < 0) return UsageError(fmt::format("ps_tasks must not be negative, but is {}.", ps_tasks));
  if (ps_tasks == 0) return DeviceFunction();
  if (!options.merge_devices) {
    env.log->Write(Severity::kWarning,
                   "DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter");
  }
  if (!options.ps_ops.has_value()) options.ps_ops = StandardPsOps();
  if (options.ps_strategy == nullptr) {
    options.ps_strategy = [ps_tasks, next = std::make_shared<int>(0)](const Node&) {
      const int task = *next;
      *next = (task + 1) % ps_tasks;
      return task;
    };
  }
  return DeviceFunction([options = std::move(options)](const Node& node) { return Place(options, node); });
}

}  // namespace vigil
