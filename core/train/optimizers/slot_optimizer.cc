#include "vigil/core/train/optimizers/slot_optimizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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
  const bool is_short = ops::VariableType(b.graph(), step) == DType::kInt32;
  Tensor value = is_short ? Tensor::Scalar<std::int32_t>(1) : Tensor::Scalar<std::int64_t>(1);
  Attrs attrs{{"dtype", value.dtype()}};
  attrs.emplace("value", std::move(value));
  const Output one = b.Op(
      "Const", {},
      {.name = scope + "/value", .control_inputs = {updates}, .attrs = std::move(attrs), .colocate_with = step.node});
  // TensorFlow leaves it at the constant's control input; here a constant is not run, so the increase says itself what
  // it waits for.
  if (ops::IsResourceVariable(b.graph(), step))
    return b.Op("AssignAddVariableOp", {step, one}, {.name = scope, .control_inputs = {updates}});
  return b.Op("AssignAdd", {step, one},
              {.name = scope, .control_inputs = {updates}, .attrs = {{"use_locking", false}}});
}

// The value that a variable begins with, whose shape is the variable's.
Output InitialValue(const Graph& graph, Output variable) {
  for (const ops::Variable& known : graph.Collection(ops::kVariables)) {
    if (known.ref == variable) return graph.node(known.initializer).inputs[1];
  }
  return {};
}

Tensor Filled(DType type, const Shape& shape, double value) {
  Tensor out(type, shape);
  if (type == DType::kDouble) {
    std::ranges::fill(out.mutable_flat<double>(), value);
  } else {
    std::ranges::fill(out.mutable_flat<float>(), static_cast<float>(value));
  }
  return out;
}

// Tensors of `value` in the shape of the variable.
Output FilledLike(Builder& b, const std::string& name, Output variable, double value) {
  const Node& node = b.graph().node(variable.node);
  const DType type = ops::VariableType(b.graph(), variable);
  const std::optional<Shape> declared = DeclaredShape(node).ToShape();
  constexpr std::int64_t kInGraph = 1024;  // more elements are made when they are needed
  if (declared.has_value()) {
    const Shape& shape = *declared;
    if (shape.num_elements() <= kInGraph) return b.Const(name, Filled(type, shape, value));
    const std::vector<std::int32_t> dims(shape.dims().begin(), shape.dims().end());
    return b.Op("Fill",
                {b.Const(name + "/shape", Tensor::Vector<std::int32_t>(dims)),
                 b.Const(name + "/value", Filled(type, Shape(), value))},
                {.name = name});
  }
  const Output initial = InitialValue(b.graph(), variable);
  if (initial.node == kNoNode) {
    b.Fail(UsageError(fmt::format("The shape of variable '{}' is not known, so it can have no slots.", node.name)));
    return {};
  }
  const Output shape = b.Op("Shape", {initial}, {.name = name + "/Shape"});
  return b.Op("Fill", {shape, b.Const(name + "/value", Filled(type, Shape(), value))}, {.name = name});
}

}  // namespace

Output HyperParameter::In(Builder& b, const std::string& name) const {
  return output_.has_value() ? *output_ : b.Const(name, Tensor::Scalar<float>(value_));
}

Output SlotOptimizer::Update::Op(std::string op, std::vector<Output> inputs, Attrs attrs,
                                 std::vector<NodeId> after) const {
  std::string name = scope + "/" + op;
  return b.Op(std::move(op), std::move(inputs),
              {.name = std::move(name),
               .control_inputs = std::move(after),
               .attrs = std::move(attrs),
               .colocate_with = variable.node});
}

NodeId SlotOptimizer::Update::Change(const std::string& op, std::vector<Output> inputs, Attrs attrs,
                                     std::vector<NodeId> after) const {
  if (!b.status().ok()) return kNoNode;
  if (!ops::IsResourceVariable(b.graph(), variable)) return Op(op, std::move(inputs), std::move(attrs), after).node;
  static const std::map<std::string, std::string, std::less<>> kAssignments{
      {"Assign", "AssignVariableOp"}, {"AssignAdd", "AssignAddVariableOp"}, {"AssignSub", "AssignSubVariableOp"}};
  const auto assignment = kAssignments.find(op);
  if (assignment != kAssignments.end()) return Op(assignment->second, std::move(inputs), {}, after).node;
  if (op.starts_with("Scatter")) attrs.clear();  // those for handles never lock
  return Op("Resource" + op, std::move(inputs), std::move(attrs), after).node;
}

Output SlotOptimizer::Update::Read(const ops::Variable& of, NodeId after) const {
  if (!b.status().ok()) return {};
  if (!ops::IsResourceVariable(b.graph(), of.ref)) return {after, 0};
  return Op("ReadVariableOp", {of.ref}, {{"dtype", ops::VariableType(b.graph(), of.ref)}}, {after});
}

Output SlotOptimizer::Update::As(Output number) const {
  if (!b.status().ok()) return {};
  const DType type = ops::VariableType(b.graph(), variable);
  return b.graph().Has(number) && b.graph().TypeOf(number) == type ? number : Op("Cast", {number}, {{"DstT", type}});
}

Output SlotOptimizer::Update::Const(double value) const {
  const DType type = b.status().ok() ? ops::VariableType(b.graph(), variable) : DType::kFloat;
  return b.Const(scope + "/Const", Filled(type, Shape(), value));
}

Attrs SlotOptimizer::Locking(Attrs attrs) const {
  attrs.emplace("use_locking", use_locking_);
  return attrs;
}

void SlotOptimizer::EnterGraph(const Graph& graph) {
  const auto kept = [&graph](const auto& entry) { return ops::IsVariable(graph, entry.second.ref); };
  if (graph_ == graph.identity() && std::ranges::all_of(made_, kept)) return;
  graph_ = graph.identity();
  made_.clear();
  in_order_.clear();
  names_.clear();
}

ops::Variable SlotOptimizer::GetOrMakeSlot(Builder& b, const Slot& slot, Output variable) {
  if (!b.status().ok()) return {};
  const Node& node = b.graph().node(variable.node);
  const Key key{slot.name, node.name};
  if (const auto it = made_.find(key); it != made_.end()) return it->second;
  Builder with(b.graph());
  with.device = node.device;
  with.container = b.container;
  const std::string name = fmt::format("{}/{}", node.name, name_);
  const Output initial = FilledLike(with, fmt::format("{}/Initializer/{}", name, slot.name), variable, slot.initial);
  const ops::Variable made = ops::IsResourceVariable(b.graph(), variable)
                                 ? ops::MakeResourceVariable(with, name, initial)
                                 : ops::MakeVariable(with, name, initial);
  if (!with.status().ok()) {
    b.Fail(with.status());
    return {};
  }
  b.graph().AddToCollection(kNotTrainable, made.ref);
  made_.emplace(key, made);
  in_order_.push_back(made.ref);
  names_.emplace(variable, node.name);
  return made;
}

ops::Variable SlotOptimizer::Shared(Builder& b, const std::string& name, const HyperParameter& initial,
                                    Output colocate_with) {
  if (!b.status().ok()) return {};
  if (const auto known = FindShared(b.graph(), name)) return *known;
  Builder with(b.graph());
  with.device = b.graph().node(colocate_with.node).device;
  with.container = b.container;
  const ops::Variable made = ops::MakeVariable(with, name, initial.In(with, name + "/initial_value"));
  if (!with.status().ok()) {
    b.Fail(with.status());
    return {};
  }
  b.graph().AddToCollection(kNotTrainable, made.ref);
  made_.emplace(Key{name, ""}, made);
  in_order_.push_back(made.ref);
  return made;
}

const std::optional<ops::Variable> SlotOptimizer::FindShared(const Graph& graph, std::string_view name) const {
  const auto it = made_.find(Key{std::string(name), ""});
  if (graph_ != graph.identity() || it == made_.end()) return std::nullopt;
  return it->second;
}

NodeId SlotOptimizer::AddUpdate(Builder& b, const std::string& scope, const GradientAndVariable& pair,
                                const std::vector<Output>& numbers) {
  Update update{
      .b = b,
      .scope = UniqueScope(b.graph(), fmt::format("{}/update_{}", scope, b.graph().node(pair.variable.node).name)),
      .variable = pair.variable,
      .numbers = numbers,
      .slots = {}};
  for (const Slot& slot : Slots()) update.slots.push_back(GetOrMakeSlot(b, slot, pair.variable));
  if (pair.indices.node == kNoNode) return Dense(update, pair.gradient);
  if (!SumsRows()) return Sparse(update, pair.gradient, pair.indices);
  const Output rows = update.Op("Unique", {pair.indices});
  const Output count = update.Op("Size", {rows});
  const Output sums = update.Op("UnsortedSegmentSum", {pair.gradient, {rows.node, 1}, count});
  return Sparse(update, sums, rows);
}

Output SlotOptimizer::Finish(Builder& b, const std::string& name, const std::vector<NodeId>& updates,
                             const std::vector<Output>& /*numbers*/) {
  return GroupByDevice(b, name, updates);
}

// Slots are filled with fractions.
absl::Status SlotOptimizer::CheckType(const Graph& graph, Output variable) const {
  const DType type = ops::VariableType(graph, variable);
  if (type == DType::kFloat || type == DType::kDouble || Slots().empty()) return absl::OkStatus();
  return UsageError(fmt::format("The optimizer {} trains variables of the types float and double only: '{}' has {}.",
                                name_, graph.NameOf(variable), DTypeName(type)));
}

absl::StatusOr<Output> SlotOptimizer::ApplyGradients(Builder& b, const GradientsAndVariables& gradients,
                                                     std::optional<Output> global_step, std::string name) {
  VIGIL_RETURN_IF_ERROR(b.status());
  VIGIL_RETURN_IF_ERROR(Check());
  VIGIL_RETURN_IF_ERROR(CheckGradients(b.graph(), gradients));
  EnterGraph(b.graph());
  std::vector<Output> trained;
  for (const GradientAndVariable& pair : gradients) {
    if (!HasGradient(pair)) continue;
    if (!b.graph().Has(pair.variable)) return UsageError("A variable is not an output of a node of this graph.");
    VIGIL_RETURN_IF_ERROR(CheckType(b.graph(), pair.variable));
    trained.push_back(pair.variable);
  }
  AddShared(b, trained);
  for (const Output variable : trained) {
    for (const Slot& slot : Slots()) GetOrMakeSlot(b, slot, variable);
  }
  VIGIL_RETURN_IF_ERROR(b.status());
  const std::string scope = UniqueScope(b.graph(), name.empty() ? name_ : name);
  std::vector<Output> numbers;
  for (const Number& number : Numbers()) numbers.push_back(number.value.In(b, scope + "/" + number.name));
  std::vector<NodeId> updates;
  for (const GradientAndVariable& pair : gradients) {
    if (!b.status().ok()) break;
    if (HasGradient(pair)) updates.push_back(AddUpdate(b, scope, pair, numbers));
  }
  VIGIL_RETURN_IF_ERROR(b.status());
  Output train_op;
  if (global_step.has_value()) {
    const Output all = Finish(b, scope + "/update", updates, numbers);
    train_op = IncreaseStep(b, scope, *global_step, all.node);
  } else {
    train_op = Finish(b, scope, updates, numbers);
  }
  VIGIL_RETURN_IF_ERROR(b.status());
  b.graph().AddToCollection(kTrainOp, train_op);
  return train_op;
}

std::optional<Output> SlotOptimizer::GetSlot(Output variable, std::string_view slot) const {
  const auto name = names_.find(variable);
  if (name == names_.end()) return std::nullopt;
  const auto it = made_.find(Key{std::string(slot), name->second});
  if (it == made_.end()) return std::nullopt;
  return it->second.ref;
}

std::vector<std::string> SlotOptimizer::GetSlotNames() const {
  std::vector<std::string> names;
  for (const Slot& slot : Slots()) names.push_back(slot.name);
  std::ranges::sort(names);
  return names;
}

std::vector<Output> SlotOptimizer::variables() const { return in_order_; }

}  // namespace vigil
