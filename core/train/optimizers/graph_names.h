// What optimizers share in building graphs: name scopes and groups as TensorFlow makes them.
// Thread safety: as the graph's.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_GRAPH_NAMES_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_GRAPH_NAMES_H_

#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"

namespace vigil {

// `wanted`, or with "_1", "_2", ... if nodes of that name, or below it, are in the graph.
std::string UniqueScope(const Graph& graph, const std::string& wanted);

// A node that runs after those (tf.group): where they are if they are all on one device; else where the builder puts
// it, behind one node for each device ("<name>/NoOp"), so that each device sends one signal.
Output GroupByDevice(Builder& b, const std::string& name, const std::vector<NodeId>& after);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_GRAPH_NAMES_H_
