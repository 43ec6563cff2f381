#include "vigil/replays/stage/model.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/training_util.h"

namespace vigil::replays {
namespace {

// As tf.train.range_input_producer: all numbers once, put into a queue by a queue runner.
absl::StatusOr<Output> QueueInput(const Env& env, Builder& b, std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  const Output range = b.Const("input_producer/range", Tensor::Vector(numbers));
  const Output once = ops::LimitEpochs(b, "input_producer/limit_epochs", range, 1);
  const ops::Queue queue = ops::FifoQueue(b, "input_producer", 32);
  const NodeId enqueue = ops::EnqueueMany(b, "input_producer/enqueue", queue, once);
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_ASSIGN_OR_RETURN(std::shared_ptr<QueueRunner> runner, QueueRunner::Create(env, {.queue_name = "input_producer",
                                                                                        .enqueue_ops = {enqueue},
                                                                                        .close_op = queue.close,
                                                                                        .cancel_op = queue.cancel}));
  b.graph().AddToCollection(kQueueRunners, std::move(runner));
  return ops::Dequeue(b, "input_producer/dequeue", queue);
}

absl::Status AddLoss(Builder& b, const ModelSpec& spec, Model& model) {
  const Output half = b.Const("loss/half", Tensor::Scalar<float>(0.5F));
  model.loss = half;
  if (spec.nan_at.has_value()) {
    const Output limit = b.Const("loss/nan_at", Tensor::Scalar<std::int64_t>(*spec.nan_at));
    const Output nan = b.Const("loss/nan", Tensor::Scalar<float>(std::numeric_limits<float>::quiet_NaN()));
    const Output reached = b.Op("GreaterEqual", {model.train, limit}, {.name = "loss/reached"});
    model.loss = b.Op("SelectV2", {reached, nan, half}, {.name = "loss/select"});
  }
  if (spec.summary) ops::ScalarSummary(b, "loss_summary", "loss", model.loss);
  return b.status();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> BuildModel(const Env& env, const ModelSpec& spec) {
  auto model = std::make_unique<Model>();
  model->graph = std::make_unique<Graph>(BuiltinOps());
  Builder b(*model->graph);
  b.device = spec.device;
  if (spec.global_step) {
    VIGIL_ASSIGN_OR_RETURN(model->global_step, GetOrCreateGlobalStep(env, b));
  }
  std::vector<NodeId> before_train;
  if (spec.batches.has_value()) {
    Output batch;
    if (spec.queue_input) {
      VIGIL_ASSIGN_OR_RETURN(batch, QueueInput(env, b, *spec.batches));
    } else {
      batch = ops::RangeIterator(b, "input", *spec.batches);
    }
    before_train.push_back(batch.node);
  }
  if (spec.local_variable) {
    const Output one = b.Const("local/initial_value", Tensor::Scalar<std::int64_t>(1));
    ops::MakeVariable(b, "local", one, kLocalVariables);
  }
  if (spec.fed_variable) {
    model->base_value = ops::Placeholder(b, "base_value", DType::kInt64);
    model->base = ops::MakeVariable(b, "base", model->base_value).read;
  }
  const Output zero = b.Const("feed_me/input", Tensor::Scalar<std::int64_t>(0));
  model->feed_me = ops::PlaceholderWithDefault(b, "feed_me", zero);
  model->fed = ops::Identity(b, "fed", model->feed_me);
  if (spec.global_step) {
    VIGIL_ASSIGN_OR_RETURN(model->read, GetOrCreateGlobalStepRead(env, b));
    before_train.push_back(model->read->node);
    const Output increment = b.Const("train/value", Tensor::Scalar<std::int64_t>(spec.steps_per_run));
    b.control_inputs = before_train;
    model->train = ops::AssignAdd(b, "train", *model->global_step, increment);
    b.control_inputs.clear();
    VIGIL_RETURN_IF_ERROR(AddLoss(b, spec, *model));
    model->bump = ops::Placeholder(b, "bump", DType::kInt64);
    model->bump_op = ops::AssignAdd(b, "bump_step", *model->global_step, model->bump).node;
    model->set_op = ops::Assign(b, "set_step", *model->global_step, model->bump).node;
  } else {
    b.control_inputs = before_train;
    model->train = b.Const("train", Tensor::Scalar<std::int64_t>(0));
    b.control_inputs.clear();
    model->loss = b.Const("loss", Tensor::Scalar<float>(0.5F));
  }
  VIGIL_RETURN_IF_ERROR(b.status());
  model->caller_fetches = Fetches::Map({{"step", model->train}, {"fed", model->fed}});
  return model;
}

}  // namespace vigil::replays
