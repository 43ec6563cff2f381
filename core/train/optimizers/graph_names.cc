#include "vigil/core/train/optimizers/graph_names.h"

#include <map>

namespace vigil {

Output GroupByDevice(Builder& b, const std::string& name, const std::vector<NodeId>& after) {
  if (!b.status().ok()) return {};
  std::map<std::string, std::vector<NodeId>> by_device;
  for (const NodeId node : after) by_device[b.graph().node(node).device].push_back(node);
  if (by_device.size() <= 1) {
    return b.Op("NoOp", {},
                {.name = name, .control_inputs = after, .colocate_with = after.empty() ? kNoNode : after.front()});
  }
  std::vector<NodeId> all;
  for (const auto& [device, nodes] : by_device) {
    all.push_back(
        b.Op("NoOp", {}, {.name = name + "/NoOp", .control_inputs = nodes, .colocate_with = nodes.front()}).node);
  }
  return b.Group(name, all);
}

}  // namespace vigil
