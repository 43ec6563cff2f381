// Shape functions of ops that bring several tensors together, and of those that take them apart again.
#include <algorithm>
#include <vector>

#include "vigil/core/ops/shapes/shape_fns.h"

namespace vigil::shapes {
namespace {

// The part of a shape before an axis, and after it; either is unknown with it.
absl::StatusOr<PartialShape> Before(const PartialShape& shape, int axis) { return Subshape(shape, 0, axis); }
absl::StatusOr<PartialShape> After(const PartialShape& shape, int axis) {
  if (axis == -1) return PartialShape::Scalar();
  return Subshape(shape, axis + 1, shape.has_rank() ? shape.rank() : 0);
}

// Where the axis is not known: as many dimensions as the first input that says so.
absl::Status ConcatOfUnknownAxis(InferenceContext& c, int n) {
  int i = 0;
  while (i < n && !c.input(i).has_rank()) ++i;
  if (i == n) return absl::OkStatus();
  const int rank = c.input(i).rank();
  if (rank == 0) return InvalidArgument("Can't concatenate scalars (use tf.stack instead)");
  for (int other = 0; other < n; ++other) VIGIL_RETURN_IF_ERROR(RequireRank(c, other, rank));
  c.set_output(0, PartialShape::OfRank(rank));
  return absl::OkStatus();
}

absl::Status ConcatShape(InferenceContext& c) {
  const int n = c.num_inputs() - 1;
  VIGIL_RETURN_IF_ERROR(RequireRank(c, n, 0));
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::int64_t> given, c.Integer(n));
  if (!given.has_value()) return ConcatOfUnknownAxis(c, n);
  const std::int64_t least_rank = RankWithAxis(*given);
  const int axis = static_cast<int>(*given);  // of no use unless an input can have that rank
  PartialShape before, after;
  std::int64_t length = 0;
  for (int i = n - 1; i >= 0; --i) {
    VIGIL_ASSIGN_OR_RETURN(const PartialShape here, WithRankAtLeast(c.input(i), least_rank));
    VIGIL_ASSIGN_OR_RETURN(const PartialShape head, Before(here, axis));
    VIGIL_ASSIGN_OR_RETURN(const PartialShape tail, After(here, axis));
    const std::int64_t dim = DimOf(here, axis);
    if (i == n - 1) {
      before = head;
      after = tail;
      length = dim;
      continue;
    }
    VIGIL_ASSIGN_OR_RETURN(before, Merge(head, before));
    VIGIL_ASSIGN_OR_RETURN(length, AddDims(length, dim));
    VIGIL_ASSIGN_OR_RETURN(after, Merge(tail, after));
  }
  c.set_output(0, Concatenate(Concatenate(before, {length}), after));
  return absl::OkStatus();
}

absl::StatusOr<int> PackAxis(InferenceContext& c, int rank_packed) {
  const auto axis = c.attr_or<std::int64_t>("axis", 0);
  if (axis >= -rank_packed && axis < rank_packed) return FromFront(axis, rank_packed);
  return InvalidArgument("Invalid axis: {}; must be in [{},{})", axis, -rank_packed, rank_packed);
}

absl::Status PackShape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const PartialShape all, MergedOfAll(c));
  if (!all.has_rank()) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const int axis, PackAxis(c, all.rank() + 1));
  std::vector<std::int64_t> dims = all.dims();
  dims.insert(dims.begin() + axis, c.num_inputs());
  c.set_output(0, PartialShape(std::move(dims)));
  return absl::OkStatus();
}

absl::Status UnpackShape(InferenceContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const int axis, PackAxis(c, in.rank()));
  VIGIL_RETURN_IF_ERROR(WithValue(in.dim(axis), c.num_outputs()).status());
  std::vector<std::int64_t> dims = in.dims();
  dims.erase(dims.begin() + axis);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, PartialShape(dims));
  return absl::OkStatus();
}

absl::Status ConcatOffsetShape(InferenceContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) c.set_output(i - 1, c.input(i));
  return absl::OkStatus();
}

absl::Status SwitchShape(InferenceContext& c) {
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 1, 0));
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(0));
  return absl::OkStatus();
}

// What holds whichever input lives.
absl::Status MergeShape(InferenceContext& c) {
  PartialShape out = c.input(0);
  for (int i = 1; i < c.num_inputs() && out.has_rank(); ++i) {
    const PartialShape& other = c.input(i);
    if (!other.has_rank() || other.rank() != out.rank()) {
      out = PartialShape();
      break;
    }
    for (int d = 0; d < out.rank(); ++d) {
      if (out.dim(d) != other.dim(d)) out.set_dim(d, kUnknownDim);
    }
  }
  c.set_output(0, std::move(out));
  c.set_output(1, PartialShape::Scalar());
  return absl::OkStatus();
}

// The rows go where the indices say: each of data[i] has the shape of indices[i], and behind it what all rows have.
absl::Status DynamicStitchShape(InferenceContext& c) {
  const int n = c.num_inputs() / 2;
  PartialShape row;
  std::int64_t most = -1;
  bool all_known = true;
  for (int i = 0; i < n; ++i) {
    const Tensor* const indices = c.constant(i);
    if (indices == nullptr) {
      all_known = false;
    } else {
      for (const std::int64_t index : ValuesOf(*indices)) most = std::max(most, index);
    }
    const PartialShape& where = c.input(i);
    const PartialShape& data = c.input(n + i);
    if (!where.has_rank()) continue;
    VIGIL_RETURN_IF_ERROR(CheckPrefix(data, where));
    VIGIL_ASSIGN_OR_RETURN(const PartialShape tail,
                           Subshape(data, where.rank(), data.has_rank() ? data.rank() : where.rank()));
    VIGIL_ASSIGN_OR_RETURN(row, Merge(row, tail));
  }
  c.set_output(0, Concatenate({all_known ? most + 1 : kUnknownDim}, row));
  return absl::OkStatus();
}

}  // namespace

void RegisterJoiningShapes(OpRegistry& registry) {
  Register(registry, {{"ConcatV2", ConcatShape},
                      {"Pack", PackShape},
                      {"Unpack", UnpackShape},
                      {"ConcatOffset", ConcatOffsetShape},
                      {"Switch", SwitchShape},
                      {"RefSwitch", SwitchShape},
                      {"Merge", MergeShape},
                      {"DynamicStitch", DynamicStitchShape}});
}

}  // namespace vigil::shapes
