#include "vigil/core/graph/scope.h"

#include <fmt/format.h>

namespace vigil {
namespace {

bool Taken(const Graph& graph, const std::string& scope) {
  const std::string below = scope + "/";
  for (NodeId id = 0; id < graph.size(); ++id) {
    const std::string& name = graph.node(id).name;
    if (name == scope || name.starts_with(below)) return true;
  }
  return false;
}

}  // namespace

std::string UniqueScope(const Graph& graph, const std::string& wanted) {
  std::string scope = wanted;
  for (int i = 1; Taken(graph, scope); ++i) scope = fmt::format("{}_{}", wanted, i);
  return scope;
}

}  // namespace vigil
