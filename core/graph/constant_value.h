// Values that are known before a run: of constants, of shapes that are known, and of what follows from both.
// Thread safety: pure functions of the graph.
// Source: TensorFlow's eval_const_tensor.h and shape_refiner.h.
#ifndef VIGIL_CORE_GRAPH_CONSTANT_VALUE_H_
#define VIGIL_CORE_GRAPH_CONSTANT_VALUE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/tensor/partial_shape.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// The value, if it is made of constants alone; nullopt: not known. Kernels without state are run for it, so a value is
// only looked for where it is needed. REQUIRES: graph.Has(value).
std::optional<Tensor> ConstantValue(const Graph& graph, Output value);

// The shape that the elements of a vector spell out, -1 for a dimension that is not known, as far as they are known.
// INVALID_ARGUMENT, in TensorFlow's words, for a constant that spells out none. REQUIRES: as above.
absl::StatusOr<PartialShape> ConstantAsShape(const Graph& graph, Output value);

// The same of a tensor of that shape whose value may be known.
absl::StatusOr<PartialShape> ShapeFromTensor(const Tensor* value, const PartialShape& shape);

}  // namespace vigil

#endif  // VIGIL_CORE_GRAPH_CONSTANT_VALUE_H_
