#include "vigil/core/ops/training.h"

#include <utility>

namespace vigil::ops {

Output ConditionalAccumulator(Builder& b, std::string name, DType dtype, std::optional<Shape> shape,
                              std::string shared_name) {
  Attrs attrs{{"dtype", dtype}};
  if (shape.has_value()) attrs.emplace("shape", *std::move(shape));
  if (!shared_name.empty()) attrs.emplace("shared_name", std::move(shared_name));
  return b.Op("ResourceConditionalAccumulator", {}, {.name = std::move(name), .attrs = std::move(attrs)});
}

NodeId AccumulatorApplyGradient(Builder& b, std::string name, Output accumulator, Output local_step, Output gradient) {
  return b.Op("ResourceAccumulatorApplyGradient", {accumulator, local_step, gradient}, {.name = std::move(name)}).node;
}

Output AccumulatorTakeGradient(Builder& b, const std::string& name, Output accumulator, std::int32_t num_required,
                               DType dtype) {
  const Output required = b.Const(name + "/num_required", Tensor::Scalar(num_required));
  return b.Op("ResourceAccumulatorTakeGradient", {accumulator, required}, {.name = name, .attrs = {{"dtype", dtype}}});
}

Output AccumulatorNumAccumulated(Builder& b, std::string name, Output accumulator) {
  return b.Op("ResourceAccumulatorNumAccumulated", {accumulator}, {.name = std::move(name)});
}

NodeId AccumulatorSetGlobalStep(Builder& b, std::string name, Output accumulator, Output step, bool cancels_takes) {
  Attrs attrs;
  if (cancels_takes) attrs.emplace(kCancelsTakes, true);
  return b
      .Op("ResourceAccumulatorSetGlobalStep", {accumulator, step}, {.name = std::move(name), .attrs = std::move(attrs)})
      .node;
}

}  // namespace vigil::ops
