#include "vigil/fakes/graphs/random_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"

namespace vigil::fakes {
namespace {

using Texts = std::vector<std::string_view>;

}  // namespace

// What fits the own task means that one.
const std::vector<GraphPlace>& GraphPlace::OfTwoWorkers() {
  static const GraphPlace kOwn{
      "", {"", "/job:worker", "/device:CPU:0", "/job:worker/device:CPU:0", "/job:worker/replica:0"}};
  static const GraphPlace kPs{
      "ps0", {"/job:ps", "/job:ps/task:0", "/job:ps/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0"}};
  static const GraphPlace kWorker0{"worker0", {"/job:worker/task:0", "/job:worker/replica:0/task:0/device:CPU:0"}};
  static const GraphPlace kWorker1{"worker1", {"/job:worker/task:1", "/task:1", "/task:1/device:CPU:0"}};
  static const std::vector<GraphPlace> kAll{kOwn, kOwn, kPs, kPs, kWorker0, kWorker1};
  return kAll;
}

class RandomGraph::Drawer {
 public:
  Drawer(const RandomGraphOptions& options, RandomGraph& out)
      : options_(options), out_(out), b_(out.graph), draws_(options.seed) {}

  void Begin() {
    DrawFed();
    std::vector<NodeId> initializers;
    for (int i = 0; i < kVariables; ++i) initializers.push_back(DrawVariable(i));
    b_.device.clear();
    out_.init = b_.Group("init", initializers).node;
    for (const Output number : out_.numbers) root_.own.push_back(number);
    root_.own.push_back(DrawConst());
    Grow(options_.size);
  }

  void Grow(int statements) {
    for (int i = 0; i < statements; ++i) DrawStatement(root_);
    out_.values = root_.own;
    out_.values.insert(out_.values.end(), indices_.begin(), indices_.end());
    VIGIL_CHECK(b_.status().ok());
  }

 private:
  static constexpr int kVariables = 3;

  // A branch, or what is outside of all.
  struct Scope {
    const Scope* outer = nullptr;
    NodeId pivot = kNoNode;          // lives if the branch is taken
    std::vector<Output> own = {};    // dead if it is not
    std::vector<NodeId> nodes = {};  // what others may wait for
  };

  bool Chance(std::size_t percent) { return draws_.Below(100) < percent; }
  template <typename From>
  auto Pick(const From& from) {
    return from[draws_.Below(std::size(from))];
  }

  void StandOn(const GraphPlace& place) { b_.device = place.devices[draws_.Below(place.devices.size())]; }
  const GraphPlace& StandAnywhere() {
    const GraphPlace& place = options_.places[draws_.Below(options_.places.size())];
    StandOn(place);
    return place;
  }

  Tensor DrawNumbers() {
    Tensor out = TwoSmallNumbers(draws_);
    // Not at once: graphs that begin alike are others all the same.
    const bool other = options_.other && out_.variables.size() == kVariables;
    for (double& number : out.mutable_flat<double>()) number += other ? 1 : 0;
    return out;
  }
  Output DrawConst() {
    StandAnywhere();
    return b_.Const("const", DrawNumbers());
  }

  // One that waits for others: who takes it comes after these.
  Output DrawLateConst(Scope& scope) {
    StandAnywhere();
    const Attrs value{{"value", DrawNumbers()}, {"dtype", DType::kDouble}};
    return b_.Op("Const", {}, {.name = "const", .control_inputs = DrawControls(scope, {}), .attrs = value});
  }

  void DrawFed() {
    const auto add = [&](std::vector<Output>& to, const char* name, DType type) {
      StandAnywhere();
      to.push_back(ops::Placeholder(b_, name, type));
    };
    for (int i = 0; i < 2; ++i) {
      add(out_.numbers, "number", DType::kDouble);
      add(out_.choices, "choice", DType::kBool);
    }
  }

  NodeId DrawVariable(int i) {
    const GraphPlace& place = StandAnywhere();
    std::string name = fmt::format("v{}", i);
    if (!options_.stands_for.empty()) name += "_of_" + (place.task.empty() ? options_.stands_for : place.task);
    const Output initial = b_.Const(fmt::format("initial{}", i), DrawNumbers());
    const bool is_resource = Chance(30);
    b_.container = options_.container;
    const ops::Variable variable =
        is_resource ? ops::MakeResourceVariable(b_, name, initial) : ops::MakeVariable(b_, name, initial);
    b_.container.clear();
    out_.variables.push_back(variable.ref);
    reads_.push_back(variable.read);
    out_.updates.emplace_back();
    return variable.initializer;
  }

  bool IsResource(Output variable) const { return ops::IsResourceVariable(out_.graph, variable); }

  // Of this scope, or of one further out.
  Output PickValue(const Scope& scope) {
    const Scope* from = &scope;
    while (from->own.empty() || (from->outer != nullptr && Chance(30))) from = from->outer;
    return Chance(50) ? from->own[from->own.size() - 1 - draws_.Below(std::min<std::size_t>(3, from->own.size()))]
                      : Pick(from->own);
  }

  // In a branch whoever has nothing of it waits for its pivot.
  std::vector<NodeId> DrawControls(const Scope& scope, const std::vector<Output>& inputs) {
    std::vector<NodeId> out;
    for (int i = 0; i < 2 && !scope.nodes.empty() && Chance(40); ++i) {
      const std::size_t from_end = draws_.Below(std::min<std::size_t>(Chance(60) ? 3 : 20, scope.nodes.size()));
      out.push_back(scope.nodes[scope.nodes.size() - 1 - from_end]);
    }
    const bool is_inside = std::ranges::any_of(
        inputs, [&](Output input) { return std::ranges::find(scope.own, input) != scope.own.end(); });
    if (scope.pivot != kNoNode && !is_inside) out.push_back(scope.pivot);
    return out;
  }

  Output Add(Scope& scope, const char* op, std::vector<Output> inputs, Attrs attrs = {}) {
    StandAnywhere();
    return AddHere(scope, op, std::move(inputs), std::move(attrs));
  }
  Output AddHere(Scope& scope, const char* op, std::vector<Output> inputs, Attrs attrs = {}, NodeId after = kNoNode) {
    std::vector<NodeId> controls = DrawControls(scope, inputs);
    if (after != kNoNode) controls.push_back(after);
    const Output made =
        b_.Op(op, std::move(inputs), {.control_inputs = std::move(controls), .attrs = std::move(attrs)});
    scope.nodes.push_back(made.node);
    return made;
  }
  void AddValue(Scope& scope, const char* op, std::vector<Output> inputs) {
    scope.own.push_back(Add(scope, op, std::move(inputs)));
  }
  // Whatever the value is: a vector of two.
  Output AddVector(Scope& scope) {
    StandAnywhere();
    return AddVectorHere(scope);
  }
  Output AddVectorHere(Scope& scope) {
    const Output zeros = b_.Const("zeros", Tensor::Vector<double>({0, 0}));
    return AddHere(scope, "AddV2", {PickValue(scope), zeros});
  }

  void DrawStatement(Scope& scope, int depth = 0) {
    const std::size_t kind = draws_.Below(100);
    if (kind < 5) {
      scope.own.push_back(scope.outer == nullptr ? DrawLateConst(scope) : Add(scope, "Identity", {DrawConst()}));
    } else if (kind < 25) {
      DrawBinary(scope);
    } else if (kind < 35) {
      DrawUnary(scope);
    } else if (kind < 42) {
      DrawPair(scope);
    } else if (kind < 60) {
      DrawUpdate(scope);
    } else if (kind < 68) {
      DrawGuarded(scope);
    } else if (kind < 77) {
      DrawRead(scope);
    } else if (kind < 80) {
      DrawReadsAround(scope);
    } else if (kind < 87) {
      DrawCheck(scope);
    } else if (kind < 90) {
      StandAnywhere();
      scope.nodes.push_back(b_.Group("group", DrawControls(scope, {})).node);
    } else if (depth < 2) {
      DrawBranches(scope, depth);
    }
  }

  // One after the other: which argument of a call comes first is the compiler's choice.
  void DrawUnary(Scope& scope) {
    const Output value = PickValue(scope);
    const char* const op =
        Pick(options_.other ? Texts{"Abs", "Neg", "Identity"} : Texts{"Neg", "Abs", "Identity"}).data();
    AddValue(scope, op, {value});
  }

  void DrawBinary(Scope& scope) {
    const char* const op = Pick(options_.other ? Texts{"AddV2", "Mul", "Sub"} : Texts{"AddV2", "Sub", "Mul"}).data();
    AddValue(scope, op, {PickValue(scope), PickValue(scope)});
  }

  void DrawPair(Scope& scope) {
    const Output vector = AddVector(scope);
    const Output first = Add(scope, "Unpack", {vector}, {{"num", std::int64_t{2}}});
    scope.own.push_back(first);
    scope.own.push_back({first.node, 1});
    if (scope.outer == nullptr) out_.pairs.push_back(first);
    if (Chance(60)) AddValue(scope, "AddV2", {first, {first.node, 1}});
  }

  void DrawUpdate(Scope& scope) { Update(scope, AddVector(scope), kNoNode); }

  // An update that a check must let pass, by a value that was there before.
  void DrawGuarded(Scope& scope) {
    const GraphPlace& place = StandAnywhere();
    const Output by = AddVectorHere(scope);
    StandOn(place);
    const NodeId check = Check(scope, by);
    Update(scope, by, check);
  }

  void Update(Scope& scope, Output by, NodeId after) {
    const std::size_t which = draws_.Below(out_.variables.size());
    const Output variable = out_.variables[which];
    const std::size_t op = draws_.Below(3);
    static constexpr const char* kRefOps[] = {"AssignAdd", "AssignSub", "Assign"};
    static constexpr const char* kResourceOps[] = {"AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp"};
    StandAnywhere();
    const Output made = IsResource(variable)
                            ? AddHere(scope, kResourceOps[op], {variable, by}, {{"dtype", DType::kDouble}}, after)
                            : AddHere(scope, kRefOps[op], {variable, by}, {}, after);
    out_.updates[which].push_back(made.node);
    out_.effects.push_back(made.node);
    if (!IsResource(variable) && Chance(30)) scope.own.push_back(made);
  }

  void DrawRead(Scope& scope) {
    const std::size_t which = draws_.Below(out_.variables.size());
    const Output variable = out_.variables[which];
    if (IsResource(variable)) {
      scope.own.push_back(Add(scope, "ReadVariableOp", {variable}, {{"dtype", DType::kDouble}}));
    } else if (Chance(30)) {
      // Who waits for others takes the value behind its first read. Elsewhere than at the variable it is not determined
      // which one that is.
      b_.device = out_.graph.node(variable.node).device;
      scope.own.push_back(AddHere(scope, "Neg", {reads_[which]}));
    } else {
      const Output read =
          Chance(50) ? Add(scope, "AddV2", {variable, PickValue(scope)}) : Add(scope, "Neg", {variable});
      scope.own.push_back(read);
      if (scope.outer != nullptr) out_.reads_in_branches.push_back(read.node);
    }
  }

  // One task takes a variable's value twice, and in between another one updates it.
  void DrawReadsAround(Scope& scope) {
    const std::size_t which = draws_.Below(out_.variables.size());
    const Output variable = out_.variables[which];
    if (IsResource(variable)) return;
    StandAnywhere();
    const std::string reader = b_.device;
    const Output before = AddHere(scope, "Neg", {variable});
    const Output by = AddVector(scope);
    StandAnywhere();
    const Output update = AddHere(scope, "AssignAdd", {variable, by}, {}, before.node);
    b_.device = reader;
    const Output after = AddHere(scope, "Neg", {variable}, {}, update.node);
    out_.updates[which].push_back(update.node);
    out_.effects.push_back(update.node);
    scope.own.insert(scope.own.end(), {before, after});
    if (scope.outer != nullptr) out_.reads_in_branches.insert(out_.reads_in_branches.end(), {before.node, after.node});
  }

  void DrawCheck(Scope& scope) {
    const Output data = PickValue(scope);
    StandAnywhere();
    Check(scope, data);
  }
  NodeId Check(Scope& scope, Output data) {
    out_.holds.push_back(ops::Placeholder(b_, "holds", DType::kBool));
    const NodeId check = AddHere(scope, "Assert", {out_.holds.back(), data}).node;
    out_.checks.push_back(check);
    out_.effects.push_back(check);
    return check;
  }

  Output DrawPredicate(Scope& scope) {
    if (out_.pairs.empty() || scope.outer != nullptr || Chance(70)) return Pick(out_.choices);
    const Output pair = Pick(out_.pairs);
    return Add(scope, "Less", {pair, {pair.node, 1}});
  }

  void DrawBranches(Scope& scope, int depth) {
    const Output predicate = DrawPredicate(scope);
    const Output pivots = Add(scope, "Switch", {predicate, predicate});
    Scope branches[2];
    for (std::int32_t i = 0; i < 2; ++i) {
      StandAnywhere();
      branches[i].outer = &scope;
      branches[i].pivot = ops::Identity(b_, i == 0 ? "no" : "yes", {pivots.node, i}).node;
    }
    for (int i = Chance(50) ? 2 : 1; i > 0; --i) {
      const Output value = Add(scope, "Switch", {PickValue(scope), predicate});
      branches[0].own.push_back(value);
      branches[1].own.push_back({value.node, 1});
    }
    for (Scope& branch : branches) {
      for (std::size_t i = draws_.Below(4); i > 0; --i) DrawStatement(branch, depth + 1);
      out_.mortal.insert(out_.mortal.end(), branch.own.begin(), branch.own.end());
    }
    const Output no = PickOwn(branches[0]);
    const Output yes = PickOwn(branches[1]);
    const Output merged = Chance(50) ? Add(scope, "Merge", {no, yes}) : Add(scope, "Merge", {yes, no});
    scope.own.push_back(merged);
    if (scope.outer == nullptr) indices_.push_back({merged.node, 1});
  }
  Output PickOwn(const Scope& branch) { return Chance(60) ? branch.own.back() : Pick(branch.own); }

  const RandomGraphOptions options_;
  RandomGraph& out_;
  Scope root_;
  Builder b_;
  SplitMix64 draws_;
  std::vector<Output> reads_;    // by variable
  std::vector<Output> indices_;  // which input a Merge has taken
};

RandomGraph::RandomGraph(const RandomGraphOptions& options)
    : graph(BuiltinOps()), drawer_(std::make_unique<Drawer>(options, *this)) {
  drawer_->Begin();
}
RandomGraph::~RandomGraph() = default;

void RandomGraph::Grow(int statements) { drawer_->Grow(statements); }

std::string RandomGraph::Describe() const {
  std::string out;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    std::vector<std::string> inputs;
    for (const Output input : node.inputs) inputs.push_back(graph.NameOf(input));
    for (const NodeId control : node.control_inputs) inputs.push_back("^" + graph.node(control).name);
    out += fmt::format("{} = {}({}) {}\n", node.name, node.op, fmt::join(inputs, ", "), node.device);
  }
  return out;
}

bool AreSame(const std::vector<Tensor>& some, const std::vector<Tensor>& others) {
  return std::ranges::equal(some, others, [](const Tensor& a, const Tensor& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() && a.bytes() == b.bytes();
  });
}

std::string ValueText(const Tensor& value) {
  if (value.dtype() == DType::kDouble) return fmt::format("{}", value.flat<double>());
  if (value.dtype() == DType::kBool) return fmt::format("{}", value.flat<bool>());
  return value.dtype() == DType::kInt32 ? fmt::format("{}", value.flat<std::int32_t>()) : value.Describe();
}

Tensor TwoSmallNumbers(SplitMix64& draws) {
  const auto number = [&] { return static_cast<double>(draws.Below(16)) / 4 - 2; };
  const double first = number();
  return Tensor::Vector<double>({first, number()});
}

}  // namespace vigil::fakes
