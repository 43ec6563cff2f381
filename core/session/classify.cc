#include "vigil/core/session/classify.h"

#include <algorithm>
#include <vector>

#include "vigil/core/graph/group.h"

namespace vigil {
namespace {

bool Contains(const std::vector<Output>& outputs, Output wanted) {
  return std::ranges::find(outputs, wanted) != outputs.end();
}

// The global step, also as what reads it where the graph's step is the handle of a resource variable.
bool IsGlobalStep(const Graph& graph, Output fetch) {
  const std::vector<Output>& steps = graph.Collection(kGlobalStep);
  if (Contains(steps, fetch)) return true;
  if (!graph.Has(fetch) || graph.node(fetch.node).op != "ReadVariableOp") return false;
  const NodeId holder = graph.node(graph.node(fetch.node).inputs[0].node).refers_to;
  return holder != kNoNode && std::ranges::any_of(steps, [&](Output step) {
           return graph.Has(step) && graph.node(step.node).refers_to == holder;
         });
}

// Of some variables only (Saver::RestoreMissingLast).
bool RestoresSome(const RunSpec& spec, const Graph& graph) {
  if (spec.feeds.empty() || spec.targets.empty() || !spec.fetches.empty() || !spec.unresolved.empty()) return false;
  return std::ranges::any_of(graph.Collection(kWellKnownCalls), [&](const WellKnownCall& known) {
    if (known.kind != CallKind::kRestore) return false;
    const std::vector<NodeId> restored = NodesOfGroup(graph, known.node);
    return std::ranges::all_of(spec.targets, [&](NodeId id) { return std::ranges::binary_search(restored, id); });
  });
}

}  // namespace

CallKind ClassifyCall(const RunCall& call, const Graph& graph) {
  if (call.with_hooks) return CallKind::kRun;
  if (call.evaluates) return CallKind::kRawRun;
  const RunSpec& spec = call.spec;
  const std::size_t fetches = spec.fetches.size();
  const std::size_t wanted = fetches + spec.unresolved.size();  // what the graph does not have was fetched, too
  if (wanted == 2 && fetches > 0 && spec.targets.empty() && IsGlobalStep(graph, spec.fetches.back())) {
    return CallKind::kSummary;
  }
  if (wanted + spec.targets.size() == 1 && spec.unresolved.empty()) {
    const NodeId node = fetches == 1 ? spec.fetches[0].node : spec.targets[0];
    for (const WellKnownCall& known : graph.Collection(kWellKnownCalls)) {
      if (known.node == node) return known.kind;
    }
    if (fetches == 1 &&
        (Contains(graph.Collection(kGlobalStepRead), spec.fetches[0]) || IsGlobalStep(graph, spec.fetches[0]))) {
      return CallKind::kReadStep;
    }
  }
  return RestoresSome(spec, graph) ? CallKind::kRestore : CallKind::kRawRun;
}

}  // namespace vigil
