#include "vigil/core/train/supervisor/supervisor_model.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner_def.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/default_ops.h"
#include "vigil/core/train/training_util.h"

namespace vigil {
namespace {

template <typename T>
std::optional<T> FirstOf(const Env& env, const Graph& graph, CollectionKey<T> key) {
  const std::vector<T>& items = graph.Collection(key);
  if (items.empty()) return std::nullopt;
  if (items.size() > 1) {
    env.log->Write(Severity::kInfo,
                   fmt::format("Found {} {} operations. Returning the first one.", items.size(), key.name));
  }
  return items.front();
}

// What was given; else the collection's first item; else what `make` gives.
absl::StatusOr<std::optional<Output>> GivenOrFirstOrMade(const Env& env, Graph& graph, const OrDefault<Output>& given,
                                                         CollectionKey<Output> key, Output (*make)(Builder& b)) {
  if (given.given()) return given.value();
  if (const std::optional<Output> first = FirstOf(env, graph, key)) return first;
  return MakeInto(graph, key, make);
}

// An op without value, among outputs.
OrDefault<Output> AsOutput(const OrDefault<NodeId>& op) {
  if (!op.given()) return {};
  if (!op.value().has_value()) return std::nullopt;
  return Output{*op.value()};
}
std::optional<NodeId> AsNode(const std::optional<Output>& output) {
  return output.has_value() ? std::optional<NodeId>(output->node) : std::nullopt;
}

absl::StatusOr<SaverPtr> FindOrMakeSaver(const Env& env, Graph& graph, const OrDefault<SaverPtr>& given,
                                         const Behaviour& behaviour) {
  SaverPtr saver;
  if (given.given()) {
    saver = given.value().value_or(nullptr);
  } else if (std::optional<SaverPtr> first = FirstOf(env, graph, kSavers)) {
    saver = *std::move(first);
  } else if (!graph.Collection(kGlobalVariables).empty()) {
    saver = std::make_shared<Saver>(env, SaverOptions{.codecs = {QueueRunnerCodec(env)}, .behaviour = behaviour});
    graph.AddToCollection(kSavers, saver);
  }
  if (saver != nullptr) VIGIL_RETURN_IF_ERROR(saver->Build(graph));
  return saver;
}

// A handle has no value to read: what reads the variable is.
std::optional<Output> WithValue(const Graph& graph, std::optional<Output> step) {
  if (step.has_value() && ops::IsResourceVariable(graph, *step)) return ReadOfVariable(graph, *step);
  return step;
}

std::optional<Output> FindGlobalStep(const Env& env, Graph& graph, const OrDefault<Output>& given) {
  if (given.given()) return given.value();
  if (const std::optional<Output> first = FirstOf(env, graph, kGlobalStep)) return first;
  const std::optional<Output> named = graph.FindOutput("global_step:0");
  if (!named.has_value()) return std::nullopt;
  const DType type = ops::VariableType(graph, *named);
  if (type != DType::kInt32 && type != DType::kInt64) {
    env.log->Write(Severity::kWarning, fmt::format("Found 'global_step' is not an int type: {}", DTypeName(type)));
    return std::nullopt;
  }
  graph.AddToCollection(kGlobalStep, *named);
  return named;
}

}  // namespace

absl::StatusOr<SupervisorModel> FindOrMakePieces(const Env& env, Graph& graph, const SupervisorOptions& options) {
  SupervisorModel model;
  VIGIL_ASSIGN_OR_RETURN(model.ready_op, GivenOrFirstOrMade(env, graph, options.ready_op, kReadyOp, MakeReadyOp));
  VIGIL_ASSIGN_OR_RETURN(model.ready_for_local_init_op,
                         GivenOrFirstOrMade(env, graph, options.ready_for_local_init_op, kReadyForLocalInitOp,
                                            [](Builder&) { return Output(); }));
  VIGIL_ASSIGN_OR_RETURN(const std::optional<Output> init,
                         GivenOrFirstOrMade(env, graph, AsOutput(options.init_op), kInitOp, MakeInitOp));
  VIGIL_ASSIGN_OR_RETURN(
      const std::optional<Output> local_init,
      GivenOrFirstOrMade(env, graph, AsOutput(options.local_init_op), kLocalInitOp, MakeLocalInitOp));
  model.init_op = AsNode(init);
  model.local_init_op = AsNode(local_init);
  if (model.local_init_op.has_value() && options.behaviour.queues_start_anew) {
    Builder b(graph);
    model.local_init_op = WithOpenQueues(b, *model.local_init_op);
    VIGIL_RETURN_IF_ERROR(b.status());
  }
  VIGIL_ASSIGN_OR_RETURN(model.saver, FindOrMakeSaver(env, graph, options.saver, options.behaviour));
  VIGIL_ASSIGN_OR_RETURN(model.summary_op,
                         GivenOrFirstOrMade(env, graph, options.summary_op, kSummaryOp, ops::MergeAllSummaries));
  model.global_step = WithValue(graph, FindGlobalStep(env, graph, options.global_step));
  NoteInitOps(graph, {.init_op = model.init_op,
                      .ready_op = model.ready_op,
                      .ready_for_local_init_op = model.ready_for_local_init_op,
                      .local_init_op = model.local_init_op});
  return model;
}

absl::Status CheckVariablesHaveDevices(const Graph& graph) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if ((node.op != "Variable" && node.op != "VariableV2") || !node.device.empty()) continue;
    return UsageError(fmt::format(
        "When using replicas, all Variables must have their device set: name: \"{}\"\nop: \"{}\"", node.name, node.op));
  }
  return absl::OkStatus();
}

}  // namespace vigil
