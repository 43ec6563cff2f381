#include "vigil/core/ops/ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/ops/static_shape.h"
#include "vigil/core/ops/variable.h"

namespace vigil::ops {
namespace {

// A builder without the control inputs of `b`; what fails in it fails in `b`.
class Detached {
 public:
  explicit Detached(Builder& b) : outer_(b), inner_(b) { inner_.control_inputs.clear(); }
  ~Detached() {
    if (!inner_.status().ok()) outer_.Fail(inner_.status());
  }
  Detached(const Detached&) = delete;
  Detached& operator=(const Detached&) = delete;
  Builder& operator*() { return inner_; }

 private:
  Builder& outer_;
  Builder inner_;
};

// The name that a node really got, for the nodes that go with it.
std::string NameOf(const Builder& b, Output output) {
  return b.status().ok() ? b.graph().node(output.node).name : std::string();
}

// A summary op of one tag, which is a constant "<name><suffix>"; in kSummaries.
Output TaggedSummary(Builder& b, std::string op, const std::string& name, std::string_view suffix, std::string tag,
                     Output values) {
  const Output tags = b.Const(fmt::format("{}{}", name, suffix), Tensor::Scalar<std::string>(std::move(tag)));
  const Output summary = b.Op(std::move(op), {tags, values}, {.name = name});
  if (b.status().ok()) b.graph().AddToCollection(kSummaries, summary);
  return summary;
}

// A variable of either kind: what both check and are listed in. `add_nodes` adds its nodes, which no control dependency
// of `b` holds back, with the attributes that the initial value gives.
template <typename AddNodes>
Variable AddVariable(Builder& b, std::string_view name, Output initial_value, CollectionKey<Output> collection,
                     AddNodes add_nodes) {
  if (!b.status().ok()) return {};
  if (!b.graph().Has(initial_value)) {
    b.Fail(
        UsageError(fmt::format("The initial value of variable '{}' is not an output of a node of this graph.", name)));
    return {};
  }
  Detached detached(b);
  Attrs attrs{{"dtype", b.graph().TypeOf(initial_value)}};
  if (std::optional<Shape> shape = StaticShape(b.graph(), initial_value)) attrs.emplace("shape", *std::move(shape));
  const Variable variable = add_nodes(*detached, std::move(attrs));
  if (!(*detached).status().ok()) return {};
  b.graph().AddToCollection(collection, variable.ref);
  b.graph().AddToCollection(kVariables, variable);
  return variable;
}

}  // namespace

Output Placeholder(Builder& b, std::string name, DType dtype) {
  return b.Op("Placeholder", {}, {.name = std::move(name), .attrs = {{"dtype", dtype}}});
}

Output PlaceholderWithDefault(Builder& b, std::string name, Output value) {
  return b.Op("PlaceholderWithDefault", {value}, {.name = std::move(name)});
}

Output Identity(Builder& b, std::string name, Output value) {
  return b.Op("Identity", {value}, {.name = std::move(name)});
}

Variable MakeVariable(Builder& b, std::string name, Output initial_value, CollectionKey<Output> collection) {
  return AddVariable(b, name, initial_value, collection, [&](Builder& plain, Attrs attrs) {
    Variable variable;
    Attrs checked;  // a variable of unknown shape takes any: TensorFlow wants to be told so
    if (!attrs.contains("shape")) checked.emplace("validate_shape", false);
    variable.ref = plain.Op("VariableV2", {}, {.name = std::move(name), .attrs = std::move(attrs)});
    const std::string own = NameOf(plain, variable.ref);
    variable.initializer =
        plain.Op("Assign", {variable.ref, initial_value}, {.name = own + "/Assign", .attrs = std::move(checked)}).node;
    variable.read = plain.Op("Identity", {variable.ref}, {.name = own + "/read", .colocate_with = variable.ref.node});
    return variable;
  });
}

std::string SaveSlice::Spec() const {
  std::vector<std::string> extents;
  for (std::size_t i = 0; i < shape.size(); ++i) extents.push_back(fmt::format("{},{}", offset[i], shape[i]));
  return fmt::format("{} {}", fmt::join(full_shape, " "), fmt::join(extents, ":"));
}

Variable MakeResourceVariable(Builder& b, std::string name, Output initial_value, CollectionKey<Output> collection) {
  return AddVariable(b, name, initial_value, collection, [&](Builder& plain, Attrs attrs) {
    Variable variable;
    const Attrs type{{"dtype", attrs.at("dtype")}};
    name = plain.graph().FreeName(name);  // TensorFlow finds the variable by its shared name alone
    attrs.emplace("shared_name", name);
    variable.ref = plain.Op("VarHandleOp", {}, {.name = std::move(name), .attrs = std::move(attrs)});
    const std::string own = NameOf(plain, variable.ref);
    variable.initializer = plain.Op("AssignVariableOp", {variable.ref, initial_value}, {.name = own + "/Assign"}).node;
    variable.read = plain.Op("ReadVariableOp", {variable.ref}, {.name = own + "/Read/ReadVariableOp", .attrs = type});
    return variable;
  });
}

bool IsResourceVariable(const Graph& graph, Output output) {
  return graph.Has(output) && output.index == 0 &&
         graph.node(output.node).def->resource_kind == ResourceVariable::kKind;
}

bool IsVariable(const Graph& graph, Output output) {
  if (IsResourceVariable(graph, output)) return true;
  return graph.Has(output) && output.index == 0 && graph.node(output.node).def->is_resource &&
         graph.TypeOf(output) != DType::kResource;
}

DType VariableType(const Graph& graph, Output variable) {
  return IsResourceVariable(graph, variable) ? vigil::Variable::TypeOf(graph.node(variable.node))
                                             : graph.TypeOf(variable);
}

Output Assign(Builder& b, std::string name, Output ref, Output value) {
  return b.Op("Assign", {ref, value}, {.name = std::move(name)});
}

Output AssignAdd(Builder& b, std::string name, Output ref, Output value) {
  return b.Op("AssignAdd", {ref, value}, {.name = std::move(name)});
}

Output AssignSub(Builder& b, std::string name, Output ref, Output value) {
  return b.Op("AssignSub", {ref, value}, {.name = std::move(name)});
}

Output VariablesInitializer(Builder& b, std::string name, const std::vector<Output>& variables) {
  std::map<Output, NodeId> initializers;
  for (const Variable& known : b.graph().Collection(kVariables)) initializers.emplace(known.ref, known.initializer);
  std::vector<NodeId> all;
  for (const Output variable : variables) {
    const auto it = initializers.find(variable);
    if (it == initializers.end()) {
      b.Fail(UsageError(fmt::format("'{}' is to initialize a variable that has no initializer.", name)));
      return {};
    }
    all.push_back(it->second);
  }
  return b.Group(std::move(name), all);
}

Output ReportUninitializedVariables(Builder& b, std::string name, const std::vector<Output>& variables) {
  if (variables.empty()) return b.Const(std::move(name), Tensor(DType::kString, Shape({0})));
  std::vector<Output> initialized;
  std::vector<std::string> names;
  for (const Output variable : variables) {
    const std::string op = IsResourceVariable(b.graph(), variable) ? "VarIsInitializedOp" : "IsVariableInitialized";
    initialized.push_back(b.Op(op, {variable}, {.name = fmt::format("{}/{}", name, op)}));
    names.push_back(NameOf(b, variable));
  }
  const Output mask =
      b.Op("LogicalNot", {b.Op("Pack", initialized, {.name = name + "/stack"})}, {.name = name + "/LogicalNot"});
  const Output all = b.Const(name + "/Const", Tensor::Vector<std::string>(names));
  const Output where = b.Op("Where", {mask}, {.name = name + "/boolean_mask/Where"});
  const Output indices =
      b.Op("Squeeze", {where},
           {.name = name + "/boolean_mask/Squeeze", .attrs = {{"squeeze_dims", std::vector<std::int64_t>{1}}}});
  const Output axis = b.Const(name + "/boolean_mask/GatherV2/axis", Tensor::Scalar<std::int32_t>(0));
  return b.Op("GatherV2", {all, indices, axis}, {.name = std::move(name)});
}

Output RangeIterator(Builder& b, std::string name, std::int64_t n) {
  const Output iterator = b.Op("OneShotIterator", {}, {.name = name + "/OneShotIterator", .attrs = {{"stop", n}}});
  if (b.status().ok()) b.graph().AddToCollection(kIterators, iterator);
  return b.Op("IteratorGetNext", {iterator},
              {.name = std::move(name), .attrs = {{"output_types", std::vector<DType>{DType::kInt64}}}});
}

bool IsIterator(const Graph& graph, Output output) {
  return graph.Has(output) && output.index == 0 &&
         (graph.node(output.node).op == "OneShotIterator" || graph.node(output.node).op == "IteratorV2");
}

Queue FifoQueue(Builder& b, std::string name, std::int64_t capacity) {
  Queue queue;
  const std::vector<DType> types{DType::kInt64};
  queue.handle =
      b.Op("FIFOQueueV2", {}, {.name = std::move(name), .attrs = {{"component_types", types}, {"capacity", capacity}}});
  const std::string own = NameOf(b, queue.handle);
  queue.close = b.Op("QueueCloseV2", {queue.handle}, {.name = own + "_Close"}).node;
  queue.cancel =
      b.Op("QueueCloseV2", {queue.handle}, {.name = own + "_Close", .attrs = {{"cancel_pending_enqueues", true}}}).node;
  return queue;
}

NodeId EnqueueMany(Builder& b, std::string name, const Queue& queue, Output values) {
  return b.Op("QueueEnqueueManyV2", {queue.handle, values}, {.name = std::move(name)}).node;
}

Output Dequeue(Builder& b, std::string name, const Queue& queue) {
  const std::vector<DType> types{DType::kInt64};
  return b.Op("QueueDequeueV2", {queue.handle}, {.name = std::move(name), .attrs = {{"component_types", types}}});
}

Output LimitEpochs(Builder& b, std::string name, Output value, std::int64_t limit) {
  const Output zero = b.Const(name + "/Const", Tensor::Scalar<std::int64_t>(0));
  const Variable epochs = MakeVariable(b, name + "/epochs", zero, kLocalVariables);
  const Output counter = b.Op("CountUpTo", {epochs.ref}, {.name = name + "/CountUpTo", .attrs = {{"limit", limit}}});
  return b.Op("Identity", {value}, {.name = std::move(name), .control_inputs = {counter.node}});
}

Output ScalarSummary(Builder& b, std::string name, std::string tag, Output value) {
  return TaggedSummary(b, "ScalarSummary", name, "/tags", std::move(tag), value);
}

Output HistogramSummary(Builder& b, std::string name, std::string tag, Output values) {
  return TaggedSummary(b, "HistogramSummary", name, "/tag", std::move(tag), values);
}

Output MergeAllSummaries(Builder& b) {
  const std::vector<Output>& all = b.graph().Collection(kSummaries);
  if (all.empty()) return {};
  return b.Op("MergeSummary", all, {.name = "Merge/MergeSummary"});
}

}  // namespace vigil::ops
