// What optimizers share in building graphs: groups as TensorFlow makes them (and name scopes, scope.h).
// Thread safety: as the graph's.
#ifndef VIGIL_CORE_TRAIN_OPTIMIZERS_GRAPH_NAMES_H_
#define VIGIL_CORE_TRAIN_OPTIMIZERS_GRAPH_NAMES_H_

#include <string>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/scope.h"  // IWYU pragma: export

namespace vigil {

// A node that runs after those (tf.group): where they are if they are all on one device; else where the builder puts
// it, behind one node for each device ("<name>/NoOp"), so that each device sends one signal.
Output GroupByDevice(Builder& b, const std::string& name, const std::vector<NodeId>& after);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_OPTIMIZERS_GRAPH_NAMES_H_
