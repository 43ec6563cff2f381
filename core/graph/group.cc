#include "vigil/core/graph/group.h"

#include <set>

namespace vigil {

std::vector<NodeId> NodesOfGroup(const Graph& graph, NodeId node) {
  std::set<NodeId> seen = {node};
  std::vector<NodeId> todo = {node};
  std::set<NodeId> found;
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    const Node& each = graph.node(id);
    if (each.def->compute != nullptr || !each.output_types.empty()) {
      found.insert(id);
      continue;
    }
    for (const NodeId before : each.control_inputs) {
      if (seen.insert(before).second) todo.push_back(before);
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace vigil
