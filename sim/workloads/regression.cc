#include "vigil/sim/workloads/regression.h"

#include <cstddef>
#include <optional>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/training_util.h"

namespace vigil::sim {
namespace {

constexpr std::array<float, kRegressionFeatures> kTruth = {1, 2, 3};
constexpr std::uint64_t kTestStream = ~std::uint64_t{0};

float Predict(const RegressionParameters& parameters, const RegressionExample& example) {
  float sum = 0;
  for (std::size_t i = 0; i < example.x.size(); ++i) sum += example.x[i] * parameters.w[i];
  return sum + parameters.b;
}

Output Ints(Builder& b, const std::string& name, const std::vector<std::int32_t>& values) {
  return b.Const(name, Tensor::Vector<std::int32_t>(values));
}

// The difference of prediction and target.
Output AddError(Builder& b, const Regression& model) {
  const Output product = b.Op("MatMul", {model.x, model.w.read});
  const Output sum = b.Op("AddV2", {product, model.b.read}, {.name = "add"});
  const Output prediction = b.Op("Squeeze", {sum}, {.attrs = {{"squeeze_dims", std::vector<std::int64_t>{-1}}}});
  return b.Op("Sub", {prediction, model.y}, {.name = "sub"});
}

Output AddLoss(Builder& b, Output error) { return b.Op("Mean", {b.Op("Square", {error}), Ints(b, "Const", {0})}); }

// What the derivatives of the loss by w and b are: 2 error / n, as a column, times what stands at each.
void AddGradients(Builder& b, Output error, Regression& model) {
  const Output twice =
      b.Op("Mul", {error, b.Const("gradients/two", Tensor::Scalar<float>(2))}, {.name = "gradients/Square_grad/Mul"});
  const Output examples = b.Op("Shape", {error}, {.name = "gradients/Mean_grad/Shape"});
  const Output count =
      b.Op("Cast", {examples}, {.name = "gradients/Mean_grad/Cast", .attrs = {{"DstT", DType::kFloat}}});
  const Output slope = b.Op("RealDiv", {twice, count}, {.name = "gradients/Mean_grad/truediv"});
  const Output column = b.Op("Reshape", {slope, Ints(b, "gradients/Squeeze_grad/shape", {-1, 1})},
                             {.name = "gradients/Squeeze_grad/Reshape"});
  model.gradient_of_w =
      b.Op("MatMul", {model.x, column}, {.name = "gradients/MatMul_grad/MatMul", .attrs = {{"transpose_a", true}}});
  model.gradient_of_b =
      b.Op("Sum", {column, Ints(b, "gradients/add_grad/reduction_indices", {0})}, {.name = "gradients/add_grad/Sum"});
}

}  // namespace

RegressionBatch RegressionData::Next(int examples) {
  RegressionBatch batch(static_cast<std::size_t>(examples));
  for (RegressionExample& example : batch) {
    for (std::size_t i = 0; i < example.x.size(); ++i) {
      example.x[i] = 2 * draws_.Centred();
      example.y += example.x[i] * kTruth[i];
    }
    if (noise_ > 0) example.y += noise_ * draws_.Centred();
  }
  return batch;
}

RegressionBatch RegressionTestData(std::uint64_t seed, float noise, int examples) {
  return RegressionData(seed, kTestStream, noise).Next(examples);
}

double LossOf(const RegressionParameters& parameters, const RegressionBatch& batch) {
  double sum = 0;
  for (const RegressionExample& example : batch) {
    double error = static_cast<double>(parameters.b) - static_cast<double>(example.y);
    for (std::size_t i = 0; i < example.x.size(); ++i) {
      error += static_cast<double>(example.x[i]) * static_cast<double>(parameters.w[i]);
    }
    sum += error * error;
  }
  return batch.empty() ? 0 : sum / static_cast<double>(batch.size());
}

RegressionParameters GradientOf(const RegressionParameters& parameters, const RegressionBatch& batch) {
  RegressionParameters gradient;
  const auto count = static_cast<float>(batch.size());
  for (const RegressionExample& example : batch) {
    const float slope = (Predict(parameters, example) - example.y) * 2 / count;
    for (std::size_t i = 0; i < example.x.size(); ++i) gradient.w[i] += example.x[i] * slope;
    gradient.b += slope;
  }
  return gradient;
}

RegressionParameters MeanOf(const std::vector<RegressionParameters>& gradients) {
  RegressionParameters mean;
  for (const RegressionParameters& gradient : gradients) {
    for (std::size_t i = 0; i < mean.w.size(); ++i) mean.w[i] += gradient.w[i];
    mean.b += gradient.b;
  }
  const auto count = static_cast<float>(gradients.size());
  for (float& w : mean.w) w /= count;
  mean.b /= count;
  return mean;
}

void Descend(RegressionParameters& parameters, const RegressionParameters& gradient, float rate) {
  for (std::size_t i = 0; i < parameters.w.size(); ++i) parameters.w[i] -= gradient.w[i] * rate;
  parameters.b -= gradient.b * rate;
}

Tensor FeaturesOf(const RegressionBatch& batch) {
  Tensor out(DType::kFloat, Shape({static_cast<std::int64_t>(batch.size()), kRegressionFeatures}));
  float* to = out.mutable_flat<float>().data();
  for (const RegressionExample& example : batch) {
    for (const float feature : example.x) *to++ = feature;
  }
  return out;
}

Tensor TargetsOf(const RegressionBatch& batch) {
  Tensor out(DType::kFloat, Shape({static_cast<std::int64_t>(batch.size())}));
  float* to = out.mutable_flat<float>().data();
  for (const RegressionExample& example : batch) *to++ = example.y;
  return out;
}

absl::StatusOr<RegressionParameters> ParametersFrom(const Tensor& w, const Tensor& b) {
  RegressionParameters parameters;
  if (w.dtype() != DType::kFloat || b.dtype() != DType::kFloat || w.num_elements() != kRegressionFeatures ||
      b.num_elements() != 1) {
    return MakeStatus(Code::kInvalidArgument, "no parameters of the regression: " + w.Describe() + ", " + b.Describe());
  }
  for (std::size_t i = 0; i < parameters.w.size(); ++i) parameters.w[i] = w.flat<float>()[i];
  parameters.b = b.flat<float>()[0];
  return parameters;
}

Feeds Regression::Feed(const RegressionBatch& batch) const {
  return {{.tensor = x, .value = FeaturesOf(batch)}, {.tensor = y, .value = TargetsOf(batch)}};
}

void AddRegressionVariables(Builder& b, ops::Variable& w, ops::Variable& bias) {
  const auto zeros = [&b](const std::string& name, Shape shape) {
    return ops::MakeVariable(b, name, b.Const(name + "/Initializer/zeros", Tensor(DType::kFloat, std::move(shape))));
  };
  w = zeros("w", Shape({kRegressionFeatures, 1}));
  bias = zeros("b", Shape({1}));
}

Output AddRegressionLoss(Builder& b, const Regression& model) { return AddLoss(b, AddError(b, model)); }

absl::StatusOr<Regression> BuildRegression(const Env& env, Builder& b, const Replica& replica,
                                           const RegressionOptions& options) {
  VIGIL_ASSIGN_OR_RETURN(DeviceFunction devices, DevicesFor(env, replica));
  const DeviceScope scope(b, std::move(devices));
  Regression model;
  VIGIL_ASSIGN_OR_RETURN(model.global_step, GetOrCreateGlobalStep(env, b));
  model.x = ops::Placeholder(b, "Placeholder", DType::kFloat);
  model.y = ops::Placeholder(b, "Placeholder", DType::kFloat);
  AddRegressionVariables(b, model.w, model.b);
  const Output error = AddError(b, model);
  model.loss = AddLoss(b, error);
  AddGradients(b, error, model);
  std::shared_ptr<Optimizer> optimizer =
      std::make_shared<GradientDescentOptimizer>(GradientDescentOptions{.learning_rate = options.learning_rate});
  if (options.synchronous_replicas.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(model.sync,
                           SyncReplicasOptimizer::Create(env, {.optimizer = optimizer,
                                                               .replicas_to_aggregate = *options.synchronous_replicas,
                                                               .behaviour = options.behaviour}));
    model.sync_hook = model.sync->MakeSessionRunHook(replica.IsChief(), options.num_tokens);
    optimizer = model.sync;
  }
  VIGIL_ASSIGN_OR_RETURN(
      model.train_op,
      optimizer->ApplyGradients(b, {{model.gradient_of_w, model.w.ref}, {model.gradient_of_b, model.b.ref}},
                                model.global_step));
  return model;
}

}  // namespace vigil::sim
