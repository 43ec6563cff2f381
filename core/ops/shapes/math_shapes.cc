// Shape functions of ops that compute: element by element, products of matrices, reductions.
#include <algorithm>
#include <vector>

#include "vigil/core/ops/registration.h"
#include "vigil/core/ops/shapes/shape_fns.h"

namespace vigil::shapes {
namespace {

absl::Status MatMulShape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const PartialShape a, WithRank(c.input(0), 2));
  VIGIL_ASSIGN_OR_RETURN(const PartialShape b, WithRank(c.input(1), 2));
  const int rows = c.attr_or<bool>("transpose_a", false) ? 1 : 0;
  const int columns = c.attr_or<bool>("transpose_b", false) ? 0 : 1;
  VIGIL_RETURN_IF_ERROR(MergeDims(a.dim(1 - rows), b.dim(1 - columns)).status());
  c.set_output(0, {a.dim(rows), b.dim(columns)});
  return absl::OkStatus();
}

absl::Status ReductionShape(InferenceContext& c) {
  const PartialShape& in = c.input(0);
  VIGIL_RETURN_IF_ERROR(WithRankAtMost(c.input(1), 1).status());
  const bool keep_dims = c.attr_or<bool>("keep_dims", false);
  const Tensor* const axes = c.constant(1);
  if (axes == nullptr || !in.has_rank()) {
    if (keep_dims && in.has_rank()) c.set_output(0, PartialShape::OfRank(in.rank()));
    return absl::OkStatus();
  }
  std::vector<bool> reduced(in.dims().size(), false);
  for (const std::int64_t axis : ValuesOf(*axes)) {
    if (axis < -in.rank() || axis >= in.rank()) {
      return InvalidArgument("Invalid reduction dimension {} for input with {} dimensions.", axis, in.rank());
    }
    reduced[static_cast<std::size_t>(FromFront(axis, in.rank()))] = true;
  }
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      dims.push_back(in.dims()[i]);
    } else if (keep_dims) {
      dims.push_back(1);
    }
  }
  c.set_output(0, PartialShape(std::move(dims)));
  return absl::OkStatus();
}

// ArgMax, ArgMin.
absl::Status BestShape(InferenceContext& c) {
  const PartialShape& in = c.input(0);
  VIGIL_RETURN_IF_ERROR(RequireRank(c, 1, 0));
  if (!in.has_rank()) return absl::OkStatus();
  if (in.rank() <= 1) return ScalarShapes(c);
  VIGIL_ASSIGN_OR_RETURN(const std::optional<std::int64_t> given, c.Integer(1));
  if (!given.has_value()) {
    c.set_output(0, PartialShape::OfRank(in.rank() - 1));
    return absl::OkStatus();
  }
  const std::int64_t axis = *given < 0 ? *given + in.rank() : *given;
  if (axis < 0 || axis >= in.rank()) {
    return InvalidArgument(
        "Dimension ({}) must be in the range [{}, {}), where {} is the number of dimensions in the input.", *given,
        -in.rank(), in.rank(), in.rank());
  }
  std::vector<std::int64_t> dims = in.dims();
  dims.erase(dims.begin() + axis);
  c.set_output(0, PartialShape(std::move(dims)));
  return absl::OkStatus();
}

absl::Status AddNShape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape all, MergedOfAll(c));
  c.set_output(0, std::move(all));
  return absl::OkStatus();
}

// Select: a condition of the branches' shape, or a scalar, or a vector that says it for each row.
absl::Status SelectShape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(PartialShape data, Merge(c.input(1), c.input(2)));
  const PartialShape& condition = c.input(0);
  if (!condition.has_rank() || !data.has_rank()) {
    c.set_output(0, std::move(data));
    return absl::OkStatus();
  }
  if (condition.rank() == 1 && data.rank() > 0) {
    VIGIL_RETURN_IF_ERROR(Merge(condition, {data.dim(0)}).status());
  } else if (condition.rank() != 0) {
    VIGIL_ASSIGN_OR_RETURN(data, Merge(data, condition));
  }
  c.set_output(0, std::move(data));
  return absl::OkStatus();
}

absl::Status SelectV2Shape(InferenceContext& c) {
  VIGIL_ASSIGN_OR_RETURN(const PartialShape branches, BroadcastShapes(c.input(1), c.input(2)));
  VIGIL_ASSIGN_OR_RETURN(PartialShape all, BroadcastShapes(c.input(0), branches));
  c.set_output(0, std::move(all));
  return absl::OkStatus();
}

// Equal, NotEqual: shapes that do not go together may be allowed, then a scalar comes out.
absl::Status EqualShape(InferenceContext& c) {
  if (c.attr_or<bool>("incompatible_shape_error", true)) return Broadcast(c);
  const PartialShape& a = c.input(0);
  const PartialShape& b = c.input(1);
  if (!a.has_rank() || !b.has_rank()) return absl::OkStatus();
  bool open = false;  // whether they go together is not known
  for (int i = std::min(a.rank(), b.rank()); i > 0; --i) {
    const std::int64_t x = a.dim(-i), y = b.dim(-i);
    if (x == 1 || y == 1 || (x == y && x >= 0)) continue;
    if (x >= 0 && y >= 0) return ScalarShapes(c);
    open = true;
  }
  return open ? absl::OkStatus() : Broadcast(c);
}

}  // namespace

void RegisterMathShapes(OpRegistry& registry) {
  for (const std::string_view op :
       {"Abs",          "Neg",         "Square",        "Exp",         "Expm1",     "Log",
        "Log1p",        "Sqrt",        "Rsqrt",         "Reciprocal",  "Inv",       "Sin",
        "Cos",          "Floor",       "Ceil",          "Sign",        "IsFinite",  "Sigmoid",
        "Tanh",         "Relu",        "Relu6",         "Elu",         "Softplus",  "Cast",
        "LogicalNot",   "Cumsum",      "Cumprod",       "ClipByValue", "ZerosLike", "OnesLike",
        "StopGradient", "Identity",    "RandomShuffle", "SqrtGrad",    "RsqrtGrad", "ReciprocalGrad",
        "InvGrad",      "SigmoidGrad", "TanhGrad"}) {
    registry.Infer(op, Unchanged);
  }
  for (const std::string_view op : {"ReluGrad", "Relu6Grad", "EluGrad", "SoftplusGrad"}) {
    registry.Infer(op, MergedInputs);
  }
  for (const std::string_view op :
       {"AddV2", "Sub", "Mul", "RealDiv", "Less", "LessEqual", "Greater", "GreaterEqual", "Maximum", "Minimum",
        "SquaredDifference", "DivNoNan", "Pow", "FloorDiv", "FloorMod", "LogicalAnd", "LogicalOr"}) {
    registry.Infer(op, Broadcast);
  }
  for (const std::string_view op : {"Sum", "Mean", "Max", "Min", "Prod", "All", "Any"}) {
    registry.Infer(op, ReductionShape);
  }
  Register(registry, {{"MatMul", MatMulShape},
                      {"Equal", EqualShape},
                      {"NotEqual", EqualShape},
                      {"ArgMax", BestShape},
                      {"ArgMin", BestShape},
                      {"AddN", AddNShape},
                      {"L2Loss", ScalarShapes},
                      {"Select", SelectShape},
                      {"SelectV2", SelectV2Shape}});
}

}  // namespace vigil::shapes
