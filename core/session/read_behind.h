// Which value of a variable a node takes that waits for others.
//
// Thread safety: a pure function.
#ifndef VIGIL_CORE_SESSION_READ_BEHIND_H_
#define VIGIL_CORE_SESSION_READ_BEHIND_H_

#include <algorithm>
#include <vector>

#include "vigil/core/graph/graph.h"

namespace vigil {

// What waits for other nodes takes a variable's value when these are done, even if an Identity has read it before: in
// TensorFlow the Identity is the variable's memory, and tf.control_dependencies([train]) is written for that. Then the
// variable, else `input`. `fed`: ascending.
inline Output ReadBehind(const Graph& graph, const std::vector<Output>& fed, const Node& node, Output input) {
  const auto is_fed = [&fed](Output output) { return std::ranges::binary_search(fed, output); };
  if (node.control_inputs.empty() || is_fed(input)) return input;
  const Node& read = graph.node(input.node);
  if (read.op != "Identity" || !read.control_inputs.empty() || is_fed(read.inputs[0])) return input;
  const Node& variable = graph.node(read.inputs[0].node);
  return variable.def->is_resource && variable.def->read != nullptr ? read.inputs[0] : input;
}

}  // namespace vigil

#endif  // VIGIL_CORE_SESSION_READ_BEHIND_H_
