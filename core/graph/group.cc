#include "vigil/core/graph/group.h"

#include <set>

namespace vigil {

bool HasWork(const Node& node) { return node.def->compute != nullptr || !node.output_types.empty(); }

std::vector<NodeId> NodesOfGroup(const Graph& graph, NodeId node) {
  std::set<NodeId> seen = {node};
  std::vector<NodeId> todo = {node};
  std::set<NodeId> found;
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    const Node& each = graph.node(id);
    if (HasWork(each)) {
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
