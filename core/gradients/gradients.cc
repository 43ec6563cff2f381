// The idea: node ids are a topological order. So the nodes between xs and ys are found by one walk up and one down, and
// when a node is reached on the way down, all that depends on it has been there before: its outputs' gradients are
// complete.
#include "vigil/core/gradients/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/scope.h"

namespace vigil {
namespace {

// A handle is on the way from a resource variable to what reads it.
bool Trainable(DType type) { return type == DType::kFloat || type == DType::kDouble || type == DType::kResource; }

class Backward {
 public:
  Backward(Builder& b, const std::vector<Output>& ys, const std::vector<Output>& xs, const GradientsOptions& options)
      : b_(b),
        graph_(b.graph()),
        ys_(ys),
        xs_(xs),
        options_(options),
        registry_(options.registry == nullptr ? BuiltinGradients() : *options.registry),
        size_(graph_.size()),
        scope_(UniqueScope(graph_, options.name)) {}

  absl::StatusOr<std::vector<Gradient>> Run() {
    MarkBetween();
    for (std::size_t i = 0; i < ys_.size(); ++i) received_[ys_[i]].push_back({.values = FirstGradient(i)});
    for (NodeId id = size_; id-- > 0;) {
      if (!between_[static_cast<std::size_t>(id)] || stop_.contains(id)) continue;
      VIGIL_RETURN_IF_ERROR(Visit(id));
    }
    std::vector<Gradient> result;
    for (const Output x : xs_) {
      Gradient gradient = Aggregate(x);
      if (!gradient.exists() && options_.unconnected_zero) {
        gradient = {.values = b_.Op("ZerosLike", {x}, {.name = scope_ + "/zeros_like"})};
      }
      result.push_back(gradient);
    }
    VIGIL_RETURN_IF_ERROR(b_.status());
    return result;
  }

 private:
  // The nodes on a way from xs to ys over floating-point values; and those among them where ways begin, or are cut.
  void MarkBetween() {
    std::vector<bool> reached(static_cast<std::size_t>(size_), false);
    const auto flag = [](std::vector<bool>& flags, NodeId id) { return flags[static_cast<std::size_t>(id)]; };
    for (const Output x : xs_) reached[static_cast<std::size_t>(x.node)] = true;
    for (NodeId id = 0; id < size_; ++id) {
      for (const Output input : graph_.node(id).inputs) {
        if (flag(reached, input.node) && Trainable(graph_.TypeOf(input))) reached[static_cast<std::size_t>(id)] = true;
      }
    }
    between_.assign(static_cast<std::size_t>(size_), false);
    for (const Output y : ys_) between_[static_cast<std::size_t>(y.node)] = reached[static_cast<std::size_t>(y.node)];
    for (NodeId id = size_; id-- > 0;) {
      if (!flag(between_, id)) continue;
      for (const Output input : graph_.node(id).inputs) {
        if (flag(reached, input.node)) between_[static_cast<std::size_t>(input.node)] = true;
      }
    }
    for (const Output x : xs_) {
      const std::vector<Output>& inputs = graph_.node(x.node).inputs;
      if (std::ranges::none_of(inputs, [&](Output input) { return flag(between_, input.node); })) stop_.insert(x.node);
    }
    for (const Output stop : options_.stop_gradients) stop_.insert(stop.node);
  }

  Output FirstGradient(std::size_t i) {
    if (i < options_.grad_ys.size() && options_.grad_ys[i].node != kNoNode) return options_.grad_ys[i];
    const Output shape = b_.Op("Shape", {ys_[i]}, {.name = scope_ + "/Shape"});
    const std::string name = fmt::format("{}/grad_ys_{}", scope_, i);
    const DType type = graph_.TypeOf(ys_[i]);
    const Output one = type == DType::kDouble  ? b_.Const(name + "/Const", Tensor::Scalar<double>(1))
                       : type == DType::kFloat ? b_.Const(name + "/Const", Tensor::Scalar<float>(1))
                                               : Output();
    if (one.node == kNoNode) {
      b_.Fail(UsageError(fmt::format("Gradients of '{}', which has type {}: only float and double have gradients.",
                                     graph_.NameOf(ys_[i]), DTypeName(type))));
    }
    return b_.Op("Fill", {shape, one}, {.name = name});
  }

  absl::Status Visit(NodeId id) {
    const Node& node = graph_.node(id);
    std::vector<Gradient> grads;
    for (int i = 0; i < static_cast<int>(node.output_types.size()); ++i) grads.push_back(Aggregate({id, i}));
    if (std::ranges::none_of(grads, &Gradient::exists)) return absl::OkStatus();
    const GradientFn* const function = registry_.Find(node.op);
    if (function == nullptr) {
      return UsageError(fmt::format(
          "No gradient defined for operation'{}' (op type: {}). In general every operation must have an associated "
          "gradient for correct autodiff, which this op is lacking. If you want to pretend this operation is a "
          "constant in your program, you may insert `StopGradient`.",
          node.name, node.op));
    }
    if (!*function) return absl::OkStatus();
    GradientCall call(b_, id, fmt::format("{}/{}_grad", scope_, node.name), std::move(grads));
    std::vector<Gradient> gradients = (*function)(call);
    VIGIL_RETURN_IF_ERROR(b_.status());
    if (gradients.size() != node.inputs.size()) {
      return UsageError(fmt::format("Num gradients {} generated for op {} do not match num inputs {}", gradients.size(),
                                    node.name, node.inputs.size()));
    }
    if (options_.gate && std::ranges::count_if(gradients, &Gradient::exists) > 1) Gate(call.scope(), gradients);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (gradients[i].exists()) received_[node.inputs[i]].push_back(gradients[i]);
    }
    return absl::OkStatus();
  }

  // As tf.tuple does it.
  void Gate(const std::string& scope, std::vector<Gradient>& gradients) {
    std::vector<NodeId> all;
    for (const Gradient& each : gradients) {
      const bool seen = std::ranges::find(all, each.values.node) != all.end();
      if (each.exists() && !seen) all.push_back(each.values.node);
    }
    const Output group = b_.Group(scope + "/tuple/group_deps", all);
    for (Gradient& each : gradients) {
      if (!each.exists()) continue;
      each.values = b_.Op("Identity", {each.values},
                          {.name = scope + "/tuple/control_dependency", .control_inputs = {group.node}});
    }
  }

  // All that came for one output, as one: IndexedSlices, if all of it is.
  Gradient Aggregate(Output output) {
    const auto it = received_.find(output);
    if (it == received_.end()) return {};
    std::vector<Gradient>& all = it->second;
    if (all.size() > 1) {
      const bool sparse = std::ranges::all_of(all, &Gradient::sparse);
      const Gradient sum = sparse ? Concatenated(all) : Added(all);
      all = {sum};
    }
    return all[0];
  }

  Gradient Added(const std::vector<Gradient>& all) {
    std::vector<Output> dense;
    for (const Gradient& each : all) dense.push_back(Densified(b_, scope_, each));
    return {.values = b_.Op("AddN", dense, {.name = scope_ + "/AddN"})};
  }

  Gradient Concatenated(const std::vector<Gradient>& all) {
    std::vector<Output> values, indices;
    for (const Gradient& each : all) {
      values.push_back(each.values);
      indices.push_back(b_.Op("Cast", {each.indices}, {.name = scope_ + "/Cast", .attrs = {{"DstT", DType::kInt64}}}));
    }
    const Output axis = b_.Const(scope_ + "/concat/axis", Tensor::Scalar<std::int32_t>(0));
    values.push_back(axis);
    indices.push_back(axis);
    return {.values = b_.Op("ConcatV2", values, {.name = scope_ + "/concat"}),
            .indices = b_.Op("ConcatV2", indices, {.name = scope_ + "/concat"}),
            .dense_shape = all[0].dense_shape};
  }

  Builder& b_;
  const Graph& graph_;
  const std::vector<Output>& ys_;
  const std::vector<Output>& xs_;
  const GradientsOptions& options_;
  const GradientRegistry& registry_;
  const NodeId size_;  // of the graph before anything is added
  const std::string scope_;
  std::vector<bool> between_;
  std::set<NodeId> stop_;
  std::map<Output, std::vector<Gradient>> received_;
};

absl::Status CheckOutputs(const Graph& graph, const std::vector<Output>& outputs, const char* what) {
  for (const Output output : outputs) {
    if (!graph.Has(output)) return UsageError(fmt::format("Gradients: {} is not an output of this graph.", what));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Gradient>> Gradients(Builder& b, const std::vector<Output>& ys,
                                                const std::vector<Output>& xs, const GradientsOptions& options) {
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_RETURN_IF_ERROR(CheckOutputs(b.graph(), ys, "a y"));
  VIGIL_RETURN_IF_ERROR(CheckOutputs(b.graph(), xs, "an x"));
  VIGIL_RETURN_IF_ERROR(CheckOutputs(b.graph(), options.stop_gradients, "one of stop_gradients"));
  if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size()) {
    return UsageError(fmt::format("Passed {} grad_ys for {} ys", options.grad_ys.size(), ys.size()));
  }
  for (const Output grad : options.grad_ys) {
    if (grad.node != kNoNode) VIGIL_RETURN_IF_ERROR(CheckOutputs(b.graph(), {grad}, "one of grad_ys"));
  }
  return Backward(b, ys, xs, options).Run();
}

absl::StatusOr<std::vector<Output>> Gradients(Builder& b, Output loss, const std::vector<Output>& xs) {
  VIGIL_ASSIGN_OR_RETURN(const std::vector<Gradient> gradients, Gradients(b, std::vector<Output>{loss}, xs, {}));
  std::vector<Output> dense;
  for (const Gradient& each : gradients) dense.push_back(Densified(b, "gradients", each));
  VIGIL_RETURN_IF_ERROR(b.status());
  return dense;
}

}  // namespace vigil
