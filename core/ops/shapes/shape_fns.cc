#include "vigil/core/ops/shapes/shape_fns.h"

#include <algorithm>

#include "vigil/core/ops/registration.h"

namespace vigil::shapes {

absl::Status Unchanged(InferenceContext& c) {
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

absl::Status MergedInputs(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape merged, Merge(c.input(0), c.input(1)));
  c.set_output(0, std::move(merged));
  return absl::OkStatus();
}

absl::StatusOr<PartialShape> MergedOfAll(InferenceContext& c) {
  PartialShape all = c.input(c.num_inputs() - 1);
  for (int i = c.num_inputs() - 2; i >= 0; --i) {
    absl::StatusOr<PartialShape> merged = Merge(c.input(i), all);
    if (!merged.ok()) {
      return InvalidArgument("{}\n\tFrom merging shape {} with other shapes.", MessageOf(merged.status()), i);
    }
    all = *std::move(merged);
  }
  return all;
}

absl::Status ScalarShapes(InferenceContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, PartialShape::Scalar());
  return absl::OkStatus();
}

absl::StatusOr<PartialShape> BroadcastShapes(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank()) return PartialShape();
  const PartialShape& longer = a.rank() >= b.rank() ? a : b;
  const PartialShape& shorter = a.rank() >= b.rank() ? b : a;
  PartialShape out = longer;
  for (int i = shorter.rank(); i > 0; --i) {
    const std::int64_t x = a.dim(-i);
    const std::int64_t y = b.dim(-i);
    if (x == 1 || y == 1) {
      out.set_dim(-i, x == 1 ? y : x);
    } else if (x >= 0 && y >= 0) {
      VIGIL_ASSIGN_OR_RETURN(const std::int64_t same, MergeDims(x, y));
      out.set_dim(-i, same);
    } else {  // what is not known may be 1; what is more than that is what comes out
      out.set_dim(-i, std::max(x, y) > 1 ? std::max(x, y) : kUnknownDim);
    }
  }
  return out;
}

absl::Status Broadcast(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape shape, BroadcastShapes(c.input(0), c.input(1)));
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

absl::Status ToldByInput(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape shape, c.ShapeFromInput(0));
  c.set_output(0, std::move(shape));
  return absl::OkStatus();
}

absl::Status RequireRank(InferenceContext& c, int i, int rank) { return WithRank(c.input(i), rank).status(); }

PartialShape WithDim(PartialShape shape, int i, std::int64_t dim) {
  if (shape.has_rank()) shape.set_dim(i, dim);
  return shape;
}

std::int64_t ElementsIn(const PartialShape& shape) {
  if (!shape.has_rank()) return kUnknownDim;
  if (std::ranges::find(shape.dims(), 0) != shape.dims().end()) return 0;
  return shape.num_elements().value_or(kUnknownDim);
}

std::vector<std::int64_t> ValuesOf(const Tensor& tensor) {
  absl::StatusOr<std::vector<std::int64_t>> values = Integers(tensor);
  return values.ok() ? *std::move(values) : std::vector<std::int64_t>();
}

void Register(OpRegistry& registry, std::initializer_list<OpShape> table) {
  for (const OpShape& row : table) registry.Infer(row.op, row.shape_fn);
}

}  // namespace vigil::shapes

namespace vigil {

void RegisterShapeFns(OpRegistry& registry) {
  shapes::RegisterArrayShapes(registry);
  shapes::RegisterJoiningShapes(registry);
  shapes::RegisterLayoutShapes(registry);
  shapes::RegisterMathShapes(registry);
  shapes::RegisterNnShapes(registry);
  shapes::RegisterSlicingShapes(registry);
  shapes::RegisterStateShapes(registry);
  shapes::RegisterDefaultAttrs(registry);
}

}  // namespace vigil
