#include "vigil/core/cluster/partition/placement.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/device_spec.h"

namespace vigil {
namespace {

bool Fits(const DeviceSpec& wanted, const TaskDevice& device) {
  return (!wanted.job.has_value() || *wanted.job == device.job) && wanted.replica.value_or(0) == 0 &&
         wanted.task.value_or(device.task) == device.task && wanted.device_type.value_or("CPU") == "CPU" &&
         wanted.device_index.value_or(0) == 0;
}

int FirstThatFits(const std::vector<TaskDevice>& devices, int own, const DeviceSpec& wanted) {
  if (Fits(wanted, devices[static_cast<std::size_t>(own)])) return own;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (Fits(wanted, devices[i])) return static_cast<int>(i);
  }
  return -1;
}

absl::StatusOr<int> Place(const Node& node, const std::vector<TaskDevice>& devices, int own) {
  if (node.device.empty()) return own;
  VIGIL_ASSIGN_OR_RETURN(const DeviceSpec wanted, DeviceSpec::Parse(node.device));
  const int found = FirstThatFits(devices, own, wanted);
  if (found >= 0) return found;
  std::vector<std::string> names;
  for (const TaskDevice& device : devices) names.push_back(device.device_name());
  return MakeStatus(
      Code::kInvalidArgument,
      fmt::format(
          "Cannot assign a device for operation {}: {{{{node {}}}}} was explicitly assigned to {} but available "
          "devices are [ {} ]. Make sure the device specification refers to a valid device.",
          node.name, node.name, node.device, fmt::join(names, ", ")));
}

}  // namespace

std::string TaskDevice::task_name() const { return fmt::format("/job:{}/replica:0/task:{}", job, task); }
std::string TaskDevice::device_name() const { return task_name() + "/device:CPU:0"; }

int FindDevice(const std::vector<TaskDevice>& devices, int own, const std::string& device) {
  const absl::StatusOr<DeviceSpec> wanted = DeviceSpec::Parse(device);
  return wanted.ok() ? FirstThatFits(devices, own, *wanted) : -1;
}

absl::StatusOr<std::vector<int>> PlaceNodes(const Graph& graph, const std::vector<bool>& needed,
                                            const std::vector<TaskDevice>& devices, int own) {
  std::vector<int> placed(needed.size(), -1);
  std::map<std::string_view, int> known;  // where a device string leads
  for (NodeId id = 0; id < graph.size(); ++id) {
    const auto at = static_cast<std::size_t>(id);
    if (!needed[at]) continue;
    const Node& node = graph.node(id);
    int beside = -1;
    for (int i = 0; i < static_cast<int>(node.inputs.size()); ++i) {
      if (!node.TakesReference(i)) continue;
      const int there = placed[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(i)].node)];
      if (beside >= 0 && there >= 0 && there != beside) {
        return MakeStatus(Code::kInvalidArgument,
                          fmt::format("Cannot colocate '{}' with all of its references: they are on {} and {}.",
                                      node.name, devices[static_cast<std::size_t>(beside)].device_name(),
                                      devices[static_cast<std::size_t>(there)].device_name()));
      }
      if (there >= 0) beside = there;
    }
    if (beside >= 0) {
      placed[at] = beside;
      continue;
    }
    const auto [it, added] = known.try_emplace(node.device, -1);
    if (added) {
      VIGIL_ASSIGN_OR_RETURN(it->second, Place(node, devices, own));
    }
    placed[at] = it->second;
  }
  return placed;
}

}  // namespace vigil
