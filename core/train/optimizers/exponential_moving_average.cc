#include "vigil/core/train/optimizers/exponential_moving_average.h"

#include <fmt/format.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/core/train/optimizers/graph_names.h"
#include "vigil/core/train/optimizers/optimizer.h"

namespace vigil {
namespace {

// What the variable begins with; nothing, after failing the builder, where there is no such thing.
Output InitialValueOf(Builder& b, Output variable) {
  const auto& known = b.graph().Collection(ops::kVariables);
  const auto it = std::ranges::find(known, variable, &ops::Variable::ref);
  const DType type = b.graph().Has(variable) ? b.graph().TypeOf(variable) : DType::kInvalid;
  if (it != known.end() && (type == DType::kFloat || type == DType::kDouble)) {
    return b.graph().node(it->initializer).inputs[1];
  }
  b.Fail(UsageError("The variables must be of a floating-point type: " +
                    (type == DType::kInvalid ? "there is no such output" : b.graph().NameOf(variable))));
  return {};
}

}  // namespace

std::string ExponentialMovingAverage::AverageName(const Graph& graph, Output variable) const {
  return fmt::format("{}/{}", graph.node(variable.node).name, options_.name);
}

std::optional<Output> ExponentialMovingAverage::Average(Output variable) const {
  const auto it = averages_.find(variable);
  if (it == averages_.end()) return std::nullopt;
  return it->second.ref;
}

void ExponentialMovingAverage::EnterGraph(const Graph& graph) {
  const auto kept = [&graph](const auto& entry) { return ops::IsVariable(graph, entry.second.ref); };
  if (graph_ == graph.identity() && std::ranges::all_of(averages_, kept)) return;
  graph_ = graph.identity();
  averages_.clear();
}

Output ExponentialMovingAverage::Apply(Builder& b, const std::vector<Output>& variables) {
  EnterGraph(b.graph());
  for (const Output variable : variables) {
    if (!b.status().ok()) return {};
    if (averages_.contains(variable)) continue;
    const Output initial = InitialValueOf(b, variable);
    if (!b.status().ok()) return {};
    Builder with(b.graph());
    with.device = b.graph().node(variable.node).device;
    with.container = b.container;
    const ops::Variable average = ops::MakeVariable(with, AverageName(b.graph(), variable), initial);
    if (!with.status().ok()) {
      b.Fail(with.status());
      return {};
    }
    b.graph().AddToCollection(kNotTrainable, average.ref);
    averages_.emplace(variable, average);
  }
  if (!b.status().ok()) return {};
  const std::string scope = UniqueScope(b.graph(), options_.name);
  Output decay = options_.decay.In(b, scope + "/decay");
  const auto op = [&](std::string kind, std::vector<Output> inputs, Attrs attrs = {}, NodeId colocate_with = kNoNode) {
    return b.Op(kind, std::move(inputs),
                {.name = scope + "/" + kind, .attrs = std::move(attrs), .colocate_with = colocate_with});
  };
  if (options_.num_updates.has_value()) {
    const Output updates = op("Cast", {*options_.num_updates}, {{"DstT", DType::kFloat}});
    const auto more = [&](float by) {
      return op("AddV2", {b.Const(scope + "/add", Tensor::Scalar<float>(by)), updates});
    };
    const Output above = more(1);
    decay = op("Minimum", {decay, op("RealDiv", {above, more(10)})});
  }
  const Output rest = op("Sub", {b.Const(scope + "/sub", Tensor::Scalar<float>(1)), decay});
  std::vector<NodeId> updates;
  for (const Output variable : variables) {
    if (!b.status().ok()) return {};
    const ops::Variable& average = averages_.at(variable);
    const DType type = b.graph().TypeOf(variable);
    const NodeId there = average.ref.node;
    const Output part = type == DType::kFloat ? rest : op("Cast", {rest}, {{"DstT", type}}, there);
    // Both as they are when this runs: the reference, not the read.
    const Output far = op("Sub", {average.ref, variable}, {}, there);
    const Output delta = op("Mul", {far, part}, {}, there);
    updates.push_back(b.Op("AssignSub", {average.ref, delta}, {.name = scope + "/AssignMovingAvg"}).node);
  }
  return GroupByDevice(b, scope, updates);
}

}  // namespace vigil
