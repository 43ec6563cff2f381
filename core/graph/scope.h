// Name scopes (tf.name_scope): prefixes of the names of nodes.
// Thread safety: as the graph's.
#ifndef VIGIL_CORE_GRAPH_SCOPE_H_
#define VIGIL_CORE_GRAPH_SCOPE_H_

#include <string>

#include "vigil/core/graph/graph.h"

namespace vigil {

// `wanted`, or with "_1", "_2", ... if nodes of that name, or below it, are in the graph.
std::string UniqueScope(const Graph& graph, const std::string& wanted);

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_SCOPE_H_
