#include "vigil/sim/workloads/input_pipeline.h"

#include <string>
#include <string_view>
#include <utility>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/ops/training.h"
#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"
#include "vigil/core/train/training_util.h"

namespace vigil::sim {
namespace {

// What a shuffled queue keeps until it is closed.
constexpr std::int64_t kKept = 3;
constexpr std::int64_t kSeed = 87;

// `shared_name`: by which it outlives its session; "" = it does not.
Output AddQueue(Builder& b, const InputPipelineOptions& options, std::string name, std::string_view shared_name,
                bool shuffled, NodeId beside) {
  Attrs attrs{{"component_types", std::vector<DType>{DType::kInt64}},
              {"capacity", options.capacity + (shuffled ? kKept : 0)},
              {"shapes", std::vector<Shape>{Shape()}}};
  if (!shared_name.empty()) attrs.emplace("shared_name", std::string(shared_name));
  if (shuffled) {
    attrs.emplace("min_after_dequeue", kKept);
    attrs.emplace("seed", kSeed);
    attrs.emplace("seed2", kSeed);
  }
  return b.Op(shuffled ? "RandomShuffleQueueV2" : "FIFOQueueV2", {},
              {.name = std::move(name), .attrs = std::move(attrs), .colocate_with = beside});
}

// Fills the queue with what `next` gives until that ends.
absl::StatusOr<QueueRunnerPtr> AddFilling(const Env& env, Builder& b, Output queue, Output next) {
  const std::string name = b.graph().node(queue.node).name;
  const auto close = [&](bool cancels) {
    return b
        .Op("QueueCloseV2", {queue},
            {.name = name + "_Close", .attrs = {{"cancel_pending_enqueues", cancels}}, .colocate_with = queue.node})
        .node;
  };
  QueueRunnerOptions runner{.queue_name = name};
  runner.enqueue_ops = {
      b.Op("QueueEnqueueV2", {queue, next}, {.name = name + "_enqueue", .colocate_with = queue.node}).node};
  runner.close_op = close(false);
  runner.cancel_op = close(true);
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_ASSIGN_OR_RETURN(QueueRunnerPtr made, QueueRunner::Create(env, std::move(runner)));
  b.graph().AddToCollection(kQueueRunners, made);
  return made;
}

Output AddCounter(Builder& b, const Replica& replica) {
  const DeviceScope here(b, replica.Device());
  const Output zero = b.Const("input/counter/zero", Tensor::Scalar<std::int64_t>(0));
  return ops::MakeVariable(b, "input/counter", zero, kLocalVariables).ref;
}

// ... directly, or by way of a queue before it.
absl::StatusOr<QueueRunnerPtr> AddFillings(const Env& env, Builder& b, const Replica& replica,
                                           const InputPipelineOptions& options, const InputPipeline& model,
                                           NodeId beside) {
  const Output counter = AddCounter(b, replica);
  Output next = b.Op("CountUpTo", {counter}, {.name = "input/CountUpTo", .attrs = {{"limit", options.limit}}});
  if (!options.staged) return AddFilling(env, b, model.queue, next);
  const Output first = AddQueue(b, options, "input/files/queue", kFirstInputQueue, false, beside);
  VIGIL_RETURN_IF_ERROR(AddFilling(env, b, first, next).status());
  next = b.Op("QueueDequeueV2", {first},
              {.name = "input/files/queue_Dequeue",
               .attrs = {{"component_types", std::vector<DType>{DType::kInt64}}},
               .colocate_with = first.node});
  const DeviceScope there(b, b.graph().node(model.global_step.node).device);
  const Output nothing = b.Const("input/nothing", Tensor::Scalar<std::int64_t>(0));
  next = b.Op("AddV2", {next, nothing}, {.name = "input/looked_up"});
  return AddFilling(env, b, model.queue, next);
}

// Sets what a step takes.
void AddTaking(Builder& b, const Replica& replica, const InputPipelineOptions& options, InputPipeline& model) {
  Attrs dequeue{{"component_types", std::vector<DType>{DType::kInt64}}};
  // Who takes from a queue of others says who it is.
  if (options.shared) dequeue.emplace(ops::kTaker, replica.Device());
  NodeOptions op{.name = "input/queue_Dequeue", .attrs = std::move(dequeue), .colocate_with = model.queue.node};
  if (options.batch == 1) {
    model.number = model.numbers = b.Op("QueueDequeueV2", {model.queue}, std::move(op));
    return;
  }
  const Output count = b.Const("input/batch", Tensor::Scalar(static_cast<std::int32_t>(options.batch)));
  model.numbers = b.Op(options.rest ? "QueueDequeueUpToV2" : "QueueDequeueManyV2", {model.queue, count}, std::move(op));
  const Output zero = b.Const("input/zero", Tensor::Scalar<std::int32_t>(0));
  model.number = b.Op("GatherV2", {model.numbers, zero, zero}, {.name = "input/first"});
}

// Of what a step has taken; of one alone that is itself.
Output Reduced(Builder& b, const InputPipelineOptions& options, const char* op, Output value, std::string name) {
  if (options.batch == 1) return value;
  const Output axis = b.Const(name + "/axis", Tensor::Scalar<std::int32_t>(0));
  return b.Op(op, {value, axis}, {.name = std::move(name)});
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
  const NodeId beside = options.shared ? model.global_step.node : kNoNode;
  const std::string_view shared_name = options.shared || options.staged ? "input" : "";
  model.queue = AddQueue(b, options, "input/queue", shared_name, options.shuffled, beside);
  if (options.fills) {
    VIGIL_ASSIGN_OR_RETURN(model.queue_runner, AddFillings(env, b, replica, options, model, beside));
  }
  AddTaking(b, replica, options, model);
  const Output reals = b.Op("Cast", {model.numbers}, {.name = "number", .attrs = {{"DstT", DType::kFloat}}});
  const Output real = Reduced(b, options, "Mean", reals, "mean_number");
  const Output limit = b.Const("limit", Tensor::Scalar(static_cast<float>(options.limit)));
  const Output target = b.Op("RealDiv", {real, limit}, {.name = "target"});
  const Output error = b.Op("Sub", {model.mean.read, target}, {.name = "error"});
  model.loss = b.Op("Square", {error}, {.name = "loss"});
  const Output gradient =
      b.Op("Mul", {error, b.Const("gradients/two", Tensor::Scalar<float>(2))}, {.name = "gradients/mean"});
  const Output added =
      ops::AssignAdd(b, "add_to_sum", model.sum.ref, Reduced(b, options, "Sum", model.numbers, "sum_number"));
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
