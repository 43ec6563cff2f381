#include "vigil/core/session/classify.h"

#include <algorithm>

namespace vigil {
namespace {

bool Contains(const std::vector<Output>& outputs, Output wanted) {
  return std::ranges::find(outputs, wanted) != outputs.end();
}

}  // namespace

CallKind ClassifyCall(const RunCall& call, const Graph& graph) {
  if (call.with_hooks) return CallKind::kRun;
  if (call.evaluates) return CallKind::kRawRun;
  const RunSpec& spec = call.spec;
  const std::size_t fetches = spec.fetches.size();
  const std::size_t wanted = fetches + spec.unresolved.size();  // what the graph does not have was fetched, too
  if (wanted == 2 && fetches > 0 && spec.targets.empty() &&
      Contains(graph.Collection(kGlobalStep), spec.fetches.back()))
    return CallKind::kSummary;
  if (wanted + spec.targets.size() != 1 || !spec.unresolved.empty()) return CallKind::kRawRun;
  const NodeId node = fetches == 1 ? spec.fetches[0].node : spec.targets[0];
  for (const WellKnownCall& known : graph.Collection(kWellKnownCalls)) {
    if (known.node == node) return known.kind;
  }
  if (fetches == 1 && (Contains(graph.Collection(kGlobalStepRead), spec.fetches[0]) ||
                       Contains(graph.Collection(kGlobalStep), spec.fetches[0]))) {
    return CallKind::kReadStep;
  }
  return CallKind::kRawRun;
}

}  // namespace vigil
