// Shape functions of ops that lay elements out anew: transposed, repeated, padded.
#include <vector>

#include "vigil/core/ops/shapes/shape_fns.h"

namespace vigil::shapes {
namespace {

absl::Status TransposeShape(InferenceContext& c) {
  PartialShape in = c.input(0);
  const std::int64_t entries = ElementsIn(c.input(1));
  const Tensor* const perm = c.constant(1);
  if (!in.has_rank() && entries < 0 && perm == nullptr) return absl::OkStatus();
  const std::int64_t wanted = in.has_rank() ? in.rank() : entries >= 0 ? entries : perm->num_elements();
  if (!in.has_rank() && wanted < 2) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(in, WithRank(in, wanted));
  const int rank = in.rank();
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 1, 1));
  VIGIL_RETURN_IF_ERROR(WithValue(entries, rank).status());
  PartialShape out = PartialShape::OfRank(rank);
  if (perm != nullptr) {
    const std::vector<std::int64_t> from = ValuesOf(*perm);
    for (int i = 0; i < rank; ++i) {
      const std::int64_t at = from[static_cast<std::size_t>(i)];
      if (at >= rank || at < -rank) {
        return InvalidArgument("perm dim {} is out of range of input rank {}", at, rank);
      }
      out.set_dim(i, in.dim(static_cast<int>(at)));
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status TileShape(InferenceContext& c) {
  PartialShape in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(PartialShape multiples, c.ShapeFromInput(1));
  if (in.has_rank()) {
    VIGIL_ASSIGN_OR_RETURN(multiples, WithRank(multiples, in.rank()));
    VIGIL_RETURN_IF_ERROR(Merge(c.input(1), {in.rank()}).status());
  }
  if (!multiples.has_rank()) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(in, WithRank(in, multiples.rank()));
  for (int i = 0; i < in.rank(); ++i) {
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t dim, MultiplyDims(in.dim(i), multiples.dim(i)));
    in.set_dim(i, dim);
  }
  c.set_output(0, std::move(in));
  return absl::OkStatus();
}

absl::Status PadShape(InferenceContext& c) {
  PartialShape in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const PartialShape paddings, WithRank(c.input(1), 2));
  VIGIL_RETURN_IF_ERROR(WithValue(paddings.dim(1), 2).status());
  const std::int64_t rank = paddings.dim(0);
  if (rank >= 0) {
    VIGIL_ASSIGN_OR_RETURN(in, WithRank(in, rank));
  } else if (in.has_rank()) {
    VIGIL_RETURN_IF_ERROR(WithValue(rank, in.rank()).status());
  }
  const Tensor* const value = c.constant(1);
  if (value == nullptr) {
    if (in.has_rank()) c.set_output(0, PartialShape::OfRank(in.rank()));
    return absl::OkStatus();
  }
  const std::vector<std::int64_t> widths = ValuesOf(*value);
  VIGIL_ASSIGN_OR_RETURN(in, WithRank(in, static_cast<std::int64_t>(widths.size() / 2)));
  for (int i = 0; i < in.rank(); ++i) {
    const std::int64_t before = widths[static_cast<std::size_t>(2 * i)];
    const std::int64_t after = widths[static_cast<std::size_t>(2 * i + 1)];
    if (before < 0 || after < 0) return InvalidArgument("Paddings must be non-negative");
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t more, AddDims(before, after));
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t dim, AddDims(in.dim(i), more));
    in.set_dim(i, dim);
  }
  c.set_output(0, std::move(in));
  return absl::OkStatus();
}

absl::Status OneHotShape(InferenceContext& c) {
  const auto axis = c.attr_or<std::int64_t>("axis", -1);
  if (axis < -1) return InvalidArgument("axis must be >= -1");
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 1, 0));
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::int64_t> given, c.Integer(1));
  const std::int64_t depth = given.value_or(kUnknownDim);
  if (given.has_value() && depth < 0) {
    return InvalidArgument("Dimension size, given by scalar input {}, must be non-negative but is {}", 1, depth);
  }
  const PartialShape& indices = c.input(0);
  if (!indices.has_rank()) return absl::OkStatus();
  VIGIL_RETURN_IF_ERROR(WithRankAtLeast(indices, axis).status());
  std::vector<std::int64_t> dims = indices.dims();
  dims.insert(axis < 0 ? dims.end() : dims.begin() + axis, depth);
  c.set_output(0, PartialShape(std::move(dims)));
  return absl::OkStatus();
}

}  // namespace

void RegisterLayoutShapes(OpRegistry& registry) {
  Register(registry, {{"Transpose", TransposeShape}, {"Tile", TileShape}, {"Pad", PadShape}, {"OneHot", OneHotShape}});
}

}  // namespace vigil::shapes
