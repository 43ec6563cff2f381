#include "vigil/core/gradients/gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using testing::HasSubstr;

class GradientsTest : public testing::Test {
 protected:
  Output Floats(std::vector<float> values) { return b_.Const("c", Tensor::Vector<float>(values)); }
  Output Float(float value) { return b_.Const("c", Tensor::Scalar<float>(value)); }
  Output SumOf(Output value) { return b_.Op("Sum", {value, b_.Const("axes", Tensor::Vector<std::int32_t>({0}))}); }
  std::vector<float> Values(Output output) {
    if (session_ == nullptr) session_ = NewDirectSession(fake_.env(), graph_);
    std::vector<NodeId> init;
    for (const ops::Variable& each : graph_.Collection(ops::kVariables)) init.push_back(each.initializer);
    std::vector<Tensor> fetched;
    const RunSpec first{.targets = init};
    EXPECT_EQ(fakes::Text(session_->Run({.spec = first}, &fetched)), "OK");
    const RunSpec spec{.fetches = {output}};
    EXPECT_EQ(fakes::Text(session_->Run({.spec = spec}, &fetched)), "OK");
    const auto flat = fetched.at(0).flat<float>();
    return {flat.begin(), flat.end()};
  }
  std::string ErrorOf(Output y, const std::vector<Output>& xs) { return fakes::Text(Gradients(b_, y, xs).status()); }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  std::unique_ptr<Session> session_;
};

TEST_F(GradientsTest, OfAVariableByItsReference) {
  const ops::Variable w = ops::MakeVariable(b_, "w", Floats({1, 2, 3}));
  const Output loss = SumOf(b_.Op("Square", {w.read}));
  EXPECT_EQ(Values((*Gradients(b_, loss, {w.ref}))[0]), (std::vector<float>{2, 4, 6}));
}

TEST_F(GradientsTest, WhatComesOverTwoWaysIsAddedUp) {
  const Output x = Floats({1, 2});
  const Output loss = SumOf(b_.Op("AddV2", {b_.Op("Square", {x}), b_.Op("Neg", {x})}));
  const Output gradient = (*Gradients(b_, loss, {x}))[0];
  EXPECT_EQ(graph_.node(gradient.node).op, "AddN");
  EXPECT_EQ(Values(gradient), (std::vector<float>{1, 3}));
}

TEST_F(GradientsTest, OfWhatTheLossDoesNotDependOnThereIsNone) {
  const Output x = Floats({1, 2});
  const Output y = Floats({3, 4});
  const Output loss = SumOf(b_.Op("Mul", {x, b_.Op("StopGradient", {y})}));
  const std::vector<Output> gradients = *Gradients(b_, loss, {x, y});
  EXPECT_EQ(Values(gradients[0]), (std::vector<float>{3, 4}));
  EXPECT_EQ(gradients[1].node, kNoNode);
  const auto zeros = *Gradients(b_, std::vector<Output>{loss}, {y}, {.unconnected_zero = true});
  EXPECT_EQ(Values(zeros[0].values), (std::vector<float>{0, 0}));
}

TEST_F(GradientsTest, OfValuesInTheMiddle) {
  const Output x = Floats({1, 2});
  const Output middle = b_.Op("Square", {x});
  const Output loss = SumOf(b_.Op("Square", {middle}));
  const std::vector<Output> gradients = *Gradients(b_, loss, {middle, x});
  EXPECT_EQ(Values(gradients[0]), (std::vector<float>{2, 8}));
  EXPECT_EQ(Values(gradients[1]), (std::vector<float>{4, 32}));
  const auto stopped = *Gradients(b_, std::vector<Output>{loss}, {x}, {.stop_gradients = {middle}});
  EXPECT_FALSE(stopped[0].exists());
}

TEST_F(GradientsTest, BeginsWithTheGradientsThatItIsGiven) {
  const Output x = Floats({1, 2});
  const Output y = b_.Op("Square", {x});
  const auto gradients = *Gradients(b_, std::vector<Output>{y, x}, {x}, {.grad_ys = {Floats({1, 10}), {}}});
  EXPECT_EQ(Values(gradients[0].values), (std::vector<float>{3, 41}));
}

TEST_F(GradientsTest, OfAGradient) {
  const Output x = Floats({1, 2});
  const Output first = (*Gradients(b_, SumOf(b_.Op("Mul", {b_.Op("Square", {x}), x})), {x}))[0];
  EXPECT_EQ(Values(first), (std::vector<float>{3, 12}));
  EXPECT_EQ(Values((*Gradients(b_, first, {x}))[0]), (std::vector<float>{6, 12}));
}

TEST_F(GradientsTest, OfRowsThatWerePickedItIsIndexedSlices) {
  const ops::Variable table = ops::MakeVariable(b_, "table", Floats({1, 2, 3}));
  const auto pick = [&](std::vector<std::int32_t> rows) {
    return b_.Op("GatherV2", {table.read, b_.Const("rows", Tensor::Vector<std::int32_t>(rows)),
                              b_.Const("axis", Tensor::Scalar<std::int32_t>(0))});
  };
  const Output one = SumOf(pick({2, 2, 0}));
  const Gradient sparse = (*Gradients(b_, std::vector<Output>{one}, {table.ref}, {}))[0];
  ASSERT_TRUE(sparse.sparse());
  EXPECT_EQ(Values(sparse.values), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(Values((*Gradients(b_, one, {table.ref}))[0]), (std::vector<float>{1, 0, 2})) << "made dense";
  // Of two of them: still rows. With a dense one: dense.
  const Output two = b_.Op("AddV2", {one, SumOf(b_.Op("Square", {pick({1, 1})}))});
  const Gradient both = (*Gradients(b_, std::vector<Output>{two}, {table.ref}, {}))[0];
  ASSERT_TRUE(both.sparse());
  EXPECT_EQ(Values(Densified(b_, "d", both)), (std::vector<float>{1, 8, 2}));
  const Output three = b_.Op("AddV2", {two, SumOf(table.read)});
  const Gradient dense = (*Gradients(b_, std::vector<Output>{three}, {table.ref}, {}))[0];
  EXPECT_FALSE(dense.sparse());
  EXPECT_EQ(Values(dense.values), (std::vector<float>{2, 9, 3}));
}

TEST_F(GradientsTest, OfAProductWithZeros) {
  const Output axes = b_.Const("axes", Tensor::Vector<std::int32_t>({0}));
  for (const auto& [values, gradient] : {std::pair<std::vector<float>, std::vector<float>>{{2, 0, 5}, {0, 10, 0}},
                                         {{0, 0, 5}, {0, 0, 0}},
                                         {{2, 3, 4}, {12, 8, 6}}}) {
    const Output x = Floats(values);
    const auto found = Gradients(b_, b_.Op("Prod", {x, axes}), {x});
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(Values((*found)[0]), gradient);
  }
}

TEST_F(GradientsTest, AnOpWithoutAGradientIsNamed) {
  OpRegistry ops(BuiltinOps());
  ops.Register({.name = "Mystery", .inputs = 1, .output_types = SameAsInput(0)});
  Graph graph(ops);
  Builder b(graph);
  const Output x = b.Const("x", Tensor::Vector<float>({1, 2}));
  const Output unknown = b.Op("Mystery", {x}, {.name = "unknown"});
  const auto found = Gradients(b, unknown, {x});
  EXPECT_THAT(fakes::Text(found.status()), HasSubstr("No gradient defined for operation'unknown' (op type: Mystery)."));
  EXPECT_EQ(fakes::Text(Gradients(b, b.Op("Square", {x}), {x}).status()), "OK")
      << "nothing was left behind in the builder";
}

TEST_F(GradientsTest, OfAGatherOfBatches) {
  const Output x = b_.Const("c", Tensor::Vector<float>({0, 1, 2, 3, 4, 5}).Reshaped(Shape({2, 3})));
  const Output one_each = b_.Const("c", Tensor::Vector<std::int64_t>({2, 0}));
  const Output two_each = b_.Const("c", Tensor::Vector<std::int32_t>({2, 2, 0, 1}).Reshaped(Shape({2, 2})));
  const Output axis = b_.Const("c", Tensor::Scalar<std::int32_t>(1));
  for (const std::int64_t batch_dims : {1, -1}) {
    const Attrs attrs{{"batch_dims", batch_dims}};
    const auto gradient = [&](Output indices) {
      return (*Gradients(b_, b_.Op("Square", {b_.Op("GatherV2", {x, indices, axis}, {.attrs = attrs})}), {x}))[0];
    };
    EXPECT_EQ(Values(gradient(two_each)), (std::vector<float>{0, 0, 8, 6, 8, 0})) << batch_dims;
    // Counted from the end of the indices, -1 of these is 0: no batches.
    EXPECT_EQ(Values(gradient(one_each)), (std::vector<float>{0, 0, 4, 6, 0, batch_dims > 0 ? 0.0F : 10.0F}));
  }
}

TEST_F(GradientsTest, OfAGatherOfBatchesThatAreEmpty) {
  const Output axis = b_.Const("c", Tensor::Scalar<std::int32_t>(1));
  const Attrs attrs{{"batch_dims", std::int64_t{1}}};
  for (const std::int64_t batches : {0, 2}) {
    const Output x = b_.Const("c", Tensor(DType::kFloat, Shape({batches, 3})));
    const Output none = b_.Const("c", Tensor(DType::kInt32, Shape({batches, 0})));
    const Output rows = b_.Op("GatherV2", {x, none, axis}, {.attrs = attrs});
    EXPECT_EQ(Values((*Gradients(b_, rows, {x}))[0]), std::vector<float>(static_cast<std::size_t>(batches) * 3));
  }
}

TEST_F(GradientsTest, WhatIsNotInTheGraphIsRefused) {
  const Output x = Floats({1});
  EXPECT_EQ(ErrorOf({1000, 0}, {x}), "USAGE: Gradients: a y is not an output of this graph.");
  EXPECT_EQ(ErrorOf(SumOf(x), {{}}), "USAGE: Gradients: an x is not an output of this graph.");
  EXPECT_THAT(ErrorOf(b_.Op("Shape", {x}, {.name = "s"}), {x}),
              HasSubstr("USAGE: Gradients of 's:0', which has type int32: only float and double have gradients."));
}

TEST_F(GradientsTest, ABuilderThatFailedStaysFailed) {
  const Output x = Floats({1});
  b_.Fail(UsageError("before"));
  EXPECT_EQ(ErrorOf(x, {x}), "USAGE: before");
}

}  // namespace
}  // namespace vigil
