// The values, the words and the order of those who take are what TensorFlow 2.21 gave in the same calls, by both
// families of names.
#include <gmock/gmock.h>

#include "vigil/core/graph/attr_value.pb.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/graph/node_def.pb.h"
#include "vigil/core/ops/accumulator.h"
#include "vigil/core/ops/testing.h"
#include "vigil/core/ops/training.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Floats = std::vector<float>;

// The parameter goes before the names of the ops.
class AccumulatorOpsTest : public OpsTest<fakes::FakeEnv>, public testing::WithParamInterface<std::string> {
 protected:
  Output Make(const std::string& name, Attrs attrs) {
    attrs.try_emplace("dtype", DType::kFloat);
    return b_.Op(GetParam() + "ConditionalAccumulator", {}, {.name = name, .attrs = std::move(attrs)});
  }
  std::string Apply(Output accumulator, Output gradient, std::int64_t step) {
    return vigil::Show(Run(b_.Op(GetParam() + "AccumulatorApplyGradient", {accumulator, Scalar(step), gradient}).node));
  }
  std::string Apply(Floats gradient, std::int64_t step) { return Apply(q_, Vec<float>(std::move(gradient)), step); }
  Output Taking(Output accumulator, std::int32_t n, DType dtype = DType::kFloat) {
    return b_.Op(GetParam() + "AccumulatorTakeGradient", {accumulator, Scalar(n)}, {.attrs = {{"dtype", dtype}}});
  }
  std::string Take(std::int32_t n) { return Show(Taking(q_, n)); }
  std::string Count() { return Show(b_.Op(GetParam() + "AccumulatorNumAccumulated", {q_})); }
  NodeId Setting(std::int64_t step, Attrs attrs = {}) {
    return b_.Op(GetParam() + "AccumulatorSetGlobalStep", {q_, Scalar(step)}, {.attrs = std::move(attrs)}).node;
  }
  std::string Set(std::int64_t step) { return vigil::Show(Run(Setting(step))); }
  // Starts to take in a task of its own, which writes a line when it has.
  void StartTake(const std::string& name, std::int32_t n) {
    const Output taking = Taking(q_, n);
    tasks_.push_back(fake_.tasks.Spawn(name, [this, name, taking] { lines_.push_back(name + " " + Show(taking)); }));
    fake_.tasks.RunReady();
  }

  const Output q_ = Make("Q", {{"shape", Shape({2})}});
  std::vector<std::string> lines_;
  std::vector<std::unique_ptr<Task>> tasks_;
};

INSTANTIATE_TEST_SUITE_P(Names, AccumulatorOpsTest, testing::Values("", "Resource"),
                         [](const auto& one) { return one.param.empty() ? "Plain" : one.param; });

TEST_P(AccumulatorOpsTest, AveragesAllThatIsThere) {
  EXPECT_EQ(Count(), "int32 [] 0");
  ASSERT_EQ(Apply({1, 2}, 0), "OK");
  ASSERT_EQ(Apply({3, 5}, 0), "OK");
  ASSERT_EQ(Apply({3, 6}, 0), "OK");
  EXPECT_EQ(Count(), "int32 [] 3");
  EXPECT_EQ(Take(1), "float [2] 2.3333333 4.3333335");
  EXPECT_EQ(Count(), "int32 [] 0");
}

// Added in the order in which they come, divided once.
TEST_P(AccumulatorOpsTest, RoundsAsTensorFlowDoes) {
  for (const float x : {0.1F, 0.2F, 0.4F}) ASSERT_EQ(Apply({x, x}, 0), "OK");
  const absl::StatusOr<Tensor> average = Get(Taking(q_, 3));
  ASSERT_TRUE(average.ok());
  EXPECT_EQ(average->flat<float>()[0], 0x1.ddddep-3F);
}

TEST_P(AccumulatorOpsTest, DropsWhatIsStale) {
  ASSERT_EQ(Apply({1, 1}, 0), "OK");
  ASSERT_EQ(Take(1), "float [2] 1 1");  // its step is 1 now
  EXPECT_EQ(Apply({9, 9}, 0), "OK");
  EXPECT_EQ(Count(), "int32 [] 0");
  EXPECT_EQ(Apply({9, 9}, 1), "OK");
  EXPECT_EQ(Apply({1, 1}, 7), "OK");
  EXPECT_EQ(Count(), "int32 [] 2");
  EXPECT_EQ(Set(0), "OK");  // back, and what is there stays
  EXPECT_EQ(Apply({2, 2}, 0), "OK");
  EXPECT_EQ(Set(5), "OK");
  EXPECT_EQ(Count(), "int32 [] 3");
  EXPECT_EQ(Apply({2, 2}, 4), "OK");
  EXPECT_EQ(Take(3), "float [2] 4 4");
  EXPECT_EQ(Apply({2, 2}, 5), "OK");
  EXPECT_EQ(Count(), "int32 [] 0");
  EXPECT_EQ(Apply({2, 2}, 6), "OK");
  EXPECT_EQ(Count(), "int32 [] 1");
}

TEST_P(AccumulatorOpsTest, RefusesOtherShapesButNotOfStaleGradients) {
  EXPECT_EQ(Apply({1}, 0), "INVALID_ARGUMENT: Shape mismatch: expected [2], got [1]");
  EXPECT_EQ(Apply(q_, Scalar<float>(1), 0), "INVALID_ARGUMENT: Shape mismatch: expected [2], got []");
  ASSERT_EQ(Set(1), "OK");
  EXPECT_EQ(Apply({1}, 0), "OK");
  EXPECT_EQ(Count(), "int32 [] 0");
}

TEST_P(AccumulatorOpsTest, WithoutAShapeTheFirstGradientSaysIt) {
  const Output any = Make("any", {});
  EXPECT_EQ(Apply(any, Vec<float>({1, 2}), 0), "OK");
  EXPECT_EQ(Apply(any, Vec<float>({1, 2, 3}), 0), "INVALID_ARGUMENT: Shape mismatch: expected [2], got [3]");
  EXPECT_EQ(Show(Taking(any, 1)), "float [2] 1 2");
  EXPECT_EQ(Apply(any, Matrix<float>(1, {1}), 1), "OK");
  EXPECT_EQ(Show(Taking(any, 1)), "float [1,1] 1");
}

TEST_P(AccumulatorOpsTest, RefusesWrongArguments) {
  EXPECT_EQ(Take(0), "INVALID_ARGUMENT: Argument num_required must be positive, but was 0");
  EXPECT_EQ(Take(-1), "INVALID_ARGUMENT: Argument num_required must be positive, but was -1");
  const auto run = [this](const char* op, std::vector<Output> inputs, Attrs attrs = {}) {
    return vigil::Show(Run(b_.Op(GetParam() + op, std::move(inputs), {.attrs = std::move(attrs)}).node));
  };
  const Output vector = Vec<std::int64_t>({6});
  EXPECT_EQ(run("AccumulatorApplyGradient", {q_, vector, Vec<float>({1, 1})}),
            "INVALID_ARGUMENT: Argument local_step must be scalar, but had bad shape [1]");
  EXPECT_EQ(run("AccumulatorSetGlobalStep", {q_, vector}),
            "INVALID_ARGUMENT: Argument num_required must be scalar, but had bad shape [1]");
  EXPECT_EQ(Show(Taking(q_, 1, DType::kDouble)),
            "INVALID_ARGUMENT: Signature mismatch, have: resource, int32->double expected: resource, int32->float");
  // TensorFlow aborts here.
  EXPECT_EQ(Apply(q_, Vec<double>({1, 2}), 0),
            "INVALID_ARGUMENT: Accumulator '_0_Q' takes gradients of type float, not double");
}

TEST_P(AccumulatorOpsTest, RefusesGraphsInTensorFlowsWords) {
  const auto error = [this](const char* op, std::vector<Output> inputs, Attrs attrs = {}) {
    Builder b(graph_);
    b.Op(GetParam() + op, std::move(inputs), {.attrs = std::move(attrs)});
    return std::string(MessageOf(b.status()));
  };
  EXPECT_THAT(error("AccumulatorApplyGradient", {q_, Scalar<std::int32_t>(1), Vec<float>({1, 1})}),
              HasSubstr("AccumulatorApplyGradient' Op has type int32 that does not match expected type of int64."));
  EXPECT_THAT(error("AccumulatorTakeGradient", {q_, Scalar<std::int64_t>(1)}, {{"dtype", DType::kFloat}}),
              HasSubstr("AccumulatorTakeGradient' Op has type int64 that does not match expected type of int32."));
  EXPECT_THAT(error("ConditionalAccumulator", {}, {{"dtype", DType::kFloat}, {"reduction_type", std::string("MAX")}}),
              HasSubstr("Op passed string 'MAX' not in: \"MEAN\", \"SUM\"."));
  const ops::Queue queue = ops::FifoQueue(b_, "queue", 1);
  EXPECT_THAT(Show(b_.Op(GetParam() + "AccumulatorNumAccumulated", {queue.handle})),
              HasSubstr("INVALID_ARGUMENT: Trying to access a handle's resource using the wrong type"));
  const Output integers = Make("integers", {{"dtype", DType::kInt32}});
  EXPECT_THAT(Apply(integers, Vec<std::int32_t>({1}), 0), HasSubstr("UNIMPLEMENTED"));
}

TEST_P(AccumulatorOpsTest, MaySumInsteadAndKnowsDouble) {
  const Output sum = Make("sum", {{"reduction_type", std::string("SUM")}});
  ASSERT_EQ(Apply(sum, Vec<float>({1}), 0), "OK");
  ASSERT_EQ(Apply(sum, Vec<float>({2}), 0), "OK");
  EXPECT_EQ(Show(Taking(sum, 1)), "float [1] 3");
  const Output doubles = Make("doubles", {{"dtype", DType::kDouble}});
  ASSERT_EQ(Apply(doubles, Vec<double>({1}), 0), "OK");
  ASSERT_EQ(Apply(doubles, Vec<double>({2}), 0), "OK");
  EXPECT_EQ(Show(Taking(doubles, 1, DType::kDouble)), "double [1] 1.5");
}

TEST_P(AccumulatorOpsTest, ThoseWhoTakeAreServedInOrder) {
  StartTake("two", 2);
  StartTake("one", 1);
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_EQ(resources_.InLine(), 2u);
  ASSERT_EQ(Apply({4, 4}, 100), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, IsEmpty());  // enough for the second, but it is not its turn
  ASSERT_EQ(Apply({6, 6}, 100), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("two float [2] 5 5"));
  ASSERT_EQ(Apply({8, 8}, 100), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("two float [2] 5 5", "one float [2] 8 8"));
  EXPECT_EQ(resources_.InLine(), 0u);
}

TEST_P(AccumulatorOpsTest, ARunThatEndsTakesNothing) {
  const Output one = Taking(q_, 1);
  EXPECT_EQ(vigil::Show(Run(one.node, DeadlineAfter(fake_.env(), std::chrono::seconds(3)))),
            "DEADLINE_EXCEEDED: Timed out waiting for notification");
  EXPECT_EQ(fake_.clock.Monotonic().since_epoch, std::chrono::seconds(3));
  ASSERT_EQ(Apply({1, 2}, 0), "OK");
  EXPECT_EQ(Show(one), "float [2] 1 2");  // it left the line

  StartTake("closed", 2);
  cancellation_.Cancel();
  resources_.CancelAll();
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("closed CANCELLED: TakeGrad operation was cancelled"));
}

// Ours: what the chief of synchronous replicas needs to stop.
TEST_P(AccumulatorOpsTest, TakesAreCancelledUntilTheStepIsSet) {
  ASSERT_EQ(Apply({1, 2}, 5), "OK");
  StartTake("waits", 2);
  ASSERT_EQ(vigil::Show(Run(Setting(7, {{std::string(ops::kCancelsTakes), true}}))), "OK");
  fake_.tasks.RunReady();
  EXPECT_THAT(lines_, ElementsAre("waits CANCELLED: TakeGrad operation was cancelled"));
  EXPECT_EQ(resources_.InLine(), 0u);
  EXPECT_EQ(Take(1), "CANCELLED: TakeGrad operation was cancelled");  // who comes too late for the signal
  EXPECT_EQ(Apply({3, 4}, 5), "OK");                                  // the step is what it was, not 7
  EXPECT_EQ(Count(), "int32 [] 2");
  ASSERT_EQ(Set(5), "OK");
  EXPECT_EQ(Take(2), "float [2] 2 3");
}

TEST_P(AccumulatorOpsTest, OfAShapeThatIsPartlyKnownTheRestIsAsOfTheFirstGradient) {
  const Output q = Make("partly", {{"shape", Shape({-1, 1})}});
  EXPECT_THAT(Apply(q, Vec<float>({1, 2}), 0), HasSubstr("Shape mismatch: expected [?,1], got [2]"));
  EXPECT_EQ(Apply(q, Matrix<float>(2, {1, 2}), 0), "OK");
  EXPECT_THAT(Apply(q, Matrix<float>(3, {1, 2, 3}), 0), HasSubstr("Shape mismatch: expected [2,1], got [3,1]"));
}

TEST_P(AccumulatorOpsTest, ThoseOfOneSharedNameAreOneWhateverTheySay) {
  const Output a = Make("a", {{"shared_name", std::string("sh")}, {"shape", Shape({1})}});
  const Output other = Make("other", {{"shared_name", std::string("sh")}, {"shape", Shape({2})}});
  ASSERT_EQ(Apply(a, Vec<float>({1}), 0), "OK");
  EXPECT_EQ(Show(b_.Op(GetParam() + "AccumulatorNumAccumulated", {other})), "int32 [] 1");
}

TEST(AccumulatorGraphTest, IsWrittenForTensorFlowAndReadAgain) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output q = ops::ConditionalAccumulator(b, "Q", DType::kFloat, std::nullopt, "w:0/grad_accum");
  const Output step = b.Const("step", Tensor::Scalar<std::int64_t>(0));
  ops::AccumulatorApplyGradient(b, "apply", q, step, b.Const("g", Tensor::Vector<float>({1})));
  ops::AccumulatorTakeGradient(b, "take", q, 2, DType::kFloat);
  ops::AccumulatorNumAccumulated(b, "count", q);
  ops::AccumulatorSetGlobalStep(b, "cancel", q, step, true);
  ASSERT_TRUE(b.status().ok()) << b.status();
  const proto::GraphDef def = ToGraphDef(graph);
  const auto attr = [&](std::string_view name, const char* key) -> proto::AttrValue {
    for (const proto::NodeDef& node : def.node()) {
      if (node.name() == name && node.attr().contains(key)) return node.attr().at(key);
    }
    return {};
  };
  EXPECT_TRUE(attr("Q", "shape").shape().unknown_rank());
  EXPECT_EQ(attr("Q", "shared_name").s(), "w:0/grad_accum");
  EXPECT_EQ(attr("apply", "dtype").type(), proto::DT_FLOAT);
  EXPECT_EQ(attr("take", "dtype").type(), proto::DT_FLOAT);
  EXPECT_TRUE(attr("cancel", "_vigil_cancels_takes").b());
  Graph again(BuiltinOps());
  ASSERT_TRUE(ImportGraphDef(def, again).ok());
  EXPECT_EQ(ToGraphDef(again).DebugString(), def.DebugString());
}

}  // namespace
}  // namespace vigil
