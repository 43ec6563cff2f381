// Every op that is registered, over inputs that nobody means: empty, huge, NaN, of other shapes, types and counts. It
// must return OK or a clear error, and must not abort, read what is not there (under the sanitizers) or take memory
// that its inputs do not account for.
//
// Nothing here names an op: what a node can be made of is tried, the attributes that it needs are those that its
// signature complains of.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <exception>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/splitmix64.h"
#include "vigil/core/graph/shape_checks.h"
#include "vigil/core/ops/testing.h"
#include "vigil/core/ops/variable.h"
#include "vigil/fakes/allocations/allocations.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

constexpr int kMostRounds = 400;                               // of a hundred tries, until one is accepted
constexpr int kTries = 1500;                                   // of each op
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;  // in one piece; the largest input has less than a MiB

class Dice : public SplitMix64 {
 public:
  using SplitMix64::SplitMix64;
  template <typename T>
  const T& Of(const std::vector<T>& all) {
    return all[Below(all.size())];
  }
};

template <typename T>
std::vector<T> Values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, std::string>) {
    return {"", "x", "/dir/a", std::string(300, 'y'), std::string("\0\xff", 2), "7"};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {0,
            1,
            -1,
            0.5,
            3,
            Limits::quiet_NaN(),
            Limits::infinity(),
            -Limits::infinity(),
            Limits::max(),
            Limits::denorm_min()};
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return {0, 1, 2, -1, -2, 5, Limits::max(), Limits::min(), std::int64_t{1} << 40, (std::int64_t{1} << 62) + 2};
  } else {
    return {0, 1, static_cast<T>(2), static_cast<T>(-1),
            static_cast<T>(5)};  // larger ones are sizes that a tensor can have
  }
}

// All with few elements; the last ones are huge and have none.
const std::vector<std::vector<std::int64_t>>& SmallShapes() {
  static const auto* const kAll = new std::vector<std::vector<std::int64_t>>{{},
                                                                             {},
                                                                             {},
                                                                             {1},
                                                                             {2},
                                                                             {3},
                                                                             {0},
                                                                             {2, 2},
                                                                             {1, 2},
                                                                             {0, 3},
                                                                             {2, 0},
                                                                             {0, 0},
                                                                             {1, 1, 1, 1},
                                                                             {3, 1, 2},
                                                                             {std::int64_t{1} << 40, 0},
                                                                             {0, std::int64_t{1} << 40},
                                                                             {std::int64_t{1} << 62, 0},
                                                                             {std::int64_t{1} << 36, 0, 2},
                                                                             {0, std::int64_t{1} << 62}};
  return *kAll;
}

template <typename T>
Tensor Some(Dice& dice) {
  Tensor out(DTypeOf<T>(), Shape(dice.Of(SmallShapes())));
  for (T& element : out.mutable_flat<T>()) element = dice.Of(Values<T>());
  return out;
}

Tensor SomeOf(DType type, Dice& dice) {
  switch (type) {
    case DType::kFloat:
      return Some<float>(dice);
    case DType::kDouble:
      return Some<double>(dice);
    case DType::kInt32:
      return Some<std::int32_t>(dice);
    case DType::kInt64:
      return Some<std::int64_t>(dice);
    case DType::kUint8:
      return Some<std::uint8_t>(dice);
    case DType::kBool: {
      Tensor out(DType::kBool, Shape(dice.Of(SmallShapes())));
      for (bool& element : out.mutable_flat<bool>()) element = dice.Below(2) == 1;
      return out;
    }
    default:
      return Some<std::string>(dice);
  }
}

const std::vector<DType>& Types() {
  static const auto* const kAll = new std::vector<DType>{DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64,
                                                         DType::kBool,  DType::kString, DType::kUint8};
  return *kAll;
}

AttrValue SomeAttr(Dice& dice) {
  switch (dice.Below(13)) {
    case 0:
    case 1:
      return dice.Of(Types());
    case 2:
      return dice.Of(Values<std::int64_t>());
    case 3:
      return dice.Below(2) == 0;
    case 4:
      return dice.Of(Values<std::string>());
    case 5:
      return Shape(dice.Of(SmallShapes()));
    case 6:
      return SomeOf(dice.Of(Types()), dice);
    case 7:
      return std::vector<std::int64_t>{dice.Of(Values<std::int64_t>()), 1};
    case 8:
      return std::vector<std::int64_t>{1, 1 + static_cast<std::int64_t>(dice.Below(3)), dice.Of(Values<std::int64_t>()),
                                       1};
    case 9:
      return std::string(dice.Below(2) == 0 ? "SAME" : "VALID");
    case 10: {
      std::vector<Shape> shapes(1 + dice.Below(2));
      for (Shape& shape : shapes) shape = dice.Below(4) == 0 ? Shape({-1, 2}) : Shape(dice.Of(SmallShapes()));
      return shapes;
    }
    case 11:
      return std::vector<std::string>(1 + dice.Below(2), dice.Of(Values<std::string>()));
    default: {
      std::vector<DType> types(1 + dice.Below(2));
      for (DType& type : types) type = dice.Of(Types());
      return types;
    }
  }
}

// The attribute that a signature complains of ("... an attribute 'dtype' ..."); "": none.
std::string MissingAttr(const absl::Status& status) {
  constexpr std::string_view kAttribute = "attribute '";
  const std::string_view message = MessageOf(status);
  const std::size_t begin = message.find(kAttribute);
  if (begin == std::string_view::npos) return "";
  const std::string_view rest = message.substr(begin + kAttribute.size());
  return std::string(rest.substr(0, rest.find('\'')));
}

// A graph with resources of every kind and nodes of one op.
class Trial : public OpRunner {
 public:
  Trial(const Env& env, std::uint64_t seed) : OpRunner(env), env_(env), dice_(seed) {
    for (const auto& [name, op] : BuiltinOps().all()) {
      if (!op.is_resource) continue;
      for (int i = 0; i < 4; ++i) {
        const std::optional<NodeId> node = AddNode(name, {});
        if (!node.has_value()) continue;
        resources_of_any_kind_.push_back({*node, 0});
        // Some that are alike: of an op with several, all must be of one type.
        for (int k = 0; k < 3 && op.read != nullptr; ++k) {
          Node alike;
          alike.op = name;
          alike.attrs = graph_.node(*node).attrs;
          alike.attrs.erase("shared_name");
          if (const absl::StatusOr<NodeId> added = graph_.Add(std::move(alike)); added.ok()) {
            resources_of_any_kind_.push_back({*added, 0});
          }
        }
      }
    }
    // Some variables have values.
    for (const Output each : resources_of_any_kind_) {
      if (!graph_.node(each.node).def->read || dice_.Below(2) == 0) continue;
      const Tensor value = SomeOf(graph_.TypeOf(each), dice_);
      Builder b(graph_);
      const Output assign = ops::Assign(b, "set", each, b.Const("value", value));
      if (b.status().ok()) Run(assign.node, env_.clock->Monotonic()).IgnoreError();
    }
  }

  // Makes a node with inputs of whatever kind and runs it. False: it was refused when it was added.
  bool Try(const OpDef& op) {
    const std::size_t count =
        op.inputs >= 0 && dice_.Below(20) != 0 ? static_cast<std::size_t>(op.inputs) : dice_.Below(8);
    DType usual = dice_.Of(Types());
    const bool are_known = dice_.Below(2) == 0;  // else what does not fit reaches the kernel
    std::vector<Output> inputs;
    Builder b(graph_);
    for (std::size_t i = 0; i < count; ++i) {
      if (op.TakesReference(static_cast<int>(i)) && dice_.Below(50) != 0) {
        Output resource = dice_.Of(resources_of_any_kind_);
        for (int k = 0; k < 60 && i > 0 && !IsLike(resource, inputs[0]); ++k) {
          resource = dice_.Of(resources_of_any_kind_);
        }
        inputs.push_back(resource);
        if (i == 0 && dice_.Below(4) != 0) usual = graph_.TypeOf(resource);
      } else {
        const DType type = usual == DType::kResource || dice_.Below(8) == 0 ? dice_.Of(Types()) : usual;
        const Output value = b.Const("c", SomeOf(type, dice_));
        inputs.push_back(are_known ? value : ops::PlaceholderWithDefault(b, "hidden", value));
      }
    }
    const std::optional<NodeId> node = AddNode(op.name, inputs);
    if (!node.has_value()) return false;
    CheckRun(*node);
    return true;
  }

 private:
  // Whether both resources are of one op and type, and declare one shape.
  bool IsLike(Output a, Output b) const {
    const auto same = [this, a, b](std::string_view name) {
      const Attrs& of_a = graph_.node(a.node).attrs;
      const Attrs& of_b = graph_.node(b.node).attrs;
      const auto at_a = of_a.find(name);
      const auto at_b = of_b.find(name);
      if (at_a == of_a.end() || at_b == of_b.end()) return at_a == of_a.end() && at_b == of_b.end();
      return at_a->second == at_b->second;
    };
    return graph_.node(a.node).op == graph_.node(b.node).op && same("dtype") && same("shape");
  }

  // Adds the node, with the attributes that it turns out to need, and sometimes others of those that any op needed.
  std::optional<NodeId> AddNode(const std::string& op, const std::vector<Output>& inputs) {
    Attrs attrs;
    for (const std::string& name : known_attrs_) {
      if (dice_.Below(8) == 0) attrs.insert_or_assign(name, SomeAttr(dice_));
    }
    absl::Status status;
    for (int attempt = 0; attempt < 40; ++attempt) {
      Node node;
      node.op = op;
      node.inputs = inputs;
      node.attrs = attrs;
      const absl::StatusOr<NodeId> added = graph_.Add(std::move(node));
      if (added.ok()) return *added;
      status = added.status();
      const std::string missing = MissingAttr(status);
      if (missing.empty()) break;
      attrs.insert_or_assign(missing, SomeAttr(dice_));
    }
    EXPECT_NE(MessageOf(status), "");
    // INVALID_ARGUMENT: shapes that are known cannot fit.
    EXPECT_TRUE(CodeOf(status) == Code::kUsage || CodeOf(status) == Code::kInvalidArgument) << status;
    return std::nullopt;
  }

  void CheckRun(NodeId id) {
    fakes::TakeLargestAllocation();
    const std::string what = Describe(graph_.node(id));
    absl::Status status;
    std::vector<Tensor> values;
    try {
      status = RunAll(id, env_.clock->Monotonic(), &values);
    } catch (const std::exception& error) {
      ADD_FAILURE() << what << " throws " << error.what();
      return;
    }
    EXPECT_LE(fakes::TakeLargestAllocation(), kMostBytes) << what << ": " << status;
    if (!status.ok()) {
      EXPECT_NE(MessageOf(status), "") << what;
      EXPECT_NE(CodeOf(status), Code::kOther) << what << ": " << status;
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i].valid()) continue;  // of a resource without a value
      const PartialShape& known = graph_.ShapeOf({id, static_cast<std::int32_t>(i)});
      EXPECT_TRUE(!HoldsWhatItSays(graph_.node(id)) || Merge(known, PartialShape(values[i].shape())).ok())
          << what << " gives " << values[i].Describe() << ", but is inferred to be " << known.ToString();
      EXPECT_EQ(DTypeName(values[i].dtype()), DTypeName(graph_.node(id).output_types[i])) << what;
      EXPECT_TRUE(Tensor::BytesOf(values[i].dtype(), values[i].shape()).ok())
          << what << " gives " << values[i].Describe();
      EXPECT_EQ(values[i].Clone().shape(), values[i].shape()) << "all of it can be read";
    }
  }

  // Whether what is inferred is what comes out. A variable may have been given another shape than it declares
  // (validate_shape), and so may a default: no run checks either, here as in TensorFlow.
  static bool HoldsWhatItSays(const Node& node) {
    return !node.def->TakesReference(0) && !node.def->is_resource && node.op != "PlaceholderWithDefault";
  }

  std::string Describe(const Node& node) const {
    std::string text = node.op + "(";
    for (const Output input : node.inputs) {
      const Node& from = graph_.node(input.node);
      text += from.def->constant ? from.def->constant(from).Describe() + " " : from.op + " ";
    }
    text += ")";
    for (const auto& [name, value] : node.attrs) text += fmt::format(" {}:{}", name, value.index());
    return text;
  }

  const Env env_;
  Dice dice_;
  std::vector<Output> resources_of_any_kind_;
  // Of those that a signature only allows nothing is heard until they are of a wrong type.
  std::vector<std::string> known_attrs_ = {"shape",
                                           "container",
                                           "shared_name",
                                           "capacity",
                                           "axis",
                                           "squeeze_dims",
                                           "out_type",
                                           "transpose_a",
                                           "keep_dims",
                                           "validate_shape",
                                           "reduction_type",
                                           "separator",
                                           "limit",
                                           "data_format",
                                           "dilations",
                                           "use_nesterov",
                                           "output_type",
                                           "out_idx",
                                           "use_locking",
                                           "batch_dims",
                                           "incompatible_shape_error",
                                           "multiply_linear_by_lr"};
};

// All but variables: on a cluster what is not marked would be shared by all sessions, without a word.
TEST(EveryOp, SaysWhetherItsResourceIsItsSessionsAlone) {
  int marked = 0;
  for (const auto& [name, def] : BuiltinOps().all()) {
    if (def.resource_kind.empty()) continue;
    const bool variable = def.resource_kind == Variable::kKind || def.resource_kind == ResourceVariable::kKind;
    EXPECT_EQ(def.per_session, !variable) << name;
    marked += def.per_session ? 1 : 0;
  }
  EXPECT_GE(marked, 10);
}

TEST(EveryOp, TakesWhateverItIsGiven) {
  for (const auto& [name, op] : BuiltinOps().all()) {
    int made = 0;
    // Of an op with many references and types it may take longer.
    for (int round = 0; round < kTries / 100 || (made == 0 && round < kMostRounds); ++round) {
      fakes::FakeEnv fake;
      Trial trial(fake.env(), 1 + static_cast<std::uint64_t>(round));
      for (int i = 0; i < 100; ++i) made += trial.Try(op) ? 1 : 0;
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_GT(made, 0) << name << ": none of the inputs above makes such a node; they lack something that it needs";
  }
}

}  // namespace
}  // namespace vigil
