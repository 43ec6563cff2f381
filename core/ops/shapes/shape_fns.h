// Shape functions that many ops share, and the tables of those that one op has: a file for each kind of op.
//
// A function says what TensorFlow's of that op says, in shapes and in words; what is not known stays unknown. It never
// says more than the kernel keeps.
// Thread safety: pure functions of the context.
// Source: TensorFlow's common_shape_fns.h and the shape functions in its op definitions.
#ifndef VIGIL_CORE_OPS_SHAPES_SHAPE_FNS_H_
#define VIGIL_CORE_OPS_SHAPES_SHAPE_FNS_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/inference_context.h"
#include "vigil/core/graph/op.h"
#include "vigil/core/graph/shape_checks.h"
#include "vigil/core/ops/op_util.h"

namespace vigil::shapes {

inline constexpr std::int64_t kUnknownDim = PartialShape::kUnknownDim;

// Output 0 has the shape of input 0.
absl::Status Unchanged(InferenceContext& c);
// ... which has that rank.
template <int kRank>
absl::Status UnchangedWithRank(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape shape, WithRank(c.input(0), kRank));
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}
// ... at least that rank.
template <int kRank>
absl::Status UnchangedWithRankAtLeast(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape shape, WithRankAtLeast(c.input(0), kRank));
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}
// Inputs 0 and 1 have one shape, which is the output's.
absl::Status MergedInputs(InferenceContext& c);
// The one shape of all inputs.
absl::StatusOr<PartialShape> MergedOfAll(InferenceContext& c);
// Every output is a scalar.
absl::Status ScalarShapes(InferenceContext& c);
// Inputs 0 and 1 are broadcast.
absl::Status Broadcast(InferenceContext& c);
// The elements of input 0 are the output's dimensions.
absl::Status ToldByInput(InferenceContext& c);
// Input i has that rank.
absl::Status RequireRank(InferenceContext& c, int i, int rank);

absl::StatusOr<PartialShape> BroadcastShapes(const PartialShape& a, const PartialShape& b);

// An axis that may count from the end, as a place. REQUIRES: -rank <= axis < rank.
inline int FromFront(std::int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }
// The least rank that has such an axis, counted from either end. What is far beyond any rank may stand for another
// such.
inline std::int64_t RankWithAxis(std::int64_t axis) {
  static constexpr std::int64_t kBeyond = std::int64_t{1} << 40;
  return axis < 0 ? -std::max(axis, -kBeyond) : std::min(axis, kBeyond) + 1;
}
// Dimension i of a shape of which perhaps not even the rank is known; negative ones count from the end.
inline std::int64_t DimOf(const PartialShape& shape, int i) { return shape.has_rank() ? shape.dim(i) : kUnknownDim; }
// The shape without a rank if it has none, else one with another dimension i.
PartialShape WithDim(PartialShape shape, int i, std::int64_t dim);
// How many elements; one dimension of none is enough to say 0. kUnknownDim: not known.
std::int64_t ElementsIn(const PartialShape& shape);
// The elements of an int32 or int64 tensor.
std::vector<std::int64_t> ValuesOf(const Tensor& tensor);

// A row of a table.
struct OpShape {
  std::string_view op;
  absl::Status (*shape_fn)(InferenceContext&);
};
void Register(OpRegistry& registry, std::initializer_list<OpShape> table);

void RegisterArrayShapes(OpRegistry& registry);    // array_shapes.cc
void RegisterJoiningShapes(OpRegistry& registry);  // joining_shapes.cc
void RegisterLayoutShapes(OpRegistry& registry);   // layout_shapes.cc
void RegisterMathShapes(OpRegistry& registry);     // math_shapes.cc
void RegisterNnShapes(OpRegistry& registry);       // nn_shapes.cc
void RegisterSlicingShapes(OpRegistry& registry);  // slicing_shapes.cc
void RegisterStateShapes(OpRegistry& registry);    // state_shapes.cc
void RegisterDefaultAttrs(OpRegistry& registry);   // default_attrs.cc

}  // namespace vigil::shapes

#endif  // VIGIL_CORE_OPS_SHAPES_SHAPE_FNS_H_
