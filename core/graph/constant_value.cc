#include "vigil/core/graph/constant_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/graph/shape_checks.h"

namespace vigil {
namespace {

constexpr int kMostNodes = 200;                  // looked at for one value
constexpr std::int64_t kMostElements = 1 << 12;  // of a value that is computed

// Ops that shapes are computed with: nothing but their inputs matters, and a kernel of theirs costs little.
bool IsFoldable(std::string_view op) {
  static constexpr std::string_view kAll[] = {
      "Abs",          "AddN",       "AddV2",     "All",       "Any",      "Cast",    "ConcatOffset", "ConcatV2",
      "Equal",        "ExpandDims", "Fill",      "FloorDiv",  "FloorMod", "Gather",  "GatherV2",     "Greater",
      "GreaterEqual", "Identity",   "Less",      "LessEqual", "Max",      "Maximum", "Min",          "Minimum",
      "Mul",          "Neg",        "NotEqual",  "OnesLike",  "Pack",     "Prod",    "Range",        "RealDiv",
      "Reshape",      "Select",     "SelectV2",  "Sign",      "Slice",    "Squeeze", "StridedSlice", "Sub",
      "Sum",          "Tile",       "Transpose", "ZerosLike"};
  return std::ranges::find(kAll, op) != std::ranges::end(kAll);
}

Tensor IntegerOf(DType type, std::int64_t value) {
  return type == DType::kInt64 ? Tensor::Scalar<std::int64_t>(value)
                               : Tensor::Scalar<std::int32_t>(static_cast<std::int32_t>(value));
}

// What Shape, ShapeN, Size and Rank give, where the shape is known.
std::optional<Tensor> OfShape(const Graph& graph, const Node& node, Output value) {
  const PartialShape& shape = graph.ShapeOf(node.inputs[static_cast<std::size_t>(value.index)]);
  const DType type = node.output_types[static_cast<std::size_t>(value.index)];
  if (node.op == "Rank") return shape.has_rank() ? std::optional(IntegerOf(type, shape.rank())) : std::nullopt;
  if (node.op == "Size") {
    const std::optional<std::int64_t> n = shape.num_elements();
    return n.has_value() ? std::optional(IntegerOf(type, *n)) : std::nullopt;
  }
  if (!shape.is_fully_known()) return std::nullopt;
  if (type == DType::kInt64) return Tensor::Vector<std::int64_t>(shape.dims());
  return Tensor::Vector<std::int32_t>(std::vector<std::int32_t>(shape.dims().begin(), shape.dims().end()));
}

std::optional<Tensor> ValueAt(const Graph& graph, Output value, int* may_visit) {
  if (--*may_visit < 0) return std::nullopt;
  const Node& node = graph.node(value.node);
  if (node.def->constant) return node.def->constant(node);
  if (node.op == "Shape" || node.op == "ShapeN" || node.op == "Size" || node.op == "Rank") {
    return OfShape(graph, node, value);
  }
  // A control input waits for something that happens in a run; the value is the same.
  if (!IsFoldable(node.op) || node.refers_to != kNoNode || !node.def->compute) return std::nullopt;
  const std::optional<std::int64_t> elements = graph.ShapeOf(value).num_elements();
  if (!elements.has_value() || *elements > kMostElements) return std::nullopt;
  std::vector<Tensor> values;
  std::vector<const Tensor*> inputs;
  values.reserve(node.inputs.size());
  for (const Output input : node.inputs) {
    std::optional<Tensor> known = ValueAt(graph, input, may_visit);
    if (!known.has_value()) return std::nullopt;
    values.push_back(*std::move(known));
    inputs.push_back(&values.back());
  }
  std::vector<Tensor> outputs(node.output_types.size());
  std::shared_ptr<Resource> none;
  const KernelCall call{
      .node = &node, .kernel = &node.def->compute, .inputs = inputs.data(), .outputs = outputs.data(), .cached = &none};
  KernelContext context(graph);
  context.Enter(call);
  if (!node.def->compute(context).ok()) return std::nullopt;
  return std::move(outputs[static_cast<std::size_t>(value.index)]);
}

std::optional<std::int64_t> IntegerIn(const Tensor& value, std::size_t i) {
  if (value.dtype() == DType::kInt32) return value.flat<std::int32_t>()[i];
  if (value.dtype() == DType::kInt64) return value.flat<std::int64_t>()[i];
  return std::nullopt;
}

absl::StatusOr<PartialShape> AsShapeAt(const Graph& graph, Output value, int* may_visit);

PartialShape OfPacked(const Graph& graph, const Node& node, int* may_visit) {
  std::vector<std::int64_t> dims;
  for (const Output input : node.inputs) {
    const std::optional<Tensor> scalar = ValueAt(graph, input, may_visit);
    const std::optional<std::int64_t> dim = scalar.has_value() ? IntegerIn(*scalar, 0) : std::nullopt;
    dims.push_back(dim.has_value() && *dim >= 0 ? *dim : PartialShape::kUnknownDim);
  }
  return PartialShape(std::move(dims));
}

absl::StatusOr<PartialShape> OfConcatenated(const Graph& graph, const Node& node, int* may_visit) {
  PartialShape all = PartialShape::Scalar();
  for (std::size_t i = 0; i + 1 < node.inputs.size(); ++i) {
    VIGIL_ASSIGN_OR_RETURN(const PartialShape part, AsShapeAt(graph, node.inputs[i], may_visit));
    if (!part.has_rank()) return PartialShape();
    all = Concatenate(all, part);
  }
  return all;
}

std::int64_t Mask(const Node& node, std::string_view name) {
  const auto it = node.attrs.find(name);
  const std::int64_t* const bits = it == node.attrs.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
  return bits == nullptr ? 0 : *bits;
}

// A piece of a shape: [begin:end] with stride 1.
absl::StatusOr<PartialShape> OfSlice(const Graph& graph, const Node& node, int* may_visit) {
  const bool plain =
      Mask(node, "ellipsis_mask") == 0 && Mask(node, "new_axis_mask") == 0 && Mask(node, "shrink_axis_mask") == 0;
  std::int64_t bounds[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::optional<Tensor> bound = plain ? ValueAt(graph, node.inputs[i + 1], may_visit) : std::nullopt;
    if (!bound.has_value() || bound->num_elements() != 1) return PartialShape();
    bounds[i] = IntegerIn(*bound, 0).value_or(0);
  }
  const auto [begin, end, stride] = bounds;
  VIGIL_ASSIGN_OR_RETURN(const PartialShape from, AsShapeAt(graph, node.inputs[0], may_visit));
  if (stride != 1 || !from.has_rank()) return PartialShape();
  const auto at = [rank = std::int64_t{from.rank()}](std::int64_t bound) {
    return static_cast<int>(std::clamp<std::int64_t>(bound < 0 ? bound + rank : bound, 0, rank));
  };
  const int first = Mask(node, "begin_mask") == 1 ? 0 : at(begin);
  const int last = Mask(node, "end_mask") == 1 ? from.rank() : at(end);
  return Subshape(from, std::min(first, last), last);
}

absl::StatusOr<PartialShape> AsShapeAt(const Graph& graph, Output value, int* may_visit) {
  if (--*may_visit < 0) return PartialShape();
  const Node& node = graph.node(value.node);
  VIGIL_ASSIGN_OR_RETURN(const PartialShape shape, WithRank(graph.ShapeOf(value), 1));
  if (shape.dim(0) == 0) return PartialShape::Scalar();
  if (node.op == "Cast") return AsShapeAt(graph, node.inputs[0], may_visit);
  if (node.op == "Shape" || node.op == "ShapeN") {
    return graph.ShapeOf(node.inputs[static_cast<std::size_t>(value.index)]);
  }
  if (node.op == "Pack") return OfPacked(graph, node, may_visit);
  if (node.op == "ConcatV2") return OfConcatenated(graph, node, may_visit);
  const std::optional<Tensor> known = ValueAt(graph, value, may_visit);
  if (!known.has_value() && node.op == "StridedSlice") return OfSlice(graph, node, may_visit);
  return ShapeFromTensor(known.has_value() ? &*known : nullptr, shape);
}

}  // namespace

std::optional<Tensor> ConstantValue(const Graph& graph, Output value) {
  int may_visit = kMostNodes;
  return ValueAt(graph, value, &may_visit);
}

absl::StatusOr<PartialShape> ConstantAsShape(const Graph& graph, Output value) {
  int may_visit = kMostNodes;
  return AsShapeAt(graph, value, &may_visit);
}

absl::StatusOr<PartialShape> ShapeFromTensor(const Tensor* value, const PartialShape& shape) {
  if (value == nullptr) {
    VIGIL_ASSIGN_OR_RETURN(const PartialShape vector, WithRank(shape, 1));
    if (vector.dim(0) < 0) return PartialShape();
    return WithRank(PartialShape(), vector.dim(0));
  }
  if (value->shape().rank() != 1) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("Input tensor must be rank 1, but was rank {}.", value->shape().rank()));
  }
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < static_cast<std::size_t>(value->num_elements()); ++i) {
    const std::int64_t dim = IntegerIn(*value, i).value_or(PartialShape::kUnknownDim);
    if (dim < -1) {
      return MakeStatus(Code::kInvalidArgument, fmt::format("Invalid value in tensor used for shape: {}", dim));
    }
    dims.push_back(dim);
  }
  return PartialShape(std::move(dims));
}

}  // namespace vigil
