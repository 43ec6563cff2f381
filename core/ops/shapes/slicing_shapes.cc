// Shape functions of ops that take a part of a tensor: slices, rows by their numbers.
#include <algorithm>
#include <optional>
#include <vector>

#include "vigil/core/ops/shapes/shape_fns.h"

namespace vigil::shapes {
namespace {

absl::Status SliceShape(InferenceContext& c) {
  PartialShape in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(const PartialShape begin_shape, WithRank(c.input(1), 1));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape size_shape, WithRank(c.input(2), 1));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape entries, Merge(begin_shape, size_shape));
  if (entries.dim(0) >= 0) {
    VIGIL_ASSIGN_OR_RETURN(in, WithRank(in, entries.dim(0)));
  }
  VIGIL_ASSIGN_OR_RETURN(PartialShape begin, c.ShapeFromInput(1));
  const Tensor* const sizes = c.constant(2);
  if (sizes == nullptr) {
    VIGIL_ASSIGN_OR_RETURN(PartialShape known, c.ShapeFromInput(2));
    if (known.has_rank()) {
      VIGIL_RETURN_IF_ERROR(WithRank(begin, known.rank()).status());
      c.set_output(0, std::move(known));
    } else if (in.has_rank()) {
      c.set_output(0, PartialShape::OfRank(in.rank()));
    }
    return absl::OkStatus();
  }
  std::vector<std::int64_t> dims = ValuesOf(*sizes);
  VIGIL_ASSIGN_OR_RETURN(begin, WithRank(begin, static_cast<std::int64_t>(dims.size())));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < -1) dims[i] = kUnknownDim;  // no run will take it
    if (dims[i] != -1) continue;
    VIGIL_ASSIGN_OR_RETURN(dims[i], SubtractDims(DimOf(in, static_cast<int>(i)), DimOf(begin, static_cast<int>(i))));
  }
  c.set_output(0, PartialShape(std::move(dims)));
  return absl::OkStatus();
}

// What a StridedSlice says of one dimension of its input; the values are nullopt where they are not known.
struct Piece {
  std::optional<std::int64_t> begin, end;
  std::int64_t stride = 1;
  bool from_start = false, to_end = false;  // whatever `begin`, `end` are
  bool is_dropped = false;                  // one element, and the dimension is gone
};

struct Pieces {
  std::vector<Piece> all;  // of each dimension of the input
  std::vector<int> gives;  // for each of the output: the piece that it comes from; -1: a new one
};

bool HasBit(std::int64_t mask, std::size_t i) { return i < 64 && (mask >> i & 1) != 0; }

std::optional<std::int64_t> ValueAt(const Tensor* values, std::size_t i) {
  if (values == nullptr) return std::nullopt;
  return ValuesOf(*values)[i];
}

absl::StatusOr<Pieces> ReadPieces(InferenceContext& c, std::size_t entries, int rank, const Tensor& strides) {
  const auto ellipses = c.attr_or<std::int64_t>("ellipsis_mask", 0);
  const auto new_axes = c.attr_or<std::int64_t>("new_axis_mask", 0);
  const auto shrunk = c.attr_or<std::int64_t>("shrink_axis_mask", 0);
  std::size_t ellipsis = entries;  // one at the end, if there is none
  int spoken_of = 0;
  for (std::size_t i = 0; i < entries; ++i) {
    if (HasBit(ellipses, i)) {
      if (ellipsis != entries) return InvalidArgument("Multiple ellipses in slice spec not allowed");
      ellipsis = i;
    } else if (!HasBit(new_axes, i)) {
      ++spoken_of;
    }
  }
  const Tensor* const begin = c.constant(1);
  const Tensor* const end = c.constant(2);
  Pieces out;
  for (std::size_t i = 0; i <= entries; ++i) {
    if (i == ellipsis) {
      for (int whole = spoken_of; whole < rank; ++whole) {
        out.gives.push_back(static_cast<int>(out.all.size()));
        out.all.push_back({.from_start = true, .to_end = true});
      }
    } else if (i < entries && HasBit(new_axes, i)) {
      out.gives.push_back(-1);
    } else if (i < entries) {
      if (rank == 0) return InvalidArgument("Attempting to slice scalar input.");
      if (static_cast<int>(out.all.size()) == rank) {
        return InvalidArgument("Index out of range using input dim {}; input has only {} dims", rank, rank);
      }
      const bool is_dropped = HasBit(shrunk, i);
      if (!is_dropped) out.gives.push_back(static_cast<int>(out.all.size()));
      out.all.push_back({.begin = ValueAt(begin, i),
                         .end = ValueAt(end, i),
                         .stride = ValuesOf(strides)[i],
                         .from_start = HasBit(c.attr_or<std::int64_t>("begin_mask", 0), i),
                         .to_end = HasBit(c.attr_or<std::int64_t>("end_mask", 0), i),
                         .is_dropped = is_dropped});
    }
  }
  return out;
}

// How many elements a piece takes of `size`; kUnknownDim if that is not known.
absl::StatusOr<std::int64_t> LengthOf(const Piece& piece, std::size_t i, std::int64_t size) {
  if (piece.stride == 0) return InvalidArgument("strides[{}] must be non-zero", i);
  if (size < 0) return kUnknownDim;
  if (piece.is_dropped && piece.stride < 0) {
    return InvalidArgument("only stride 1 allowed on non-range indexing.");
  }
  const std::int64_t least = piece.stride > 0 ? 0 : -1;
  const std::int64_t most = piece.stride > 0 ? size : size - 1;
  if (piece.is_dropped) {
    if (!piece.begin.has_value()) return 1;
    const std::int64_t at = *piece.begin < 0 ? *piece.begin + size : *piece.begin;
    if (at < 0 || at >= size) return InvalidArgument("slice index {} of dimension {} out of bounds.", *piece.begin, i);
    return 1;
  }
  if (!(piece.from_start && piece.to_end) && !(piece.begin.has_value() && piece.end.has_value())) return kUnknownDim;
  const auto place = [&](std::int64_t at) {
    const std::int64_t from_front = at < 0 ? (at < -size ? least : at + size) : at;
    return std::clamp(from_front, least, most);
  };
  const std::int64_t begin = piece.from_start ? (piece.stride > 0 ? least : most) : place(*piece.begin);
  const std::int64_t end = piece.to_end ? (piece.stride > 0 ? most : least) : place(*piece.end);
  const std::int64_t length = end - begin;
  if (length == 0 || (length < 0) != (piece.stride < 0)) return 0;
  return length / piece.stride + (length % piece.stride != 0 ? 1 : 0);
}

absl::Status StridedSliceShape(InferenceContext& c) {
  const PartialShape& in = c.input(0);
  VIGIL_ASSIGN_OR_RETURN(PartialShape entries, WithRank(c.input(1), 1));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape ends, WithRank(c.input(2), 1));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape steps, WithRank(c.input(3), 1));
  VIGIL_ASSIGN_OR_RETURN(entries, Merge(entries, ends));
  VIGIL_ASSIGN_OR_RETURN(entries, Merge(entries, steps));
  const Tensor* const strides = c.constant(3);
  if (!in.has_rank() || entries.dim(0) < 0 || strides == nullptr) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const Pieces pieces,
                         ReadPieces(c, static_cast<std::size_t>(entries.dim(0)), in.rank(), *strides));
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < pieces.all.size(); ++i) {
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t length, LengthOf(pieces.all[i], i, in.dims()[i]));
    lengths.push_back(length);
  }
  std::vector<std::int64_t> dims;
  for (const int piece : pieces.gives) dims.push_back(piece < 0 ? 1 : lengths[static_cast<std::size_t>(piece)]);
  c.set_output(0, PartialShape(std::move(dims)));
  return absl::OkStatus();
}

// The params behind a place in them: [axis + 1:].
absl::StatusOr<PartialShape> Behind(const PartialShape& params, int axis) {
  if (axis == -1) return PartialShape::Scalar();
  return Subshape(params, axis + 1, params.has_rank() ? params.rank() : 0);
}

absl::Status GatherV2Shape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape params, WithRankAtLeast(c.input(0), 1));
  const PartialShape& indices = c.input(1);
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 2, 0));
  if (c.attr_or<std::int64_t>("batch_dims", 0) != 0) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::int64_t> given, c.Integer(2));
  if (!given.has_value()) {
    if (params.has_rank() && indices.has_rank()) {
      c.set_output(0, PartialShape::OfRank(params.rank() + indices.rank() - 1));
    }
    return absl::OkStatus();
  }
  VIGIL_ASSIGN_OR_RETURN(params, WithRankAtLeast(params, RankWithAxis(*given)));
  const int axis = static_cast<int>(*given);
  VIGIL_ASSIGN_OR_RETURN(const PartialShape before, Subshape(params, 0, axis));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape after, Behind(params, axis));
  c.set_output(0, Concatenate(Concatenate(before, indices), after));
  return absl::OkStatus();
}

// Rows of `from`.
absl::Status RowsShape(InferenceContext& c, const PartialShape& from) {
  VIGIL_ASSIGN_OR_RETURN(const PartialShape params, WithRankAtLeast(from, 1));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape row, Behind(params, 0));
  c.set_output(0, Concatenate(c.input(1), row));
  return absl::OkStatus();
}

absl::Status GatherShape(InferenceContext& c) { return RowsShape(c, c.input(0)); }

absl::Status ResourceGatherShape(InferenceContext& c) {
  if (c.attr_or<std::int64_t>("batch_dims", 0) != 0) return absl::OkStatus();
  return RowsShape(c, c.HeldShape(0));
}

// Rows of a variable that are changed: updates of the indices' shape, and of a row's behind it.
absl::Status CheckScatter(InferenceContext& c, const PartialShape& variable) {
  VIGIL_ASSIGN_OR_RETURN(const PartialShape row, Behind(variable, 0));
  const PartialShape& updates = c.input(2);
  if (updates.has_rank() && updates.rank() == 0) return absl::OkStatus();
  return Merge(updates, Concatenate(c.input(1), row)).status();
}

absl::Status ScatterShape(InferenceContext& c) {
  VIGIL_RETURN_IF_ERROR(CheckScatter(c, c.input(0)));
  return Unchanged(c);
}

absl::Status ResourceScatterShape(InferenceContext& c) { return CheckScatter(c, c.HeldShape(0)); }

absl::Status UnsortedSegmentShape(InferenceContext& c) {
  const PartialShape& data = c.input(0);
  const PartialShape& ids = c.input(1);
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 2, 0));
  if (!ids.has_rank()) return absl::OkStatus();
  VIGIL_RETURN_IF_ERROR(CheckPrefix(data, ids));
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::int64_t> given, c.Integer(2));
  const std::int64_t segments = given.value_or(kUnknownDim);
  if (given.has_value() && segments < 0)
    return InvalidArgument("Dimension size, given by scalar input 2, must be non-negative but is {}", segments);
  VIGIL_ASSIGN_OR_RETURN(const PartialShape row, Subshape(data, ids.rank(), data.has_rank() ? data.rank() : 0));
  c.set_output(0, Concatenate({segments}, row));
  return absl::OkStatus();
}

}  // namespace

void RegisterSlicingShapes(OpRegistry& registry) {
  Register(registry, {{"Slice", SliceShape},
                      {"StridedSlice", StridedSliceShape},
                      {"StridedSliceGrad", ToldByInput},
                      {"GatherV2", GatherV2Shape},
                      {"Gather", GatherShape},
                      {"ResourceGather", ResourceGatherShape},
                      {"ScatterAdd", ScatterShape},
                      {"ScatterSub", ScatterShape},
                      {"ScatterUpdate", ScatterShape},
                      {"ResourceScatterAdd", ResourceScatterShape},
                      {"ResourceScatterSub", ResourceScatterShape},
                      {"ResourceScatterUpdate", ResourceScatterShape},
                      {"UnsortedSegmentSum", UnsortedSegmentShape}});
}

}  // namespace vigil::shapes
