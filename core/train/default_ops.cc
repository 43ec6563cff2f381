#include "vigil/core/train/default_ops.h"

#include <set>
#include <string>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/ops/training.h"
#include "vigil/core/session/classify.h"

namespace vigil {
namespace {

std::vector<Output> GlobalAndLocalVariables(const Graph& graph) {
  std::vector<Output> out = graph.Collection(kGlobalVariables);
  const std::vector<Output>& local = graph.Collection(kLocalVariables);
  out.insert(out.end(), local.begin(), local.end());
  return out;
}

}  // namespace

Output MakeInitOp(Builder& b) { return ops::VariablesInitializer(b, "init", b.graph().Collection(kGlobalVariables)); }

Output MakeReadyOp(Builder& b) {
  return ops::ReportUninitializedVariables(b, "report_uninitialized_variables", GlobalAndLocalVariables(b.graph()));
}

Output MakeReadyForLocalInitOp(Builder& b) {
  return ops::ReportUninitializedVariables(b, "report_uninitialized_global_variables",
                                           b.graph().Collection(kGlobalVariables));
}

Output MakeLocalInitOp(Builder& b) {
  const Output locals = ops::VariablesInitializer(b, "init_locals", b.graph().Collection(kLocalVariables));
  std::vector<NodeId> all = {locals.node};
  for (const Output& table : b.graph().Collection(kTableInitializers)) all.push_back(table.node);
  return b.Group("local_init", all);
}

NodeId WithOpenQueues(Builder& b, NodeId local_init) {
  if (b.graph().finalized()) return local_init;
  std::set<NodeId> queues;
  for (const QueueRunnerPtr& runner : b.graph().Collection(kQueueRunners)) {
    for (const NodeId closes : {runner->options().close_op, runner->options().cancel_op}) {
      if (closes < 0 || closes >= b.graph().size() || b.graph().node(closes).op != "QueueCloseV2") continue;
      queues.insert(b.graph().node(closes).inputs.front().node);
    }
  }
  if (queues.empty()) return local_init;
  std::vector<NodeId> all = {local_init};
  for (const NodeId queue : queues) {
    const std::string name = b.graph().node(queue).name + "_Open";
    all.push_back(b.Op("QueueSizeV2", {Output{queue}},
                       {.name = name, .attrs = {{std::string(ops::kOpensQueue), true}}, .colocate_with = queue})
                      .node);
  }
  return b.Group("local_init_and_open_queues", all).node;
}

absl::StatusOr<std::optional<Output>> MakeInto(Graph& graph, CollectionKey<Output> key, Output (*make)(Builder& b)) {
  Builder b(graph);
  const Output made = make(b);
  VIGIL_RETURN_IF_ERROR(b.status());
  if (made.node == kNoNode) return std::optional<Output>();
  graph.AddToCollection(key, made);
  return std::optional<Output>(made);
}

void NoteInitOps(Graph& graph, const InitOps& init_ops) {
  const auto note = [&graph](NodeId node, CallKind kind) {
    graph.AddToCollection(kWellKnownCalls, WellKnownCall{node, kind});
  };
  if (init_ops.init_op.has_value()) note(*init_ops.init_op, CallKind::kInit);
  if (init_ops.ready_op.has_value()) note(init_ops.ready_op->node, CallKind::kReady);
  if (init_ops.ready_for_local_init_op.has_value()) {
    note(init_ops.ready_for_local_init_op->node, CallKind::kReadyForLocalInit);
  }
  if (init_ops.local_init_op.has_value()) note(*init_ops.local_init_op, CallKind::kLocalInit);
}

}  // namespace vigil
