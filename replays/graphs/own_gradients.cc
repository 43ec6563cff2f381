#include "vigil/replays/graphs/own_gradients.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/gradients/gradients.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/meta_graph.h"
#include "vigil/core/ops/ops.h"

namespace vigil {
namespace {

constexpr std::string_view kTheirs = "theirs/";
constexpr std::string_view kOurs = "ours/";

// The names of the variables of which TensorFlow has a gradient.
std::vector<std::string> WithGradients(const Graph& graph) {
  std::vector<std::string> names;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const std::string& name = graph.node(id).name;
    if (name.starts_with(kTheirs)) names.push_back(name.substr(kTheirs.size()));
  }
  return names;
}

}  // namespace

absl::StatusOr<RecordedPlay> WithOwnGradients(const RecordedPlay& play) {
  Graph graph(BuiltinOps());
  VIGIL_RETURN_IF_ERROR(ImportMetaGraph(play.graph, graph).status());
  const std::vector<std::string> names = WithGradients(graph);
  std::vector<Output> variables;
  for (const std::string& name : names) {
    const std::optional<Output> variable = graph.FindOutput(name + ":0");
    if (!variable.has_value()) return UsageError(fmt::format("the graph has no variable '{}'", name));
    variables.push_back(*variable);
  }
  const std::optional<Output> loss = graph.FindOutput("loss:0");
  if (!loss.has_value()) return UsageError("the graph has no node 'loss'");
  Builder b(graph);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<Output> gradients, Gradients(b, *loss, variables));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (gradients[i].node == kNoNode) return UsageError(fmt::format("'{}' has no gradient", names[i]));
    b.Op("Identity", {gradients[i]}, {.name = std::string(kOurs) + names[i]});
  }
  VIGIL_RETURN_IF_ERROR(b.status());
  RecordedPlay out = play;
  VIGIL_ASSIGN_OR_RETURN(out.graph, ExportMetaGraph(graph));
  for (RecordedPlay::Run& run : out.runs) {
    for (std::string& fetch : *run.request.mutable_fetch()) {
      if (fetch.starts_with(kTheirs)) fetch.replace(0, kTheirs.size(), kOurs);
    }
  }
  return out;
}

}  // namespace vigil
