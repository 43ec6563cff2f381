#include "vigil/core/train/optimizers/sync_replicas_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/gradients/gradient.h"
#include "vigil/core/ops/training.h"
#include "vigil/core/train/optimizers/graph_names.h"
#include "vigil/core/train/optimizers/sync_replicas_hook.h"
#include "vigil/core/train/training_util.h"

namespace vigil {
namespace {

Tensor ZeroOf(DType dtype) { return Tensor(dtype, Shape()); }

// `count` times the global step.
Output Tokens(Builder& b, int count, Output step, std::vector<NodeId> after = {}) {
  const std::string name = UniqueScope(b.graph(), "Fill");
  const Output dims = b.Const(name + "/dims", Tensor::Vector<std::int32_t>({count}));
  return b.Op("Fill", {dims, step}, {.name = name, .control_inputs = std::move(after)});
}

// A replica's name, by its local step: no other's is in that place under that name.
std::string TakerOf(const Graph& graph, Output local_step) {
  return fmt::format("{} {}", graph.node(local_step.node).device, graph.NameOf(local_step));
}

}  // namespace

absl::StatusOr<std::shared_ptr<SyncReplicasOptimizer>> SyncReplicasOptimizer::Create(const Env& env,
                                                                                     SyncReplicasOptions options) {
  if (options.optimizer == nullptr)
    return UsageError("SyncReplicasOptimizer needs an optimizer to apply the averages.");
  env.log->Write(Severity::kInfo, fmt::format("SyncReplicasV2: replicas_to_aggregate={}; total_num_replicas={}",
                                              options.replicas_to_aggregate,
                                              options.total_num_replicas.value_or(options.replicas_to_aggregate)));
  return std::shared_ptr<SyncReplicasOptimizer>(new SyncReplicasOptimizer(env, std::move(options)));
}

// The local step is where the replica is, not with the parameters: where an op goes that says nothing.
void SyncReplicasOptimizer::AddLocalStep(Builder& b, Nodes& nodes) const {
  const Output anchor = b.Op("NoOp", {});
  if (!b.status().ok()) return;
  const std::string device = b.graph().node(anchor.node).device;
  {
    const DeviceScope here(b, device);
    const Output zero =
        b.Const("sync_rep_local_step/initial_value", ZeroOf(ops::VariableType(b.graph(), nodes.global_step)));
    nodes.local_step = ops::MakeVariable(b, "sync_rep_local_step", zero, kLocalVariables);
  }
  nodes.local_step_init = ops::Assign(b, "Assign", nodes.local_step.ref, nodes.global_step_read).node;
  nodes.ready_for_local_init =
      ops::ReportUninitializedVariables(b, "report_uninitialized_variables", b.graph().Collection(kGlobalVariables));
}

// The variables with their averaged gradients.
GradientsAndVariables SyncReplicasOptimizer::AddAccumulators(Builder& b, const std::string& scope,
                                                             const GradientsAndVariables& gradients,
                                                             Nodes& nodes) const {
  GradientsAndVariables averages;
  for (const GradientAndVariable& pair : gradients) {
    if (!b.status().ok()) break;
    const Graph& graph = b.graph();
    if (!graph.Has(pair.variable) || (pair.gradient.node != kNoNode && !graph.Has(pair.gradient))) {
      b.Fail(UsageError("A gradient or a variable is not an output of a node of this graph."));
      break;
    }
    if (pair.gradient.node == kNoNode) {
      averages.push_back(pair);
      continue;
    }
    const Node& variable = graph.node(pair.variable.node);
    // Replicas add up whole gradients.
    const Output gradient =
        Densified(b, UniqueScope(graph, scope + "/dense"),
                  {.values = pair.gradient, .indices = pair.indices, .dense_shape = pair.dense_shape});
    if (!b.status().ok()) break;
    const DType dtype = graph.TypeOf(gradient);
    const DeviceScope there(b, variable.device);
    const Output accumulator =
        ops::ConditionalAccumulator(b, scope + "/conditional_accumulator", dtype, DeclaredShape(variable).ToShape(),
                                    graph.NameOf(pair.variable) + "/grad_accum");
    nodes.accumulators.push_back(accumulator);
    nodes.pushes.push_back(ops::AccumulatorApplyGradient(b, scope + "/ResourceAccumulatorApplyGradient", accumulator,
                                                         nodes.local_step.read, gradient));
    const std::string take = UniqueScope(graph, scope + "/ResourceAccumulatorTakeGradient");
    averages.push_back(
        {.gradient = ops::AccumulatorTakeGradient(b, take, accumulator, options_.replicas_to_aggregate, dtype),
         .variable = pair.variable});
  }
  return averages;
}

// The replicas' train op, and the op that ends a step of the chief's task.
Output SyncReplicasOptimizer::AddTokens(Builder& b, NodeId update, Nodes& nodes, NodeId& sync_op) const {
  if (!b.status().ok()) return {};
  const DType type = ops::VariableType(b.graph(), nodes.global_step);
  const std::vector<DType> types{type};
  nodes.token_queue = b.Op("FIFOQueueV2", {},
                           {.name = "sync_token_q",
                            .attrs = {{"capacity", std::int64_t{-1}},
                                      {"component_types", types},
                                      {"shapes", std::vector<Shape>{Shape()}},
                                      {"shared_name", std::string("sync_token_q")}}});
  Attrs taking{{"component_types", types}};
  if (options_.behaviour.sync_failure_wakes) taking.emplace(ops::kTaker, TakerOf(b.graph(), nodes.local_step.ref));
  const Output token =
      b.Op("QueueDequeueV2", {nodes.token_queue},
           {.name = "sync_token_q_Dequeue", .control_inputs = nodes.pushes, .attrs = std::move(taking)});
  const Output train_op = ops::Assign(b, "Assign", nodes.local_step.ref, token);
  // The step itself, not its read: after the update. (TensorFlow's read shows the new value all the same: it shares the
  // buffer.)
  Output step = nodes.global_step;
  if (ops::IsResourceVariable(b.graph(), step)) {
    step = b.Op("ReadVariableOp", {step}, {.control_inputs = {update}, .attrs = {{"dtype", type}}});
  }
  const Output tokens = Tokens(b, std::max(total(), options_.replicas_to_aggregate), step, {update});
  sync_op = b.Op("QueueEnqueueManyV2", {nodes.token_queue, tokens}, {.name = "sync_token_q_EnqueueMany"}).node;
  return train_op;
}

NodeId SyncReplicasOptimizer::AddSetGlobalSteps(Builder& b, const std::string& scope, Nodes& nodes) const {
  std::vector<NodeId> all{nodes.local_step_init};
  for (const Output accumulator : nodes.accumulators) {
    if (!b.status().ok()) return kNoNode;
    const DeviceScope there(b, b.graph().node(accumulator.node).device);
    all.push_back(ops::AccumulatorSetGlobalStep(b, scope + "/SetGlobalStep", accumulator, nodes.global_step_read));
  }
  return GroupByDevice(b, scope + "/group_deps", all).node;
}

absl::Status SyncReplicasOptimizer::AddQueueRunner(Builder& b, const std::string& scope, NodeId sync_op,
                                                   Nodes& nodes) const {
  const auto close = [&](bool cancels) {
    const DeviceScope there(b, b.graph().node(nodes.global_step.node).device);
    return b
        .Op("QueueCloseV2", {nodes.token_queue},
            {.name = "sync_token_q_Close", .attrs = {{"cancel_pending_enqueues", cancels}}})
        .node;
  };
  QueueRunnerOptions runner{.queue_name = "sync_token_q", .enqueue_ops = {sync_op}, .close_op = close(false)};
  nodes.close_tokens = close(true);
  if (options_.behaviour.sync_failure_wakes && b.status().ok()) {
    // Or the chief, which alone can begin anew, would wait for a token that nobody makes.
    runner.wake_op = b.Op("QueueSizeV2", {nodes.token_queue},
                          {.name = "sync_token_q_StopTaker",
                           .attrs = {{std::string(ops::kStopsTaker), TakerOf(b.graph(), nodes.local_step.ref)}},
                           .colocate_with = nodes.token_queue.node})
                         .node;
  }
  std::vector<NodeId> on_stop;
  if (!options_.behaviour.sync_tokens_renewed) on_stop.push_back(nodes.close_tokens);
  if (options_.behaviour.sync_stop_cancels) {
    for (const Output accumulator : nodes.accumulators) {
      if (!b.status().ok()) break;
      const DeviceScope there(b, b.graph().node(accumulator.node).device);
      on_stop.push_back(ops::AccumulatorSetGlobalStep(b, scope + "/CancelTakes", accumulator, nodes.global_step_read,
                                                      /*cancels_takes=*/true));
    }
  }
  if (on_stop.size() == 1) {
    runner.cancel_op = on_stop.front();
  } else if (!on_stop.empty()) {
    runner.cancel_op = GroupByDevice(b, scope + "/cancel", on_stop).node;
  }
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_ASSIGN_OR_RETURN(nodes.chief_queue_runner, QueueRunner::Create(env_, std::move(runner)));
  return absl::OkStatus();
}

absl::StatusOr<Output> SyncReplicasOptimizer::ApplyGradients(Builder& b, const GradientsAndVariables& gradients,
                                                             std::optional<Output> global_step, std::string) {
  VIGIL_RETURN_IF_ERROR(b.status());
  if (gradients.empty()) return UsageError("Must supply at least one variable");
  if (!global_step.has_value()) return UsageError("Global step is required to check staleness");
  if (!b.graph().Has(*global_step)) return UsageError("The global step is not an output of a node of this graph.");
  Nodes nodes;
  nodes.global_step = *global_step;
  nodes.global_step_read = ReadOfVariable(b.graph(), *global_step);
  const std::string step_device = b.graph().node(global_step->node).device;
  AddLocalStep(b, nodes);
  const std::string scope = UniqueScope(b.graph(), options_.name);
  const GradientsAndVariables averages = AddAccumulators(b, scope, gradients, nodes);
  VIGIL_RETURN_IF_ERROR(b.status());
  Output train_op;
  NodeId sync_op = kNoNode;
  {
    const DeviceScope at_step(b, step_device);
    VIGIL_ASSIGN_OR_RETURN(const Output update, options_.optimizer->ApplyGradients(b, averages, global_step));
    train_op = AddTokens(b, update.node, nodes, sync_op);
  }
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_RETURN_IF_ERROR(AddQueueRunner(b, scope, sync_op, nodes));
  nodes.chief_init = AddSetGlobalSteps(b, scope, nodes);
  VIGIL_RETURN_IF_ERROR(b.status());
  nodes_ = std::move(nodes);
  applied_ = true;
  return train_op;
}

std::optional<Output> SyncReplicasOptimizer::GetSlot(Output variable, std::string_view slot) const {
  return options_.optimizer->GetSlot(variable, slot);
}
std::vector<std::string> SyncReplicasOptimizer::GetSlotNames() const { return options_.optimizer->GetSlotNames(); }
std::vector<Output> SyncReplicasOptimizer::variables() const { return options_.optimizer->variables(); }

absl::StatusOr<QueueRunnerPtr> SyncReplicasOptimizer::GetChiefQueueRunner() const {
  if (!applied_) return UsageError("Should be called after apply_gradients().");
  return nodes_.chief_queue_runner;
}

absl::StatusOr<NodeId> SyncReplicasOptimizer::GetInitTokensOp(Builder& b, int num_tokens) const {
  if (!applied_) return UsageError("get_init_tokens_op() should be called after apply_gradients().");
  const int needed = options_.replicas_to_aggregate - total();
  if (num_tokens == -1) {
    num_tokens = options_.replicas_to_aggregate;
  } else if (num_tokens < needed) {
    return UsageError(
        fmt::format("Too few tokens to finish the first step: {} (given) vs {} (needed)", num_tokens, needed));
  }
  num_tokens = std::max(num_tokens, 0);
  VIGIL_RETURN_IF_ERROR(b.status());
  const bool renews = options_.behaviour.sync_tokens_renewed;
  const DeviceScope at_step(b, b.graph().node(nodes_.global_step.node).device);
  Output op;
  if (num_tokens == 0 && !renews) {
    op = b.Op("NoOp", {}, {.name = "no_init_tokens"});
  } else {
    Attrs attrs;
    if (renews) attrs.emplace(ops::kRenewsQueue, true);
    op = b.Op("QueueEnqueueManyV2", {nodes_.token_queue, Tokens(b, num_tokens, nodes_.global_step_read)},
              {.name = "sync_token_q_EnqueueMany", .attrs = std::move(attrs)});
  }
  VIGIL_RETURN_IF_ERROR(b.status());
  return op.node;
}

HookPtr SyncReplicasOptimizer::MakeSessionRunHook(bool is_chief, int num_tokens, std::optional<Duration> max_wait) {
  return std::make_shared<SyncReplicasHook>(
      env_, SyncReplicasHookOptions{.optimizer = shared_from_this(),
                                    .is_chief = is_chief,
                                    .num_tokens = num_tokens,
                                    .max_wait = options_.behaviour.sync_bounded_wait ? max_wait : std::nullopt});
}

}  // namespace vigil
