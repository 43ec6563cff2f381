#include "vigil/examples/regression.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/training_util.h"

namespace vigil::examples {

absl::StatusOr<Regression> BuildRegression(const Env& env, Graph& graph) {
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const Output step, GetOrCreateGlobalStep(env, b));
  const Output x = b.Const("x", Tensor::Vector<float>({0, 1, 2, 3}));
  const Output y = b.Const("y", Tensor::Vector<float>({2, 5, 8, 11}));
  const Output zero = b.Const("zero", Tensor::Scalar<float>(0));
  const ops::Variable weight = ops::MakeVariable(b, "weight", zero);
  const ops::Variable bias = ops::MakeVariable(b, "bias", zero);

  const Output axes = b.Const("axes", Tensor::Vector<std::int32_t>({0}));
  const auto mean = [&](const char* name, Output value) { return b.Op("Mean", {value, axes}, {.name = name}); };
  const Output prediction = b.Op("AddV2", {b.Op("Mul", {x, weight.read}), bias.read}, {.name = "prediction"});
  const Output error = b.Op("Sub", {prediction, y}, {.name = "error"});
  const Output loss = mean("loss", b.Op("Square", {error}));

  // The loss's gradients are twice these two means.
  const Output rate = b.Const("rate", Tensor::Scalar<float>(0.2F));
  const auto descend = [&](const char* name, const ops::Variable& variable, Output gradient) {
    return ops::AssignSub(b, name, variable.ref, b.Op("Mul", {gradient, rate})).node;
  };
  const NodeId update_weight = descend("update_weight", weight, mean("dweight", b.Op("Mul", {error, x})));
  const NodeId update_bias = descend("update_bias", bias, mean("dbias", error));
  const Output one = b.Const("one", Tensor::Scalar<std::int64_t>(1));
  b.control_inputs = {update_weight, update_bias, loss.node};
  const Output train = ops::AssignAdd(b, "train", step, one);
  VIGIL_RETURN_IF_ERROR(b.status());
  return Regression{.global_step = step, .weight = weight.ref, .bias = bias.ref, .loss = loss, .train = train};
}

void PrintModel(float weight, float bias) { std::printf("weight %.2f, bias %.2f\n", weight, bias); }

int Main(absl::Status (*body)(const Env& env)) {
  RealEnv real;
  const absl::Status status = body(real.env());
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s: %s\n", std::string(CodeName(CodeOf(status))).c_str(),
               std::string(MessageOf(status)).c_str());
  return 1;
}

}  // namespace vigil::examples
