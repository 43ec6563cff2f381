#include "vigil/core/gradients/gradient.h"

#include "vigil/core/base/check.h"

namespace vigil {

Output Densified(Builder& b, const std::string& scope, const Gradient& gradient) {
  if (!gradient.sparse()) return gradient.values;
  const Output begin = b.Const(scope + "/begin", Tensor::Vector<std::int32_t>({0}));
  const Output one = b.Const(scope + "/size", Tensor::Vector<std::int32_t>({1}));
  const Output first = b.Op("Slice", {gradient.dense_shape, begin, one}, {.name = scope + "/first_dim"});
  const Output scalar = b.Const(scope + "/scalar", Tensor(DType::kInt32, Shape({0})));
  const Output rows = b.Op("Reshape", {first, scalar}, {.name = scope + "/num_segments"});
  return b.Op("UnsortedSegmentSum", {gradient.values, gradient.indices, rows}, {.name = scope + "/to_dense"});
}

std::vector<Gradient> Dense(std::vector<Output> gradients) {
  std::vector<Gradient> out;
  for (const Output each : gradients) out.push_back({.values = each});
  return out;
}

DType GradientCall::type_of(Output output) const {
  return b_.graph().Has(output) ? b_.graph().TypeOf(output) : DType::kInvalid;
}

Output GradientCall::grad(int i) {
  Gradient& gradient = grads_[static_cast<std::size_t>(i)];
  if (gradient.sparse()) gradient = {.values = Densified(b_, scope_, gradient)};
  return gradient.values;
}

const Tensor* GradientCall::constant(int i) const {
  const Node& from = b_.graph().node(in(i).node);
  return from.def->constant ? &from.def->constant(from) : nullptr;
}

Output GradientCall::Op(std::string op, std::vector<Output> inputs, Attrs attrs) {
  std::string name = scope_ + "/" + op;
  return b_.Op(std::move(op), std::move(inputs), {.name = std::move(name), .attrs = std::move(attrs)});
}

Output GradientCall::Number(DType type, double value) {
  Tensor number;
  switch (type) {
    case DType::kDouble:
      number = Tensor::Scalar<double>(value);
      break;
    case DType::kInt32:
      number = Tensor::Scalar<std::int32_t>(static_cast<std::int32_t>(value));
      break;
    case DType::kInt64:
      number = Tensor::Scalar<std::int64_t>(static_cast<std::int64_t>(value));
      break;
    default:
      number = Tensor::Scalar<float>(static_cast<float>(value));
  }
  return b_.Const(scope_ + "/Const", std::move(number));
}

Output GradientCall::Ints(const std::vector<std::int32_t>& values) {
  return b_.Const(scope_ + "/Const", Tensor::Vector<std::int32_t>(values));
}

Output GradientCall::Int(std::int32_t value) {
  return b_.Const(scope_ + "/Const", Tensor::Scalar<std::int32_t>(value));
}

Output GradientCall::Cast(Output value, DType type) {
  return type_of(value) == type ? value : Op("Cast", {value}, {{"DstT", type}});
}

Output GradientCall::Sum(Output value, Output axes, bool keep_dims) {
  return Op("Sum", {value, axes}, {{"keep_dims", keep_dims}});
}

std::pair<Output, Output> GradientCall::SumToBoth(Output x, Output y, Output for_x, Output for_y) {
  const Output shape_x = ShapeOf(x);
  const Output shape_y = ShapeOf(y);
  const Output axes = Op("BroadcastGradientArgs", {shape_x, shape_y});
  const auto reduce = [&](Output value, int which, Output shape) {
    if (value.node == kNoNode) return Output();
    return Op("Reshape", {Sum(value, {axes.node, which}), shape});
  };
  const Output reduced_x = reduce(for_x, 0, shape_x);
  return {reduced_x, reduce(for_y, 1, shape_y)};
}

Output GradientCall::ReducedShape(Output shape, Output axes) {
  const Output rank = Op("Size", {shape});
  const Output positive = Op("FloorMod", {Op("AddV2", {Cast(axes, DType::kInt32), rank}), rank});
  const Output all = Op("Range", {Int(0), rank, Int(1)});
  const Output ones = Op("Fill", {ShapeOf(positive), Int(1)});
  return Op("DynamicStitch", {all, positive, shape, ones});
}

void GradientRegistry::Register(std::string op, GradientFn fn) {
  const bool is_new = all_.emplace(std::move(op), std::move(fn)).second;
  VIGIL_CHECK(is_new);
}

const GradientFn* GradientRegistry::Find(std::string_view op) const {
  const auto it = all_.find(op);
  return it == all_.end() ? nullptr : &it->second;
}

}  // namespace vigil
