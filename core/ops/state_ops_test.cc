#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <limits>

#include "vigil/core/ops/testing.h"
#include "vigil/core/ops/variable.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using StateOpsTest = OpsTest<fakes::FakeEnv>;

TEST_F(StateOpsTest, AVariableHasNoValueUntilItIsAssigned) {
  const ops::Variable v = ops::MakeVariable(b_, "v", Scalar<std::int64_t>(5));
  const Output initialized = b_.Op("IsVariableInitialized", {v.ref});
  EXPECT_EQ(Show(v.read), "FAILED_PRECONDITION: Attempting to use uninitialized value v");
  EXPECT_EQ(Show(initialized), "bool [] false");
  EXPECT_EQ(Show(ops::AssignAdd(b_, "add", v.ref, Scalar<std::int64_t>(1))),
            "FAILED_PRECONDITION: Attempting to use uninitialized value v");
  EXPECT_EQ(vigil::Show(Run(v.initializer)), "OK");
  EXPECT_EQ(Show(v.read), "int64 [] 5");
  EXPECT_EQ(Show(initialized), "bool [] true");
  EXPECT_EQ(graph_.node(v.read.node).name, "v/read");
  EXPECT_EQ(graph_.node(v.initializer).name, "v/Assign");
}

TEST_F(StateOpsTest, UpdatesGiveTheNewValue) {
  const ops::Variable v = ops::MakeVariable(b_, "v", b_.Const("initial", Tensor::Vector<float>({1, 2})));
  ASSERT_EQ(vigil::Show(Run(v.initializer)), "OK");
  EXPECT_EQ(Show(ops::AssignAdd(b_, "add", v.ref, Vec<float>({10, 10}))), "float [2] 11 12");
  EXPECT_EQ(Show(ops::AssignSub(b_, "sub", v.ref, Vec<float>({1, 1}))), "float [2] 10 11");
  EXPECT_EQ(Show(v.read), "float [2] 10 11");
  EXPECT_THAT(Show(ops::AssignAdd(b_, "bad", v.ref, Vec<float>({1}))), HasSubstr("lhs shape= [2] rhs shape= [1]"));
  EXPECT_THAT(Show(ops::Assign(b_, "bad", v.ref, Vec<float>({1}))),
              HasSubstr("INVALID_ARGUMENT: Assign requires shapes"));
}

// It works in the variable's own memory, which it has to give back.
TEST_F(StateOpsTest, AnUpdateThatFailsLeavesTheValueThatWasThere) {
  const ops::Variable v = ops::MakeVariable(b_, "v", b_.Const("initial", Tensor::Vector<float>({1, 2})));
  ASSERT_EQ(vigil::Show(Run(v.initializer)), "OK");
  ASSERT_EQ(Show(ops::AssignAdd(b_, "add", v.ref, Vec<float>({1, 1}))), "float [2] 2 3");
  const Output beyond = b_.Const("beyond", Tensor::Vector<std::int64_t>({5}));
  EXPECT_THAT(Show(b_.Op("ScatterAdd", {v.ref, beyond, Vec<float>({1})})), HasSubstr("INVALID_ARGUMENT"));
  EXPECT_EQ(Show(v.read), "float [2] 2 3");
}

TEST_F(StateOpsTest, OfAShapeThatIsPartlyKnownTheRestIsFree) {
  const Attrs attrs{{"dtype", DType::kInt32}, {"shape", Shape({-1, 2})}};
  const Output ref = b_.Op("VariableV2", {}, {.name = "ref", .attrs = attrs});
  const Output handle = b_.Op("VarHandleOp", {}, {.name = "handle", .attrs = attrs});
  const auto assign = [&](Output value) {
    const Output op = b_.Op("AssignVariableOp", {handle, value}, {.attrs = {{"validate_shape", true}}});
    return std::pair(Show(ops::Assign(b_, "set", ref, value)), vigil::Show(Run(op.node)));
  };
  EXPECT_EQ(assign(Matrix<std::int32_t>(1, {1, 2})), std::pair(std::string("int32 [1,2] 1 2"), std::string("OK")));
  EXPECT_EQ(assign(Matrix<std::int32_t>(2, {1, 2, 3, 4})),
            std::pair(std::string("int32 [2,2] 1 2 3 4"), std::string("OK")));
  const auto [by_ref, by_handle] = assign(Matrix<std::int32_t>(2, {1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(by_ref, HasSubstr("lhs shape= [?,2] rhs shape= [2,3]"));
  EXPECT_THAT(by_handle, HasSubstr("with shape [?,2] a value of shape [2,3]"));
}

// TensorFlow 2.21's: unlike Gather it holds each index against the rows, also where these have no elements.
TEST_F(StateOpsTest, RowsOfAVariableAreCountedAlsoWithoutElements) {
  const auto gather = [this](const std::vector<std::int64_t>& dims, const std::vector<std::int32_t>& indices) {
    const Output handle = b_.Op("VarHandleOp", {}, {.attrs = {{"dtype", DType::kFloat}, {"shape", Shape(dims)}}});
    const Output assign = b_.Op("AssignVariableOp", {handle, Value(Tensor(DType::kFloat, Shape(dims)))});
    EXPECT_EQ(vigil::Show(Run(assign.node)), "OK");
    return Show(b_.Op("ResourceGather", {handle, Vec(indices)}, {.attrs = {{"dtype", DType::kFloat}}}));
  };
  EXPECT_EQ(gather({0, 3}, {}), "float [0,3]");
  EXPECT_EQ(gather({3, 0}, {2, 0}), "float [2,0]");
  EXPECT_EQ(gather({3, 0}, {5}), "INVALID_ARGUMENT: indices[0] = 5 is not in [0, 3)");
  EXPECT_EQ(gather({0, 3}, {0}), "INVALID_ARGUMENT: indices[0] = 0 is not in [0, 0)");
  EXPECT_EQ(gather({0, 0}, {0}), "INVALID_ARGUMENT: indices[0] = 0 is not in [0, 0)");
}

// TensorFlow 2.21's.
TEST_F(StateOpsTest, AnAssignmentIsHeldAgainstTheValueThatIsThere) {
  const auto assign_to = [this](Output ref, Output value, bool validate) {
    return Show(b_.Op("Assign", {ref, value}, {.attrs = {{"validate_shape", validate}}}));
  };
  const Output three = Vec<float>({4, 5, 6});
  const Output two = Vec<float>({4, 5});
  for (const Shape& declared : {Shape({2}), Shape()}) {
    const Output ref = b_.Op("VariableV2", {}, {.attrs = {{"dtype", DType::kFloat}, {"shape", declared}}});
    EXPECT_EQ(assign_to(ref, three, true),
              fmt::format("INVALID_ARGUMENT: Assign requires shapes of both tensors to match. lhs shape= {} rhs shape= "
                          "[3]",
                          declared.ToString()));
    EXPECT_EQ(assign_to(ref, Vec<float>({1, 2, 3}), false), "float [3] 1 2 3");
    EXPECT_EQ(assign_to(ref, three, true), "float [3] 4 5 6");
    EXPECT_EQ(assign_to(ref, two, true),
              "INVALID_ARGUMENT: Assign requires shapes of both tensors to match. lhs shape= [3] rhs shape= [2]");
  }
}

TEST_F(StateOpsTest, AReferencePassesThroughAssign) {
  const ops::Variable v = ops::MakeVariable(b_, "v", Scalar<std::int64_t>(1));
  const Output set = ops::Assign(b_, "set", v.ref, Scalar<std::int64_t>(10));
  EXPECT_EQ(Show(ops::AssignAdd(b_, "add", set, Scalar<std::int64_t>(1))), "int64 [] 11");
  EXPECT_EQ(Show(v.read), "int64 [] 11");
}

TEST_F(StateOpsTest, VariablesOfOneSharedNameAreOne) {
  const Attrs attrs{{"dtype", DType::kInt64}, {"shared_name", std::string("s")}};
  const Output a = b_.Op("VariableV2", {}, {.name = "a", .attrs = attrs});
  const Output b = b_.Op("VariableV2", {}, {.name = "b", .attrs = attrs});
  ASSERT_EQ(vigil::Show(Run(ops::Assign(b_, "set", a, Scalar<std::int64_t>(4)).node)), "OK");
  EXPECT_EQ(Show(ops::Identity(b_, "read", b)), "int64 [] 4");
}

TEST_F(StateOpsTest, VariablesOfOneSharedNameHaveOneType) {
  const auto variable = [this](std::string name, DType type) {
    return b_.Op("VariableV2", {},
                 {.name = std::move(name), .attrs = {{"dtype", type}, {"shared_name", std::string("s")}}});
  };
  const Output a = variable("a", DType::kInt64);
  const Output b = variable("b", DType::kFloat);
  ASSERT_EQ(vigil::Show(Run(ops::Assign(b_, "set", a, Scalar<std::int64_t>(4)).node)), "OK");
  const std::string refusal =
      "INVALID_ARGUMENT: 'b' is a variable of type float, but the variable of that name has type int64.";
  EXPECT_EQ(Show(ops::Identity(b_, "read", b)), refusal);
  EXPECT_EQ(Show(ops::Assign(b_, "set_b", b, Scalar<float>(4))), refusal);
}

TEST_F(StateOpsTest, AReferenceIsToAVariable) {
  const Output queue = ops::FifoQueue(b_, "q", 1).handle;
  EXPECT_EQ(Show(b_.Op("IsVariableInitialized", {queue})),
            "INVALID_ARGUMENT: Trying to access a handle's resource using the wrong type: 'q' is a FIFOQueueV2");
  const ops::Variable v = ops::MakeVariable(b_, "v", Scalar<std::int64_t>(5));
  EXPECT_EQ(Show(b_.Op("QueueSizeV2", {v.ref})),
            "INVALID_ARGUMENT: Trying to access a handle's resource using the wrong type: 'v' is a VariableV2");
}

TEST_F(StateOpsTest, TheLargestNumberEndsACount) {
  const ops::Variable v = ops::MakeVariable(b_, "v", Scalar<std::int64_t>(std::numeric_limits<std::int64_t>::max()));
  const ops::Variable w = ops::MakeVariable(b_, "w", Scalar<std::int32_t>(std::numeric_limits<std::int32_t>::max()));
  for (const ops::Variable& each : {v, w}) {
    ASSERT_EQ(vigil::Show(Run(each.initializer)), "OK");
    const Output count =
        b_.Op("CountUpTo", {each.ref}, {.attrs = {{"limit", std::numeric_limits<std::int64_t>::max()}}});
    EXPECT_EQ(Show(count), "OUT_OF_RANGE: Reached limit of 9223372036854775807");
  }
}

TEST_F(StateOpsTest, CountUpToGivesTheValueBeforeAndEndsAtTheLimit) {
  const ops::Variable v = ops::MakeVariable(b_, "v", Scalar<std::int64_t>(0));
  const Output count = b_.Op("CountUpTo", {v.ref}, {.attrs = {{"limit", std::int64_t{2}}}});
  EXPECT_THAT(Show(count), HasSubstr("uninitialized value v"));
  ASSERT_EQ(vigil::Show(Run(v.initializer)), "OK");
  EXPECT_EQ(Show(count), "int64 [] 0");
  EXPECT_EQ(Show(count), "int64 [] 1");
  EXPECT_EQ(Show(count), "OUT_OF_RANGE: Reached limit of 2");
  EXPECT_EQ(Show(v.read), "int64 [] 2");
}

TEST_F(StateOpsTest, LimitEpochsLetsAValueThroughSoOften) {
  const Output limited = ops::LimitEpochs(b_, "limit_epochs", Scalar<float>(3), 1);
  EXPECT_EQ(graph_.node(graph_.Collection(kLocalVariables).front().node).name, "limit_epochs/epochs");
  const Output init = ops::VariablesInitializer(b_, "init_locals", graph_.Collection(kLocalVariables));
  ASSERT_EQ(vigil::Show(Run(init.node)), "OK");
  EXPECT_EQ(Show(limited), "float [] 3");
  EXPECT_EQ(Show(limited), "OUT_OF_RANGE: Reached limit of 1");
}

TEST_F(StateOpsTest, ReportsWhatIsNotInitialized) {
  const ops::Variable v = ops::MakeVariable(b_, "v", Scalar<float>(1));
  const ops::Variable w = ops::MakeVariable(b_, "w", Scalar<float>(1));
  const Output report = ops::ReportUninitializedVariables(b_, "report", {v.ref, w.ref});
  EXPECT_EQ(Show(report), "string [2] v w");
  ASSERT_EQ(vigil::Show(Run(v.initializer)), "OK");
  EXPECT_EQ(Show(report), "string [1] w");
  ASSERT_EQ(vigil::Show(Run(w.initializer)), "OK");
  EXPECT_EQ(Show(report), "string [0]");
  EXPECT_EQ(Show(ops::ReportUninitializedVariables(b_, "none", {})), "string [0]");
}

TEST_F(StateOpsTest, MakeVariableFillsCollectionsAndIgnoresControlInputs) {
  const Output initial = Scalar<float>(1);
  b_.control_inputs = {initial.node};
  b_.device = "/job:ps";
  const ops::Variable v = ops::MakeVariable(b_, "v", initial);
  EXPECT_THAT(graph_.Collection(kGlobalVariables), ElementsAre(v.ref));
  EXPECT_TRUE(graph_.node(v.ref.node).control_inputs.empty());
  EXPECT_EQ(graph_.node(v.ref.node).device, "/job:ps");
  ops::MakeVariable(b_, "bad name", initial);
  EXPECT_EQ(vigil::Show(b_.status()), "USAGE: 'bad name' is not a valid node name");
}

TEST_F(StateOpsTest, AVariableWithoutInitializerIsRefused) {
  const Output v = b_.Op("VariableV2", {}, {.name = "v", .attrs = {{"dtype", DType::kFloat}}});
  ops::VariablesInitializer(b_, "init", {v});
  EXPECT_EQ(vigil::Show(b_.status()), "USAGE: 'init' is to initialize a variable that has no initializer.");
}

TEST_F(StateOpsTest, PlaceholdersMustBeFed) {
  EXPECT_EQ(Show(ops::Placeholder(b_, "x", DType::kInt64)),
            "INVALID_ARGUMENT: You must feed a value for placeholder tensor 'x' with dtype int64");
  EXPECT_EQ(Show(ops::PlaceholderWithDefault(b_, "y", Scalar<float>(2))), "float [] 2");
}

TEST_F(StateOpsTest, AnIteratorEnds) {
  const Output next = ops::RangeIterator(b_, "input", 2);
  EXPECT_EQ(Show(next), "int64 [] 0");
  EXPECT_EQ(Show(next), "int64 [] 1");
  EXPECT_EQ(Show(next), "OUT_OF_RANGE: End of sequence");
  EXPECT_EQ(Show(next), "OUT_OF_RANGE: End of sequence");
}

TEST_F(StateOpsTest, AnIteratorsStateIsItsPosition) {
  const Output next = ops::RangeIterator(b_, "input", 5);
  const Output iterator = graph_.Collection(ops::kIterators).at(0);
  EXPECT_TRUE(ops::IsIterator(graph_, iterator));
  EXPECT_FALSE(ops::IsIterator(graph_, next));
  EXPECT_EQ(graph_.NameOf(iterator), "input/OneShotIterator:0");
  const Output state = b_.Op("SerializeIterator", {iterator}, {});
  EXPECT_EQ(Show(state), "string [] 0");
  EXPECT_EQ(Show(next), "int64 [] 0");
  EXPECT_EQ(Show(state), "string [] 1");
  const auto set = [&](Output to) { return vigil::Show(Run(b_.Op("DeserializeIterator", {iterator, to}, {}).node)); };
  EXPECT_EQ(set(Scalar<std::string>("4")), "OK");
  EXPECT_EQ(Show(next), "int64 [] 4");
  EXPECT_EQ(Show(next), "OUT_OF_RANGE: End of sequence");
  EXPECT_EQ(Show(state), "string [] 5");
  for (const char* bad : {"", "x", "4x", "-1", "99999999999999999999"}) {
    EXPECT_EQ(set(Scalar<std::string>(bad)),
              fmt::format("INVALID_ARGUMENT: '{}' is no state of the iterator 'input/OneShotIterator'.", bad));
  }
  EXPECT_EQ(set(Vec<std::string>({"1", "2"})),
            "INVALID_ARGUMENT: An iterator's state must be a scalar, got string [2] instead.");
  EXPECT_EQ(Show(state), "string [] 5") << "what is refused changes nothing";
  b_.Op("SerializeIterator", {ops::MakeVariable(b_, "v", Scalar<std::int64_t>(5)).ref}, {});
  EXPECT_EQ(vigil::Show(b_.status()), "USAGE: Input 0 of 'SerializeIterator' Op has type int64, not resource.");
}

TEST(VariableTest, NoUpdateOfSeveralThreadsIsLost) {
  constexpr int kThreads = 4;
  constexpr int kUpdates = 2000;
  fakes::FakeEnv fake;
  Env env = fake.env();
  env.tasks = &fake.threads;
  Variable variable(env, DType::kInt64);
  variable.Assign(Tensor::Vector<std::int64_t>({0, 0}));
  std::atomic<bool> torn = false;
  std::atomic<int> computed = 0;
  std::vector<std::unique_ptr<Task>> tasks;
  for (int t = 0; t < kThreads; ++t) {
    tasks.push_back(fake.threads.Spawn("adder", [&] {
      for (int i = 0; i < kUpdates; ++i) {
        const absl::Status status = variable.Update([&computed](Tensor* value) {
          ++computed;
          const auto elements = value->mutable_flat<std::int64_t>();
          elements[0] += 1;
          elements[1] += 2;
          return absl::OkStatus();
        });
        if (!status.ok()) ADD_FAILURE() << vigil::Show(status);
        const Tensor seen = variable.Read();
        if (seen.flat<std::int64_t>()[1] != 2 * seen.flat<std::int64_t>()[0]) torn = true;
      }
    }));
  }
  for (const std::unique_ptr<Task>& task : tasks) ASSERT_TRUE(task->Join(kNever));
  EXPECT_THAT(variable.Read().flat<std::int64_t>(), ElementsAre(kThreads * kUpdates, 2 * kThreads * kUpdates));
  EXPECT_FALSE(torn) << "nobody sees half of an update";
  EXPECT_EQ(computed, kThreads * kUpdates) << "nor is one computed twice";
}

TEST_F(StateOpsTest, AVariableNeedsAnInitialValueOfItsGraph) {
  ops::MakeVariable(b_, "v", Output{4711, 0});
  EXPECT_EQ(vigil::Show(b_.status()),
            "USAGE: The initial value of variable 'v' is not an output of a node of this graph.");
}

}  // namespace
}  // namespace vigil
