#include "vigil/core/train/hooks/training_runs.h"

#include <algorithm>

namespace vigil {
namespace {

constexpr std::size_t kMostKnown = 8;

bool IsGlobalVariable(const Graph& graph, NodeId holder) {
  return std::ranges::any_of(graph.Collection(kGlobalVariables), [&](Output v) { return v.node == holder; });
}

// Of a variable of the reference kind, who changes it passes its reference on; of one with a handle, who changes it
// gives nothing, and who reads it its value (DisableCopyOnRead does neither).
bool ChangesGlobalVariable(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.def->forwards_ref) return IsGlobalVariable(graph, node.refers_to);
  if (!node.output_types.empty() || node.op == "DisableCopyOnRead") return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.def->TakesReference(static_cast<int>(i))) continue;
    if (IsGlobalVariable(graph, graph.node(node.inputs[i].node).refers_to)) return true;
  }
  return false;
}

}  // namespace

bool ChangesGlobalVariables(const Graph& graph, const RunSpec& spec) {
  std::vector<bool> seen(static_cast<std::size_t>(graph.size()));
  std::vector<NodeId> open = spec.targets;
  for (const Output& fetch : spec.fetches) open.push_back(fetch.node);
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (id < 0 || id >= graph.size() || seen[static_cast<std::size_t>(id)]) continue;
    seen[static_cast<std::size_t>(id)] = true;
    if (ChangesGlobalVariable(graph, id)) return true;
    const Node& node = graph.node(id);
    for (const Output& input : node.inputs) open.push_back(input.node);
    open.insert(open.end(), node.control_inputs.begin(), node.control_inputs.end());
  }
  return false;
}

bool TrainingRuns::Contain(const Graph& graph, const Fetches& fetches) {
  asked_.Clear();
  fetches.AppendTo(graph, &asked_);
  for (const Known& known : known_) {
    if (known.graph == &graph && known.spec == asked_) return known.trains;
  }
  Known made{&graph, asked_, ChangesGlobalVariables(graph, asked_)};
  const bool trains = made.trains;
  if (known_.size() < kMostKnown) {
    known_.push_back(std::move(made));
  } else {
    known_[next_++ % kMostKnown] = std::move(made);
  }
  return trains;
}

}  // namespace vigil
