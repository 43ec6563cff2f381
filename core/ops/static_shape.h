// The shape that a value is known to have before anything runs: what the graph has inferred (Graph::ShapeOf), if it is
// fully known; of a variable, or a handle of one, that of what it holds.
//
// TensorFlow wants to know the shape of a variable from its node; here it follows from the initial value. What is not
// known is nullopt: never a guess.
// Thread safety: pure functions of the graph.
#ifndef VIGIL_CORE_OPS_STATIC_SHAPE_H_
#define VIGIL_CORE_OPS_STATIC_SHAPE_H_

#include <optional>

#include "vigil/core/graph/graph.h"

namespace vigil {

std::optional<Shape> StaticShape(const Graph& graph, Output value);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_STATIC_SHAPE_H_
