// Shapes that are known where a node is added, and nodes that are refused there. What TensorFlow says of each op is
// recorded in replays/ops.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/graph/shape_checks.h"
#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::StartsWith;

class ShapeInferenceTest : public OpsTest<fakes::FakeEnv> {
 protected:
  ShapeInferenceTest() { values_are_known_ = true; }

  Output Of(std::string name, std::vector<std::int64_t> dims) {
    return b_.Op("Placeholder", {},
                 {.name = std::move(name), .attrs = {{"dtype", DType::kFloat}, {"shape", Shape(std::move(dims))}}});
  }
  std::string Known(Output value) {
    return b_.status().ok() ? graph_.ShapeOf(value).ToString() : vigil::Show(b_.status());
  }
};

// docs/training.md shows this one.
TEST_F(ShapeInferenceTest, WhatCannotFitIsRefusedInTensorFlowsWords) {
  const Output a = Of("a", {2, 3});
  const Output b = Of("b", {2, 3});
  const int size = graph_.size();
  EXPECT_EQ(
      Known(b_.Op("MatMul", {a, b})),
      "INVALID_ARGUMENT: Dimensions must be equal, but are 3 and 2 for '{{node MatMul}} = MatMul[T=DT_FLOAT, "
      "grad_a=false, grad_b=false, transpose_a=false, transpose_b=false](a, b)' with input shapes: [2,3], [2,3].");
  EXPECT_EQ(graph_.size(), size);
}

TEST_F(ShapeInferenceTest, WhatIsPartlyKnownIsTold) {
  const Output x = Of("x", {-1, 3});
  EXPECT_EQ(Known(b_.Op("MatMul", {x, Of("w", {3, 5})})), "[?,5]");
  EXPECT_EQ(Known(b_.Op("Sum", {x, Vec<std::int32_t>({0})})), "[3]");
  EXPECT_EQ(Known(b_.Op("Reshape", {x, b_.Op("Shape", {x})})), "[?,3]");
  EXPECT_EQ(Known(b_.Op("Relu", {ops::Placeholder(b_, "any", DType::kFloat)})), "?");
}

TEST_F(ShapeInferenceTest, ARefusalNamesTheValuesThatItGoesBy) {
  const Output x = Of("x", {2, 3});
  EXPECT_EQ(Known(b_.Op("Sum", {x, Vec<std::int32_t>({0, 4})})),
            "INVALID_ARGUMENT: Invalid reduction dimension 4 for input with 2 dimensions. for '{{node Sum}} = "
            "Sum[T=DT_FLOAT, Tidx=DT_INT32, keep_dims=false](x, c)' with input shapes: [2,3], [2] and with computed "
            "input tensors: input[1] = <0 4>.");
}

TEST_F(ShapeInferenceTest, PaddingsThatAreNotAskedForAreRefusedInTensorFlowsWords) {
  using Ints = std::vector<std::int64_t>;
  EXPECT_THAT(Known(b_.Op("MaxPool", {Of("x", {1, 4, 4, 1})},
                          {.attrs = {{"ksize", Ints{1, 2, 2, 1}},
                                     {"strides", Ints{1, 1, 1, 1}},
                                     {"padding", std::string("SAME")},
                                     {"explicit_paddings", Ints{0, 0, 1, 1, 1, 1, 0, 0}}}})),
              StartsWith("INVALID_ARGUMENT: explicit_paddings attribute must be empty if the padding attribute is not "
                         "EXPLICIT"));
}

// A shape that spells out what is none is told of without the node, as TensorFlow does.
TEST_F(ShapeInferenceTest, AValueThatIsNoShape) {
  EXPECT_EQ(Known(b_.Op("Fill", {Vec<std::int32_t>({-3}), Scalar<float>(1)})),
            "INVALID_ARGUMENT: Invalid value in tensor used for shape: -3");
}

TEST_F(ShapeInferenceTest, WhatIsFedInPlaceOfAnotherIsCheckedByTheKernel) {
  const Output any = ops::PlaceholderWithDefault(b_, "any", Vec<float>({1, 2}));
  EXPECT_EQ(Known(any), "?");
  EXPECT_EQ(Show(b_.Op("AddV2", {any, Vec<float>({1, 2, 3})})), "INVALID_ARGUMENT: Incompatible shapes: [2] vs. [3]");
}

// TensorFlow refuses these, too.
TEST_F(ShapeInferenceTest, AnAxisBeyondAnyRankIsRefused) {
  const auto known = [](std::string op, std::vector<Output> (*inputs)(Builder&, std::int64_t), std::int64_t axis,
                        Attrs attrs = {}) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    const Output out = b.Op(std::move(op), inputs(b, axis), {.attrs = std::move(attrs)});
    return b.status().ok() ? graph.ShapeOf(out).ToString() : vigil::Show(b.status());
  };
  const auto one_hot = [](Builder& b, std::int64_t) -> std::vector<Output> {
    return {b.Const("i", Tensor::Vector<std::int32_t>({1, 2})), b.Const("d", Tensor::Scalar<std::int32_t>(3)),
            b.Const("on", Tensor::Scalar<float>(1)), b.Const("off", Tensor::Scalar<float>(0))};
  };
  const auto two_and_axis = [](Builder& b, std::int64_t axis) -> std::vector<Output> {
    const Output two = b.Const("two", Tensor::Vector<std::int32_t>({1, 1}));
    return {two, two, b.Const("axis", Tensor::Scalar(axis))};
  };
  const auto any_and_axis = [](Builder& b, std::int64_t axis) -> std::vector<Output> {
    const Output any = ops::Placeholder(b, "any", DType::kInt32);
    return {any, any, b.Const("axis", Tensor::Scalar(axis))};
  };
  for (const std::int64_t axis :
       {std::int64_t{1} << 32, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_THAT(known("OneHot", one_hot, axis, {{"axis", axis}}),
                StartsWith("INVALID_ARGUMENT: Shape must be at least rank"));
    for (const std::int64_t given : {axis, -axis, -axis - 1}) {
      EXPECT_THAT(known("ConcatV2", two_and_axis, given), StartsWith("INVALID_ARGUMENT: Shape must be at least rank"));
      EXPECT_THAT(known("GatherV2", two_and_axis, given), StartsWith("INVALID_ARGUMENT: Shape must be at least rank"));
      EXPECT_THAT(known("ConcatV2", any_and_axis, given), StartsWith("INVALID_ARGUMENT: Rank cannot exceed 254"));
      EXPECT_THAT(known("GatherV2", any_and_axis, given), StartsWith("INVALID_ARGUMENT: Rank cannot exceed 254"));
    }
  }
  EXPECT_EQ(known("ConcatV2", two_and_axis, 0), "[4]");
  EXPECT_EQ(known("OneHot", one_hot, 1, {{"axis", std::int64_t{1}}}), "[2,3]");
}

// So many as the length of a vector says, which a placeholder can claim.
TEST_F(ShapeInferenceTest, MoreDimensionsThanATensorHasAreRefused) {
  const auto known = [](std::int64_t length, bool shape_first, std::string op, Attrs attrs = {}) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    const Output dims = b.Op("Placeholder", {}, {.attrs = {{"dtype", DType::kInt32}, {"shape", Shape({length})}}});
    std::vector<Output> inputs{ops::Placeholder(b, "any", DType::kFloat), dims};
    if (shape_first) inputs = {dims};
    const Output out = b.Op(std::move(op), inputs, {.attrs = std::move(attrs)});
    return b.status().ok() ? fmt::format("rank {}", graph.ShapeOf(out).rank()) : vigil::Show(b.status());
  };
  const Attrs random{{"dtype", DType::kFloat}};
  EXPECT_EQ(known(254, true, "RandomUniform", random), "rank 254");
  EXPECT_EQ(known(254, false, "Reshape"), "rank 254");
  for (const std::int64_t length : {std::int64_t{255}, (std::int64_t{1} << 32) + 1, std::int64_t{1} << 33}) {
    const auto refused = StartsWith(fmt::format("INVALID_ARGUMENT: Rank cannot exceed 254 but is {}", length));
    EXPECT_THAT(known(length, true, "RandomUniform", random), refused);
    for (const char* const op : {"Reshape", "Tile", "Transpose", "BroadcastTo"}) {
      EXPECT_THAT(known(length, false, op), refused) << op;
    }
  }
}

TEST_F(ShapeInferenceTest, AnAssignmentIsHeldAgainstTheVariable) {
  const ops::Variable v = ops::MakeVariable(b_, "v", Vec<float>({1, 2}));
  EXPECT_EQ(Known(ops::Assign(b_, "again", v.ref, Of("three", {3}))),
            "INVALID_ARGUMENT: Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are [2] and [3]. for "
            "'{{node again}} = Assign[T=DT_FLOAT, use_locking=true, validate_shape=true](v, three)' with input shapes: "
            "[2], [3].");
}

TEST_F(ShapeInferenceTest, AnImportedNodeIsRefusedAsWell) {
  const Output a = Of("a", {2, 3});
  const Output b = Of("b", {3, 4});
  b_.Op("MatMul", {a, b}, {.name = "product"});
  proto::GraphDef def = ToGraphDef(graph_);
  def.mutable_node(2)->set_input(1, "a");
  Graph other(BuiltinOps());
  const std::string error = vigil::Show(ImportGraphDef(def, other));
  EXPECT_TRUE(error.starts_with("INVALID_ARGUMENT: Node 'product' (MatMul): Dimensions must be equal, but are 3 and 2"))
      << error;
  EXPECT_EQ(other.size(), 0);
}

// Chains and diamonds of arithmetic: a value is given up before it costs more than it is worth.
TEST_F(ShapeInferenceTest, ValuesAreLookedForWithinLimits) {
  Output doubled = Scalar<std::int32_t>(1);
  for (int i = 0; i < 5; ++i) doubled = b_.Op("AddV2", {doubled, doubled});
  EXPECT_EQ(Known(b_.Op("Fill", {b_.Op("Pack", {doubled}), Scalar<float>(1)})), "[32]");
  for (int i = 0; i < 40; ++i) doubled = b_.Op("AddV2", {doubled, doubled});
  EXPECT_EQ(Known(b_.Op("Fill", {b_.Op("Pack", {doubled}), Scalar<float>(1)})), "[?]");
}

// Nothing is known of what these give: it comes from a queue, an iterator, a file, another task; or they give nothing.
TEST(ShapeFnsTest, OpsWithoutOneAreListed) {
  std::vector<std::string> without;
  for (const auto& [name, op] : BuiltinOps().all()) {
    if (op.output_types && !op.constant && !op.shape_fn) without.push_back(name);
  }
  EXPECT_THAT(without, testing::ElementsAre(
                           "AccumulatorApplyGradient", "AccumulatorSetGlobalStep", "AccumulatorTakeGradient", "Assert",
                           "DecodeCSV", "DeserializeIterator", "DestroyResourceOp", "DisableCopyOnRead",
                           "IteratorGetNext", "MakeIterator", "MergeV2Checkpoints", "ParseExample", "ParseExampleV2",
                           "ParseSingleExample", "QueueCloseV2", "QueueDequeueManyV2", "QueueDequeueUpToV2",
                           "QueueDequeueV2", "QueueEnqueueManyV2", "QueueEnqueueV2", "ResourceAccumulatorApplyGradient",
                           "ResourceAccumulatorSetGlobalStep", "ResourceAccumulatorTakeGradient", "RestoreV2", "SaveV2",
                           "SerializeIterator", "StringJoin", "_Recv", "_Send"));
}

TEST(ShapeChecksTest, SubshapesAreWithinTheShape) {
  const PartialShape shape{2, 3, -1};
  EXPECT_EQ(Subshape(shape, 1, 3)->ToString(), "[3,?]");
  EXPECT_EQ(Subshape(shape, 0, -1)->ToString(), "[2,3]");
  EXPECT_EQ(Subshape(shape, 1, 9)->ToString(), "[3,?]");
  EXPECT_FALSE(Subshape(shape, 2, 1).ok());
  EXPECT_FALSE(Subshape(shape, -4, 3).ok());
  EXPECT_EQ(Subshape(PartialShape(), 1, 3)->ToString(), "?");
}

}  // namespace
}  // namespace vigil
