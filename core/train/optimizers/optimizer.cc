#include "vigil/core/train/optimizers/optimizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/gradients/gradients.h"
#include "vigil/core/ops/ops.h"

namespace vigil {
namespace {

std::vector<Output> TrainableVariables(const Graph& graph) {
  const std::vector<Output>& others = graph.Collection(kNotTrainable);
  std::vector<Output> trainable;
  for (const Output variable : graph.Collection(kGlobalVariables)) {
    const DType type = ops::VariableType(graph, variable);
    if (type != DType::kFloat && type != DType::kDouble) continue;
    if (std::ranges::find(others, variable) == others.end()) trainable.push_back(variable);
  }
  return trainable;
}

}  // namespace

absl::StatusOr<GradientsAndVariables> Optimizer::ComputeGradients(Builder& b, Output loss,
                                                                  const std::vector<Output>& variables) {
  VIGIL_RETURN_IF_ERROR(b.status());
  const std::vector<Output> all = variables.empty() ? TrainableVariables(b.graph()) : variables;
  if (all.empty()) return UsageError("No variables to optimize.");
  const GradientsOptions gated{.gate = true};
  VIGIL_ASSIGN_OR_RETURN(const std::vector<Gradient> gradients, Gradients(b, std::vector<Output>{loss}, all, gated));
  GradientsAndVariables pairs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    pairs.push_back({.gradient = gradients[i].values,
                     .variable = all[i],
                     .indices = gradients[i].indices,
                     .dense_shape = gradients[i].dense_shape});
  }
  return pairs;
}

absl::StatusOr<Output> Optimizer::Minimize(Builder& b, Output loss, std::optional<Output> global_step,
                                           const std::vector<Output>& variables, std::string name) {
  VIGIL_ASSIGN_OR_RETURN(const GradientsAndVariables pairs, ComputeGradients(b, loss, variables));
  const auto without = [](const GradientAndVariable& pair) { return pair.gradient.node == kNoNode; };
  if (std::ranges::all_of(pairs, without)) {
    std::vector<std::string> names;
    for (const GradientAndVariable& pair : pairs) names.push_back(fmt::format("'{}'", b.graph().NameOf(pair.variable)));
    return UsageError(
        fmt::format("No gradients provided for any variable, check your graph for ops that do not support gradients, "
                    "between variables [{}] and loss {}.",
                    fmt::join(names, ", "), b.graph().NameOf(loss)));
  }
  return ApplyGradients(b, pairs, global_step, std::move(name));
}

}  // namespace vigil
