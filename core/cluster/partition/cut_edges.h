// Which edges of a placed graph cross from one task to another, and where in the order they are sent and received.
// See partition.h. Thread safety: pure functions.
#ifndef VIGIL_CORE_CLUSTER_PARTITION_CUT_EDGES_H_
#define VIGIL_CORE_CLUSTER_PARTITION_CUT_EDGES_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "vigil/core/graph/graph.h"
#include "vigil/core/session/plan.h"

namespace vigil {

inline constexpr std::int32_t kControlIndex = -1;

struct CutEdge {
  Output from;  // index kControlIndex: it passes no value
  int to = 0;   // the receiving device
  bool may_be_dead = false;
};

// Indices of edges, by node.
using EdgesByNode = std::vector<std::vector<int>>;

// Whether a node is a step of a plan. Constants (but for those that may be dead) and resources are not, nor is what
// does nothing (NoOp).
bool HasStep(const Node& node, bool may_be_dead);

struct CutEdges {
  std::vector<CutEdge> edges;
  EdgesByNode sends_after;   // sent when that node has run
  EdgesByNode reads_before;  // a variable's value, sent when that node (on the other task) is about to run
  EdgesByNode recvs_before;  // received for that node and those after it
  EdgesByNode controls_of;   // those that the node waits for without a value
  // The nodes with work that a node must run after beside its inputs, on whatever task; ascending.
  std::vector<std::vector<NodeId>> before;

  std::vector<bool> conditional;  // FindConditional
  bool HasStep(const Graph& graph, NodeId id) const {
    return vigil::HasStep(graph.node(id), !conditional.empty() && conditional[static_cast<std::size_t>(id)]);
  }

  // The edge by which `consumer` on `device` gets that value; -1: it comes from its own task.
  int Find(NodeId consumer, Output from, int device) const;

  std::map<std::pair<Output, int>, int> values;    // by source and device
  std::map<std::pair<Output, NodeId>, int> reads;  // of variables, by source and consumer
};

// What a node takes on its task in place of that input: the variable that it reads behind an Identity
// (core/session/read_behind.h), if that is there. A task does not see all that the node waits for: it could not tell.
Output InputOnTask(const Graph& graph, const NeededNodes& found, const std::vector<int>& placed, NodeId id,
                   Output input);

// `placed`: PlaceNodes.
CutEdges FindCutEdges(const Graph& graph, const NeededNodes& found, const std::vector<int>& placed, int devices);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_PARTITION_CUT_EDGES_H_
