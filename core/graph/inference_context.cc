#include "vigil/core/graph/inference_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/constant_value.h"
#include "vigil/core/graph/shape_checks.h"

namespace vigil {
namespace {

constexpr std::size_t kMostShown = 256;  // elements of a value in a message

template <typename T>
std::string ShownElements(const Tensor& value) {
  std::string text;
  const auto all = value.flat<T>();
  for (std::size_t i = 0; i < all.size() && i < kMostShown; ++i) text += fmt::format("{}{}", i == 0 ? "" : " ", all[i]);
  if (all.size() > kMostShown) text += "...";
  return text;
}

std::string Shown(const Tensor& value) {
  if (value.shape().rank() > 1) return value.Describe();
  if (value.dtype() == DType::kInt32) return ShownElements<std::int32_t>(value);
  if (value.dtype() == DType::kInt64) return ShownElements<std::int64_t>(value);
  return value.Describe();
}

}  // namespace

InferenceContext::Asked& InferenceContext::AskedOf(int i) {
  if (asked_.empty()) asked_.resize(node_.inputs.size());
  return asked_[static_cast<std::size_t>(i)];
}

const Tensor* InferenceContext::constant(int i) {
  Asked& asked = AskedOf(i);
  asked.value = true;
  return asked.constant.has_value() ? &*asked.constant : nullptr;
}

absl::StatusOr<std::optional<std::int64_t>> InferenceContext::Integer(int i) {
  const Tensor* const value = constant(i);
  if (value == nullptr) return std::nullopt;
  if (value->shape().rank() != 0) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("Input must be scalar but has rank {}", value->shape().rank()));
  }
  if (value->dtype() == DType::kInt32) return std::optional<std::int64_t>(value->scalar<std::int32_t>());
  if (value->dtype() == DType::kInt64) return std::optional<std::int64_t>(value->scalar<std::int64_t>());
  return MakeStatus(Code::kInvalidArgument, "Scalar input must be int32 or int64.");
}

absl::StatusOr<PartialShape> InferenceContext::ShapeFromInput(int i) {
  VIGIL_ASSIGN_OR_RETURN(const PartialShape shape, WithRank(input(i), 1));
  Asked& asked = AskedOf(i);
  asked.shape = true;
  if (asked.shape_looked_up) return asked.as_shape;
  return ShapeFromTensor(constant(i), shape);
}

const Node* InferenceContext::Holder(int i) const {
  const NodeId holder = graph_.node(At(i).node).refers_to;
  return holder == kNoNode ? nullptr : &graph_.node(holder);
}

PartialShape InferenceContext::HeldShape(int i) const {
  const Node* const holder = Holder(i);
  return holder == nullptr ? PartialShape() : DeclaredShape(*holder);
}

absl::StatusOr<bool> InferenceContext::LookUp() {
  bool found = false;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    Asked& asked = asked_[i];
    if (asked.value && !asked.looked_up) {
      asked.looked_up = true;
      asked.constant = ConstantValue(graph_, node_.inputs[i]);
      found = found || asked.constant.has_value();
    }
    if (asked.shape && !asked.shape_looked_up) {
      VIGIL_ASSIGN_OR_RETURN(asked.as_shape, ConstantAsShape(graph_, node_.inputs[i]));
      asked.shape_looked_up = true;
      found = true;
    }
  }
  return found;
}

std::string InferenceContext::Where() const {
  std::vector<std::string> shapes, values, as_shapes;
  for (int i = 0; i < num_inputs(); ++i) shapes.push_back(input(i).ToString());
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const Asked& asked = asked_[i];
    if (asked.shape_looked_up && asked.as_shape.has_rank()) {
      as_shapes.push_back(fmt::format("input[{}] = {}", i, asked.as_shape.ToString()));
    } else if (asked.constant.has_value()) {
      values.push_back(fmt::format("input[{}] = <{}>", i, Shown(*asked.constant)));
    }
  }
  std::string text =
      fmt::format(" for '{}' with input shapes: {}", SummarizeNode(graph_, node_), fmt::join(shapes, ", "));
  if (!values.empty()) text += fmt::format(" and with computed input tensors: {}", fmt::join(values, ", "));
  if (!as_shapes.empty()) {
    text += fmt::format(" and with input tensors computed as partial shapes: {}", fmt::join(as_shapes, ","));
  }
  return text + ".";
}

absl::Status InferShapes(const Graph& graph, Node& node) {
  node.output_shapes.clear();
  if (node.def->constant) {
    node.output_shapes.emplace_back(node.def->constant(node).shape());
    return absl::OkStatus();
  }
  if (!node.def->shape_fn) return absl::OkStatus();
  InferenceContext context(graph, node);
  while (true) {
    if (absl::Status status = node.def->shape_fn(context); !status.ok()) {
      return WithMessage(status, fmt::format("{}{}", MessageOf(status), context.Where()));
    }
    VIGIL_ASSIGN_OR_RETURN(const bool again, context.LookUp());
    if (!again) break;
  }
  const bool says_something = std::ranges::any_of(context.outputs_, &PartialShape::has_rank);
  if (says_something) node.output_shapes = std::move(context.outputs_);
  return absl::OkStatus();
}

}  // namespace vigil
