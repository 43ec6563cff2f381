#include "vigil/core/ops/static_shape.h"

#include "vigil/core/tensor/partial_shape.h"

namespace vigil {

std::optional<Shape> StaticShape(const Graph& graph, Output value) {
  if (!graph.Has(value)) return std::nullopt;
  const Node& node = graph.node(value.node);
  if (node.refers_to == kNoNode) return graph.ShapeOf(value).ToShape();
  // A variable, or what passes it on: what it holds.
  return DeclaredShape(graph.node(node.refers_to)).ToShape();
}

}  // namespace vigil
