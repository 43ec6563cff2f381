#include "vigil/core/train/optimizers/gradient_descent_optimizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/optimizers/graph_names.h"

namespace vigil {
namespace {

bool HasGradient(const GradientAndVariable& pair) { return pair.gradient.node != kNoNode; }

absl::Status CheckGradients(const Graph& graph, const GradientsAndVariables& gradients) {
  if (gradients.empty()) return UsageError("No variables provided.");
  std::vector<std::string> without;
  for (const GradientAndVariable& pair : gradients) {
    if (!graph.Has(pair.variable)) return UsageError("A variable is not an output of a node of this graph.");
    if (HasGradient(pair)) return absl::OkStatus();
    without.push_back(fmt::format("'{}'", graph.NameOf(pair.variable)));
  }
  return UsageError(fmt::format("No gradients provided for any variable: [{}].", fmt::join(without, ", ")));
}

// The global step and one, where the step is; after `updates`.
Output IncreaseStep(Builder& b, const std::string& scope, Output step, NodeId updates) {
  if (!b.status().ok()) return {};
  if (!b.graph().Has(step)) {
    b.Fail(UsageError("The global step is not an output of a node of this graph."));
    return {};
  }
  const bool is_short = b.graph().TypeOf(step) == DType::kInt32;
  Tensor value = is_short ? Tensor::Scalar<std::int32_t>(1) : Tensor::Scalar<std::int64_t>(1);
  Attrs attrs{{"dtype", value.dtype()}};
  attrs.emplace("value", std::move(value));
  const Output one = b.Op(
      "Const", {},
      {.name = scope + "/value", .control_inputs = {updates}, .attrs = std::move(attrs), .colocate_with = step.node});
  // TensorFlow leaves it at the constant's control input; here a constant is not run, so the increase says itself what
  // it waits for.
  return b.Op("AssignAdd", {step, one},
              {.name = scope, .control_inputs = {updates}, .attrs = {{"use_locking", false}}});
}

}  // namespace

std::vector<NodeId> GradientDescentOptimizer::Updates(Builder& b, const std::string& scope,
                                                      const GradientsAndVariables& gradients) const {
  const Output rate = b.Const(scope + "/learning_rate", Tensor::Scalar<float>(options_.learning_rate));
  std::vector<NodeId> updates;
  for (const GradientAndVariable& pair : gradients) {
    if (!HasGradient(pair) || !b.status().ok()) continue;
    if (!b.graph().Has(pair.variable)) {
      b.Fail(UsageError("A variable is not an output of a node of this graph."));
      break;
    }
    const Node& variable = b.graph().node(pair.variable.node);
    const std::string own = UniqueScope(b.graph(), fmt::format("{}/update_{}", scope, variable.name));
    const DType type = b.graph().TypeOf(pair.variable);
    Output alpha = rate;
    if (type != DType::kFloat) {
      alpha =
          b.Op("Cast", {rate}, {.name = own + "/Cast", .attrs = {{"DstT", type}}, .colocate_with = pair.variable.node});
    }
    updates.push_back(b.Op("ApplyGradientDescent", {pair.variable, alpha, pair.gradient},
                           {.name = own + "/ApplyGradientDescent", .attrs = {{"use_locking", options_.use_locking}}})
                          .node);
  }
  return updates;
}

absl::StatusOr<Output> GradientDescentOptimizer::ApplyGradients(Builder& b, const GradientsAndVariables& gradients,
                                                                std::optional<Output> global_step, std::string name) {
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_RETURN_IF_ERROR(CheckGradients(b.graph(), gradients));
  const std::string scope = UniqueScope(b.graph(), name.empty() ? options_.name : name);
  const std::vector<NodeId> updates = Updates(b, scope, gradients);
  Output train_op;
  if (global_step.has_value()) {
    const Output all = GroupByDevice(b, scope + "/update", updates);
    train_op = IncreaseStep(b, scope, *global_step, all.node);
  } else {
    train_op = GroupByDevice(b, scope, updates);
  }
  VIGIL_RETURN_IF_ERROR(b.status());
  b.graph().AddToCollection(kTrainOp, train_op);
  return train_op;
}

}  // namespace vigil
