#include "vigil/core/train/optimizers/graph_names.h"

#include <fmt/format.h>

#include <map>

namespace vigil {
namespace {

bool Taken(const Graph& graph, const std::string& scope) {
  const std::string below = scope + "/";
  for (NodeId id = 0; id < graph.size(); ++id) {
    const std::string& name = graph.node(id).name;
    if (name == scope || name.starts_with(below)) return true;
  }
  return false;
}

}  // namespace

std::string UniqueScope(const Graph& graph, const std::string& wanted) {
  std::string scope = wanted;
  for (int i = 1; Taken(graph, scope); ++i) scope = fmt::format("{}_{}", wanted, i);
  return scope;
}

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
