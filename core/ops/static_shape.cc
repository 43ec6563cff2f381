#include "vigil/core/ops/static_shape.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/ops/broadcast.h"
#include "vigil/core/ops/op_util.h"

namespace vigil {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr int kDeepest = 50;  // nodes behind each other

// The value has the shape of input 0.
bool KeepsShape(std::string_view op) {
  static constexpr std::string_view kAll[] = {
      "Abs",        "Cast", "Cos",       "Exp",     "Identity", "Log",         "Neg",         "OnesLike",
      "Reciprocal", "Relu", "Rsqrt",     "Sigmoid", "Sign",     "Sin",         "Sqrt",        "Square",
      "Softplus",   "Tanh", "ZerosLike", "Floor",   "Ceil",     "ClipByValue", "StopGradient"};
  return std::ranges::find(kAll, op) != std::ranges::end(kAll);
}

// Input 0 says the shape.
bool IsToldShape(std::string_view op) {
  static constexpr std::string_view kAll[] = {"Fill", "RandomUniform", "RandomStandardNormal", "TruncatedNormal",
                                              "RandomUniformInt"};
  return std::ranges::find(kAll, op) != std::ranges::end(kAll);
}

bool Broadcasts(std::string_view op) {
  static constexpr std::string_view kAll[] = {"AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow"};
  return std::ranges::find(kAll, op) != std::ranges::end(kAll);
}

std::optional<Shape> Made(Dims dims) {
  absl::StatusOr<Shape> shape = Shape::Make(std::move(dims));
  return shape.ok() ? std::optional(*std::move(shape)) : std::nullopt;
}

std::optional<Shape> ShapeAt(const Graph& graph, Output value, int depth);

// The elements of a vector (or scalar) of integers.
std::optional<Dims> IntegersAt(const Graph& graph, Output value, int depth) {
  const Node& node = graph.node(value.node);
  if (node.def->constant) {
    if (node.def->constant(node).shape().rank() != 1) return std::nullopt;
    const absl::StatusOr<Dims> all = Integers(node.def->constant(node));
    return all.ok() ? std::optional(*all) : std::nullopt;
  }
  if (node.op != "Shape" || depth == 0) return std::nullopt;
  const std::optional<Shape> shape = ShapeAt(graph, node.inputs[0], depth - 1);
  return shape.has_value() ? std::optional(shape->dims()) : std::nullopt;
}

std::optional<Shape> Reshaped(const Graph& graph, const Node& node, int depth) {
  std::optional<Dims> dims = IntegersAt(graph, node.inputs[1], depth);
  if (!dims.has_value()) return std::nullopt;
  const auto open = std::ranges::find(*dims, -1);
  if (open == dims->end()) return Made(*std::move(dims));
  const std::optional<Shape> from = ShapeAt(graph, node.inputs[0], depth - 1);
  if (!from.has_value()) return std::nullopt;
  *open = 1;
  const std::optional<Shape> rest = Made(*dims);
  if (!rest.has_value() || rest->num_elements() == 0) return std::nullopt;
  *open = from->num_elements() / rest->num_elements();
  return Made(*std::move(dims));
}

std::optional<Shape> ShapeAt(const Graph& graph, Output value, int depth) {
  if (depth == 0 || !graph.Has(value)) return std::nullopt;
  const Node& node = graph.node(value.node);
  if (node.def->constant) return node.def->constant(node).shape();
  if (node.refers_to != kNoNode) {  // a variable, or what has read it
    const Attrs& attrs = graph.node(node.refers_to).attrs;
    const auto declared = attrs.find("shape");
    const Shape* const shape = declared == attrs.end() ? nullptr : std::get_if<Shape>(&declared->second);
    const bool is_known = shape != nullptr && std::ranges::all_of(shape->dims(), [](auto dim) { return dim >= 0; });
    return is_known ? std::optional(*shape) : std::nullopt;
  }
  if (node.op == "Reshape") return Reshaped(graph, node, depth);
  if (KeepsShape(node.op) || node.op == "ReadVariableOp") return ShapeAt(graph, node.inputs[0], depth - 1);
  if (IsToldShape(node.op)) {
    std::optional<Dims> dims = IntegersAt(graph, node.inputs[0], depth);
    return dims.has_value() ? Made(*std::move(dims)) : std::nullopt;
  }
  if (!Broadcasts(node.op)) return std::nullopt;
  const std::optional<Shape> a = ShapeAt(graph, node.inputs[0], depth - 1);
  const std::optional<Shape> b = ShapeAt(graph, node.inputs[1], depth - 1);
  Dims dims;
  if (!a.has_value() || !b.has_value() || !BroadcastShape(*a, *b, &dims)) return std::nullopt;
  return Made(std::move(dims));
}

}  // namespace

std::optional<Shape> StaticShape(const Graph& graph, Output value) { return ShapeAt(graph, value, kDeepest); }

}  // namespace vigil
