// What a group (tf.group: a node without work that waits for others) stands for.
// Thread safety: pure functions. Source: control_flow_ops.py (group).
#ifndef VIGIL_CORE_GRAPH_GROUP_H_
#define VIGIL_CORE_GRAPH_GROUP_H_

#include <vector>

#include "vigil/core/graph/graph.h"

namespace vigil {

// Whether a run of it does something: a group, and any other NoOp, only waits.
bool HasWork(const Node& node);

// The nodes with work that `node` waits for, through groups of groups, ascending; itself if it is no group.
std::vector<NodeId> NodesOfGroup(const Graph& graph, NodeId node);

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_GROUP_H_
