// Shape functions of ops that give or change a tensor's shape.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "vigil/core/ops/shapes/shape_fns.h"

namespace vigil::shapes {
namespace {

// The known elements of a shape with at most one unknown dimension, and where that is (-1: there is none).
struct Counted {
  std::int64_t known = 1;
  int open = -1;
  bool usable = true;  // false: several dimensions are open
};

absl::StatusOr<Counted> Count(const PartialShape& shape) {
  Counted out;
  if (const std::int64_t all = ElementsIn(shape); all >= 0) {
    out.known = all;
    return out;
  }
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) >= 0) {
      VIGIL_ASSIGN_OR_RETURN(out.known, MultiplyDims(out.known, shape.dim(i)));
    } else if (out.open >= 0) {
      out.usable = false;
    } else {
      out.open = i;
    }
  }
  return out;
}

absl::Status ReshapeShape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape out, c.ShapeFromInput(1));
  const PartialShape& in = c.input(0);
  if (out.has_rank() && in.has_rank()) {
    VIGIL_ASSIGN_OR_RETURN(const Counted to, Count(out));
    VIGIL_ASSIGN_OR_RETURN(const Counted from, Count(in));
    if (!to.usable || !from.usable) {
      // Nothing follows.
    } else if (from.open < 0 && to.open < 0) {
      if (from.known != to.known) {
        return InvalidArgument("Cannot reshape a tensor with {} elements to shape {} ({} elements)", from.known,
                               out.ToString(), to.known);
      }
    } else if (from.open < 0 && to.known > 0) {
      VIGIL_ASSIGN_OR_RETURN(const std::int64_t rest, DivideEvenly(from.known, to.known));
      out.set_dim(to.open, rest);
    } else if (from.open >= 0 && to.open < 0 && from.known > 0) {
      VIGIL_RETURN_IF_ERROR(DivideEvenly(to.known, from.known).status());
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status FillShape(InferenceContext& c) {
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 0, 1));
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 1, 0));
  VIGIL_RETURN_IF_ERROR(ToldByInput(c));
  const Tensor* const dims = c.constant(0);
  if (dims != nullptr && std::ranges::any_of(ValuesOf(*dims), [](std::int64_t dim) { return dim < 0; })) {
    return InvalidArgument("Fill dimensions must be >= 0");
  }
  return absl::OkStatus();
}

absl::Status RandomUniformIntShape(InferenceContext& c) {
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 1, 0));
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 2, 0));
  return ToldByInput(c);
}

// Shape, ShapeN.
absl::Status ShapeShape(InferenceContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    c.set_output(i, {c.input(i).has_rank() ? c.input(i).rank() : kUnknownDim});
  }
  return absl::OkStatus();
}

double NumberIn(const Tensor& scalar) {
  double value = 0;
  scalar.AsNumber(&value);
  return value;
}

// Counted in T, as the kernel of floating-point numbers does.
template <typename T>
double StepsBetween(double from, double to, double by) {
  return std::ceil(std::abs((static_cast<T>(to) - static_cast<T>(from)) / static_cast<T>(by)));
}

absl::StatusOr<std::int64_t> StepsIn(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  const double from = NumberIn(start), to = NumberIn(limit), by = NumberIn(delta);
  if (by == 0) return InvalidArgument("Requires delta != 0");
  if (by > 0 ? from > to : from < to) {
    return InvalidArgument("Requires start {} limit when delta {} 0: {}/{}", by > 0 ? "<=" : ">=", by > 0 ? ">" : "<",
                           from, to);
  }
  static constexpr double kExact = 9e15;  // integers up to here are doubles, too
  const double steps =
      start.dtype() == DType::kFloat ? StepsBetween<float>(from, to, by) : StepsBetween<double>(from, to, by);
  const bool is_exact = steps < kExact && std::abs(from) < kExact && std::abs(to) < kExact;
  return is_exact ? static_cast<std::int64_t>(steps) : kUnknownDim;
}

absl::Status RangeShape(InferenceContext& c) {
  static constexpr const char* kNames[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i) {
    if (const absl::Status status = RequireRank(c, i, 0); !status.ok()) {
      return InvalidArgument("{}\n\t for '{}'", MessageOf(status), kNames[i]);
    }
  }
  const Tensor* const start = c.constant(0);
  const Tensor* const limit = c.constant(1);
  const Tensor* const delta = c.constant(2);
  std::int64_t steps = kUnknownDim;
  if (start != nullptr && limit != nullptr && delta != nullptr) {
    VIGIL_ASSIGN_OR_RETURN(steps, StepsIn(*start, *limit, *delta));
  }
  c.set_output(0, {steps});
  return absl::OkStatus();
}

absl::Status ExpandDimsShape(InferenceContext& c) {
  const PartialShape& in = c.input(0);
  const Tensor* const value = c.constant(1);
  if (value != nullptr && value->num_elements() != 1) {
    return InvalidArgument("'dim' input must be a tensor with a single value");
  }
  if (value == nullptr || !in.has_rank()) return absl::OkStatus();
  const std::int64_t axis = ValuesOf(*value)[0];
  if (axis < -in.rank() - 1 || axis > in.rank()) {
    return InvalidArgument("dim {} not in the interval [{}, {}].", axis, -in.rank() - 1, in.rank());
  }
  std::vector<std::int64_t> dims = in.dims();
  dims.insert(dims.begin() + FromFront(axis, in.rank() + 1), 1);
  c.set_output(0, PartialShape(std::move(dims)));
  return absl::OkStatus();
}

absl::Status SqueezeShape(InferenceContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  const auto wanted = c.attr_or<std::vector<std::int64_t>>("squeeze_dims", {});
  std::vector<bool> drop(in.dims().size(), false);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -in.rank() || wanted[i] >= in.rank()) {
      return InvalidArgument("squeeze_dims[{}] not in [{},{}).", i, -in.rank(), in.rank());
    }
    drop[static_cast<std::size_t>(FromFront(wanted[i], in.rank()))] = true;
  }
  std::vector<std::int64_t> dims;
  for (int i = 0; i < in.rank(); ++i) {
    const std::int64_t dim = in.dim(i);
    if (wanted.empty()) {
      if (dim < 0) return absl::OkStatus();  // it may be 1
      if (dim != 1) dims.push_back(dim);
    } else if (!drop[static_cast<std::size_t>(i)]) {
      dims.push_back(dim);
    } else if (dim >= 0 && dim != 1) {
      return InvalidArgument("Can not squeeze dim[{}], expected a dimension of 1, got {}", i, dim);
    }
  }
  c.set_output(0, PartialShape(std::move(dims)));
  return absl::OkStatus();
}

absl::Status WhereShape(InferenceContext& c) {
  c.set_output(0, {kUnknownDim, c.input(0).has_rank() ? c.input(0).rank() : kUnknownDim});
  return absl::OkStatus();
}

absl::Status BroadcastToShape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape out, c.ShapeFromInput(1));
  const PartialShape& in = c.input(0);
  if (out.has_rank() && in.has_rank()) {
    VIGIL_RETURN_IF_ERROR(WithRankAtMost(in, out.rank()).status());
    for (int i = 1; i <= in.rank(); ++i) {
      if (in.dim(-i) <= 1) continue;
      VIGIL_ASSIGN_OR_RETURN(const std::int64_t dim, MergeDims(in.dim(-i), out.dim(-i)));
      out.set_dim(-i, dim);
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// Two vectors of two.
absl::Status VectorsShape(InferenceContext& c) {
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 0, 1));
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 1, 1));
  c.set_output(0, {kUnknownDim});
  c.set_output(1, {kUnknownDim});
  return absl::OkStatus();
}

absl::Status UniqueShape(InferenceContext& c) {
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 0, 1));
  c.set_output(0, {kUnknownDim});
  c.set_output(1, c.input(0));
  return absl::OkStatus();
}

}  // namespace

void RegisterArrayShapes(OpRegistry& registry) {
  Register(registry, {{"Reshape", ReshapeShape},
                      {"Fill", FillShape},
                      {"RandomUniform", ToldByInput},
                      {"RandomStandardNormal", ToldByInput},
                      {"TruncatedNormal", ToldByInput},
                      {"RandomUniformInt", RandomUniformIntShape},
                      {"Shape", ShapeShape},
                      {"ShapeN", ShapeShape},
                      {"Size", ScalarShapes},
                      {"Rank", ScalarShapes},
                      {"Range", RangeShape},
                      {"ExpandDims", ExpandDimsShape},
                      {"Squeeze", SqueezeShape},
                      {"Where", WhereShape},
                      {"BroadcastTo", BroadcastToShape},
                      {"BroadcastGradientArgs", VectorsShape},
                      {"InvertPermutation", UnchangedWithRank<1>},
                      {"Unique", UniqueShape},
                      {"ListDiff", VectorsShape}});
}

}  // namespace vigil::shapes
