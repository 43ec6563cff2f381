// What of a value is known before anything runs: its shape, and of few integers themselves.
//
// TensorFlow wants to know the shape of a variable from its node; here it follows from the initial value, as far as
// that is made of constants, random numbers and the usual arithmetic. What is not known is nullopt: never a guess.
// Thread safety: pure functions of the graph.
#ifndef VIGIL_CORE_OPS_STATIC_SHAPE_H_
#define VIGIL_CORE_OPS_STATIC_SHAPE_H_

#include <optional>

#include "vigil/core/graph/graph.h"

namespace vigil {

std::optional<Shape> StaticShape(const Graph& graph, Output value);

}  // namespace vigil

#endif  // VIGIL_CORE_OPS_STATIC_SHAPE_H_
