#include "vigil/sim/workloads/input_pipeline.h"

#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/training.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/training_util.h"

namespace vigil::sim {
namespace {

Output AddQueue(Builder& b, const InputPipelineOptions& options, Output global_step) {
  Attrs attrs{{"component_types", std::vector<DType>{DType::kInt64}},
              {"capacity", options.capacity},
              {"shapes", std::vector<Shape>{Shape()}}};
  if (options.shared) attrs.emplace("shared_name", std::string("input"));
  return b.Op(
      "FIFOQueueV2", {},
      {.name = "input/queue", .attrs = std::move(attrs), .colocate_with = options.shared ? global_step.node : kNoNode});
}

// Fills the queue with what a counter gives until it has reached the limit.
absl::StatusOr<QueueRunnerPtr> AddFilling(const Env& env, Builder& b, const Replica& replica,
                                          const InputPipelineOptions& options, Output queue) {
  ops::Variable counter;
  {
    const DeviceScope here(b, replica.Device());
    const Output zero = b.Const("input/counter/zero", Tensor::Scalar<std::int64_t>(0));
    counter = ops::MakeVariable(b, "input/counter", zero, kLocalVariables);
  }
  const Output next =
      b.Op("CountUpTo", {counter.ref}, {.name = "input/CountUpTo", .attrs = {{"limit", options.limit}}});
  const auto close = [&](bool cancels) {
    return b
        .Op("QueueCloseV2", {queue},
            {.name = "input/queue_Close", .attrs = {{"cancel_pending_enqueues", cancels}}, .colocate_with = queue.node})
        .node;
  };
  QueueRunnerOptions runner{.queue_name = "input/queue"};
  runner.enqueue_ops = {
      b.Op("QueueEnqueueV2", {queue, next}, {.name = "input/queue_enqueue", .colocate_with = queue.node}).node};
  runner.close_op = close(false);
  runner.cancel_op = close(true);
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_ASSIGN_OR_RETURN(QueueRunnerPtr made, QueueRunner::Create(env, std::move(runner)));
  b.graph().AddToCollection(kQueueRunners, made);
  return made;
}

}  // namespace

absl::StatusOr<InputPipeline> BuildInputPipeline(const Env& env, Builder& b, const Replica& replica,
                                                 const InputPipelineOptions& options) {
  VIGIL_ASSIGN_OR_RETURN(DeviceFunction devices, DevicesFor(env, replica));
  const DeviceScope scope(b, std::move(devices));
  InputPipeline model;
  VIGIL_ASSIGN_OR_RETURN(model.global_step, GetOrCreateGlobalStep(env, b));
  model.mean = ops::MakeVariable(b, "mean", b.Const("mean/zero", Tensor::Scalar<float>(0)));
  model.sum = ops::MakeVariable(b, "sum", b.Const("sum/zero", Tensor::Scalar<std::int64_t>(0)));
  model.queue = AddQueue(b, options, model.global_step);
  if (options.fills) {
    VIGIL_ASSIGN_OR_RETURN(model.queue_runner, AddFilling(env, b, replica, options, model.queue));
  }
  Attrs dequeue{{"component_types", std::vector<DType>{DType::kInt64}}};
  // Who takes from a queue of others says who it is.
  if (options.shared) dequeue.emplace(ops::kTaker, replica.Device());
  model.number = b.Op("QueueDequeueV2", {model.queue},
                      {.name = "input/queue_Dequeue", .attrs = std::move(dequeue), .colocate_with = model.queue.node});
  const Output real = b.Op("Cast", {model.number}, {.name = "number", .attrs = {{"DstT", DType::kFloat}}});
  const Output limit = b.Const("limit", Tensor::Scalar(static_cast<float>(options.limit)));
  const Output target = b.Op("RealDiv", {real, limit}, {.name = "target"});
  const Output error = b.Op("Sub", {model.mean.read, target}, {.name = "error"});
  model.loss = b.Op("Square", {error}, {.name = "loss"});
  const Output gradient =
      b.Op("Mul", {error, b.Const("gradients/two", Tensor::Scalar<float>(2))}, {.name = "gradients/mean"});
  const Output added = ops::AssignAdd(b, "add_to_sum", model.sum.ref, model.number);
  // A step that counts has added its number.
  Builder after = b;
  after.control_inputs.push_back(added.node);
  GradientDescentOptimizer optimizer({.learning_rate = kInputPipelineRate});
  const absl::StatusOr<Output> train_op =
      optimizer.ApplyGradients(after, {{gradient, model.mean.ref}}, model.global_step);
  VIGIL_RETURN_IF_ERROR(train_op.status());
  model.train_op = *train_op;
  return model;
}

float MeanAfter(const std::vector<std::int64_t>& numbers, std::int64_t limit) {
  float mean = 0;
  for (const std::int64_t number : numbers) {
    const float error = mean - static_cast<float>(number) / static_cast<float>(limit);
    mean -= error * 2 * kInputPipelineRate;
  }
  return mean;
}

double LossOf(float mean, std::int64_t limit) {
  double sum = 0;
  for (std::int64_t number = 0; number < limit; ++number) {
    const double error = static_cast<double>(mean) - static_cast<double>(number) / static_cast<double>(limit);
    sum += error * error;
  }
  return limit <= 0 ? 0 : sum / static_cast<double>(limit);
}

}  // namespace vigil::sim
