#include <gmock/gmock.h>

#include <limits>

#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::HasSubstr;
using ArrayOpsTest = OpsTest<fakes::FakeEnv>;

TEST_F(ArrayOpsTest, Pack) {
  const Output a = Vec<std::int64_t>({1, 2});
  const Output b = Vec<std::int64_t>({3, 4});
  const auto pack = [&](std::int64_t axis) { return Show(b_.Op("Pack", {a, b}, {.attrs = {{"axis", axis}}})); };
  EXPECT_EQ(Show(b_.Op("Pack", {a, b})), "int64 [2,2] 1 2 3 4");
  EXPECT_EQ(pack(1), "int64 [2,2] 1 3 2 4");
  EXPECT_EQ(pack(-1), "int64 [2,2] 1 3 2 4");
  EXPECT_EQ(pack(2), "INVALID_ARGUMENT: axis = 2 not in [-2, 2)");
  EXPECT_EQ(Show(b_.Op("Pack", {Scalar<std::string>("x"), Scalar<std::string>("y")})), "string [2] x y");
  EXPECT_THAT(Show(b_.Op("Pack", {a, Vec<std::int64_t>({1})})), HasSubstr("Shapes of all inputs must match"));
}

TEST_F(ArrayOpsTest, Concat) {
  const Output m = Matrix<float>(2, {1, 2, 3, 4});
  const Output n = Matrix<float>(2, {5, 6});
  EXPECT_EQ(Show(b_.Op("ConcatV2", {m, n, Scalar<std::int32_t>(1)})), "float [2,3] 1 2 5 3 4 6");
  EXPECT_EQ(Show(b_.Op("ConcatV2", {m, m, Scalar<std::int32_t>(0)})), "float [4,2] 1 2 3 4 1 2 3 4");
  EXPECT_EQ(
      Show(b_.Op("ConcatV2", {m, n, Scalar<std::int32_t>(0)})),
      "INVALID_ARGUMENT: ConcatOp : Dimension 1 in both shapes must be equal: shape[0] = [2,2] vs. shape[1] = [2,1]");
  EXPECT_EQ(
      Show(b_.Op("ConcatV2", {m, Vec<float>({1, 2}), Scalar<std::int32_t>(0)})),
      "INVALID_ARGUMENT: ConcatOp : Ranks of all input tensors should match: shape[0] = [2,2] vs. shape[1] = [2]");
}

TEST_F(ArrayOpsTest, WhereGivesTheCoordinatesOfWhatIsTrue) {
  EXPECT_EQ(Show(b_.Op("Where", {Vec<bool>({true, false, true})})), "int64 [2,1] 0 2");
  EXPECT_EQ(Show(b_.Op("Where", {Matrix<bool>(2, {false, true, true, false})})), "int64 [2,2] 0 1 1 0");
  EXPECT_EQ(Show(b_.Op("Where", {Vec<bool>({false})})), "int64 [0,1]");
}

TEST_F(ArrayOpsTest, Gather) {
  const Output names = Vec<std::string>({"a", "b", "c"});
  const Output zero = Scalar<std::int32_t>(0);
  EXPECT_EQ(Show(b_.Op("GatherV2", {names, Vec<std::int64_t>({2, 0}), zero})), "string [2] c a");
  EXPECT_EQ(Show(b_.Op("GatherV2", {names, Vec<std::int64_t>({3}), zero})),
            "INVALID_ARGUMENT: indices[0] = 3 is not in [0, 3)");
  const Output m = Matrix<float>(2, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Show(b_.Op("GatherV2", {m, Vec<std::int32_t>({2, 0}), Scalar<std::int32_t>(1)})), "float [2,2] 3 1 6 4");
  EXPECT_EQ(Show(b_.Op("GatherV2", {m, Scalar<std::int32_t>(1), zero})), "float [3] 4 5 6");
}

// What TensorFlow 2.21 gives and says.
TEST_F(ArrayOpsTest, GatherOfBatches) {
  const auto gather = [this](Output params, Output indices, std::int32_t axis, std::int64_t batch_dims) {
    return Show(b_.Op("GatherV2", {params, indices, Scalar(axis)}, {.attrs = {{"batch_dims", batch_dims}}}));
  };
  const Output m = Matrix<float>(2, {0, 1, 2, 3, 4, 5});
  const Output cube = Value(Tensor::Vector<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).Reshaped(Shape({2, 2, 3})));
  const Output pairs = Matrix<std::int32_t>(2, {0, 2, 1, 1});
  EXPECT_EQ(gather(m, Vec<std::int32_t>({2, 0}), 1, 1), "float [2] 2 3");
  EXPECT_EQ(gather(cube, Matrix<std::int32_t>(2, {2, 0, 1, 1}), -1, 1), "float [2,2,2] 2 0 5 3 7 7 10 10");
  EXPECT_EQ(gather(cube, Matrix<std::int32_t>(2, {0, 1, 0, 1, 0, 1}), 1, 1),
            "float [2,3,3] 0 1 2 3 4 5 0 1 2 9 10 11 6 7 8 9 10 11");
  EXPECT_EQ(gather(cube, pairs, 2, 2), "float [2,2] 0 5 7 10");
  EXPECT_EQ(gather(cube, pairs, 2, -1), "float [2,2,2] 0 2 3 5 7 7 10 10");
  EXPECT_EQ(gather(cube, pairs, 2, 3), "INVALID_ARGUMENT: Expected batch_dims in the range [-2, 2], but got 3");
  EXPECT_EQ(gather(cube, pairs, 0, 1), "INVALID_ARGUMENT: batch_dims (1) must be less than or equal to axis (0).");
  EXPECT_EQ(gather(cube, Matrix<std::int32_t>(3, {0, 2, 1, 1, 1, 1}), 1, 1),
            "INVALID_ARGUMENT: params.shape[0]: 2 should be equal to indices.shape[0]: 3");
  EXPECT_EQ(gather(Vec<float>({1, 2}), Vec<std::int32_t>({1, 0}), 0, 1),
            "INVALID_ARGUMENT: batch_dims (1) must be less than rank(params) (1).");
  EXPECT_EQ(gather(cube, Matrix<std::int32_t>(2, {0, 5, 1, 1}), 2, 1),
            "INVALID_ARGUMENT: indices[0,1] = 5 is not in [0, 3)");
}

TEST_F(ArrayOpsTest, Squeeze) {
  const Output m = Matrix<float>(1, {1, 2});
  EXPECT_EQ(Show(b_.Op("Squeeze", {m})), "float [2] 1 2");
  const auto squeeze = [&](std::int64_t axis) {
    return Show(b_.Op("Squeeze", {m}, {.attrs = {{"squeeze_dims", std::vector<std::int64_t>{axis}}}}));
  };
  EXPECT_EQ(squeeze(0), "float [2] 1 2");
  EXPECT_EQ(squeeze(-2), "float [2] 1 2");
  EXPECT_EQ(squeeze(1), "INVALID_ARGUMENT: Can not squeeze dim[1], expected a dimension of 1, got 2");
}

TEST_F(ArrayOpsTest, Reshape) {
  const Output v = Vec<std::int64_t>({1, 2, 3, 4});
  EXPECT_EQ(Show(b_.Op("Reshape", {v, Vec<std::int32_t>({2, -1})})), "int64 [2,2] 1 2 3 4");
  EXPECT_EQ(Show(b_.Op("Reshape", {Vec<std::int64_t>({5}), Vec<std::int32_t>({})})), "int64 [] 5");
  EXPECT_EQ(Show(b_.Op("Reshape", {v, Vec<std::int32_t>({3})})),
            "INVALID_ARGUMENT: Input to reshape is a tensor with 4 values, but the requested shape has 3");
  EXPECT_EQ(
      Show(b_.Op("Reshape", {v, Vec<std::int32_t>({3, -1})})),
      "INVALID_ARGUMENT: Input to reshape is a tensor with 4 values, but the requested shape requires a multiple of "
      "3");
  EXPECT_THAT(Show(b_.Op("Reshape", {v, Vec<std::int32_t>({-1, -1})})), HasSubstr("Only one input size may be -1"));
}

// TensorFlow 2.21's.
TEST_F(ArrayOpsTest, ReshapeInfersASizeBesideZeros) {
  const auto reshaped = [this](std::vector<std::int64_t> dims, std::vector<std::int32_t> sizes) {
    return Show(b_.Op("Reshape", {Value(Tensor(DType::kFloat, Shape(std::move(dims)))), Vec(std::move(sizes))}));
  };
  EXPECT_EQ(reshaped({0, 3}, {0, -1}), "float [0,3]");
  EXPECT_EQ(reshaped({2, 0, 3}, {-1, 0}), "float [6,0]");
  EXPECT_EQ(reshaped({0, 3}, {0, 2, -1}), "float [0,2,1]");
  EXPECT_EQ(reshaped({0, 4}, {2, -1, 0}), "float [2,2,0]");
  EXPECT_EQ(reshaped({0, 3}, {3, -1}), "float [3,0]");
  EXPECT_EQ(reshaped({0, 4}, {0, 3}), "float [0,3]");
  EXPECT_EQ(reshaped({2, 3}, {0, -1}),
            "INVALID_ARGUMENT: Input to reshape is a tensor with 6 values, but the requested shape has 0");
  EXPECT_EQ(Show(b_.Op("Reshape", {Vec<float>({1, 2, 3, 4}), Matrix<std::int32_t>(1, {2, 2})})),
            "INVALID_ARGUMENT: sizes input must be 1-D, not [1,2]");
  EXPECT_EQ(Show(b_.Op("Reshape", {Vec<float>({1, 2}), Scalar<std::int32_t>(2)})), "float [2] 1 2");
}

// TensorFlow 2.21's: there is no row that could be missed.
TEST_F(ArrayOpsTest, OfRowsWithoutElementsAnyNumberWillDo) {
  const auto zeros = [this](std::vector<std::int64_t> dims) {
    return Value(Tensor(DType::kFloat, Shape(std::move(dims))));
  };
  const Output five = Vec<std::int32_t>({5});
  const auto gather = [&](Output params, std::int32_t axis) {
    return Show(b_.Op("GatherV2", {params, five, Scalar(axis)}));
  };
  EXPECT_EQ(gather(zeros({2, 0}), 0), "float [1,0]");
  EXPECT_EQ(gather(zeros({0, 0}), 0), "float [1,0]");
  EXPECT_EQ(gather(zeros({0, 3}), 1), "float [0,1]");
  EXPECT_EQ(gather(zeros({0, 3}), 0), "INVALID_ARGUMENT: indices[0] = 5 is not in [0, 0)");
  EXPECT_EQ(Show(b_.Op("Gather", {zeros({2, 0}), five})), "float [1,0]");
  EXPECT_EQ(Show(b_.Op("UnsortedSegmentSum", {zeros({2, 0}), Vec<std::int32_t>({5, 0}), Scalar<std::int32_t>(2)})),
            "float [2,0]");
}

// TensorFlow 2.21's.
TEST_F(ArrayOpsTest, ShapesAndAxesOfTheWrongRankAreRefused) {
  const Output two = Scalar<std::int32_t>(2);
  EXPECT_EQ(Show(b_.Op("RandomUniform", {two}, {.attrs = {{"dtype", DType::kFloat}}})),
            "INVALID_ARGUMENT: shape must be a vector of {int32,int64}, got shape []");
  EXPECT_EQ(Show(b_.Op("BroadcastTo", {Scalar<float>(1), two})),
            "INVALID_ARGUMENT: shape must be a vector of {int32,int64}, got shape []");
  const Output one = Vec<float>({1});
  EXPECT_EQ(Show(b_.Op("ConcatV2", {one, one, Matrix<std::int32_t>(1, {0})})),
            "INVALID_ARGUMENT: axis tensor should be a scalar integer, but got shape [1,1]");
  EXPECT_EQ(Show(b_.Op("ConcatV2", {one, one, Vec<std::int32_t>({0})})), "float [2] 1 1");
}

// TensorFlow 2.21's.
TEST_F(ArrayOpsTest, StringsAreJoinedElementByElement) {
  const auto join = [this](std::vector<Output> inputs) {
    return Show(b_.Op("StringJoin", std::move(inputs), {.attrs = {{"separator", std::string("/")}}}));
  };
  const Output a = Scalar<std::string>("a");
  const Output one = Vec<std::string>({"b"});
  const Output two = Vec<std::string>({"c", "d"});
  EXPECT_EQ(join({a, a}), "string [] a/a");
  EXPECT_EQ(join({one, one}), "string [1] b/b");
  EXPECT_EQ(join({a, one}), "string [1] a/b");
  EXPECT_EQ(join({two, a, two}), "string [2] c/a/c d/a/d");
  EXPECT_EQ(join({Matrix<std::string>(1, {"x"}), Matrix<std::string>(1, {"y"})}), "string [1,1] x/y");
  EXPECT_EQ(join({one, two}), "INVALID_ARGUMENT: Input shapes do not match: [1] vs. [2]");
  EXPECT_EQ(join({Matrix<std::string>(1, {"x"}), one}), "INVALID_ARGUMENT: Input shapes do not match: [1,1] vs. [1]");
}

// TensorFlow 2.21's; it counts and multiplies in the type of the range.
TEST_F(ArrayOpsTest, RangesOfFloats) {
  const auto range = [this]<typename T>(T start, T limit, T delta) {
    const Output out = b_.Op("Range", {Scalar(start), Scalar(limit), Scalar(delta)});
    values_are_known_ = true;
    const PartialShape known = graph_.ShapeOf(b_.Op("Range", {Scalar(start), Scalar(limit), Scalar(delta)}));
    values_are_known_ = false;
    const Tensor value = *Get(out);
    EXPECT_EQ(known.ToString(), value.shape().ToString()) << start << " " << limit << " " << delta;
    const auto flat = value.flat<T>();
    return std::vector<T>(flat.begin(), flat.end());
  };
  EXPECT_EQ(range(0.F, 0.6F, 0.2F), (std::vector<float>{0, 0.20000000298023224F, 0.4000000059604645F}));
  EXPECT_EQ(range(0.F, 0.3F, 0.1F), (std::vector<float>{0, 0.10000000149011612F, 0.20000000298023224F}));
  EXPECT_EQ(
      range(0.F, 1.1F, 0.1F),
      (std::vector<float>{0, 0.10000000149011612F, 0.20000000298023224F, 0.30000001192092896F, 0.4000000059604645F,
                          0.5F, 0.6000000238418579F, 0.699999988079071F, 0.800000011920929F, 0.9000000357627869F, 1}));
  EXPECT_EQ(range(0.F, 1.2F, 0.4F), (std::vector<float>{0, 0.4000000059604645F, 0.800000011920929F}));
  EXPECT_EQ(
      range(1.F, 0.F, -0.1F),
      (std::vector<float>{1, 0.8999999761581421F, 0.800000011920929F, 0.699999988079071F, 0.6000000238418579F, 0.5F,
                          0.3999999761581421F, 0.30000001192092896F, 0.19999998807907104F, 0.09999996423721313F}));
  EXPECT_EQ(range(0., 1.1, 0.1), (std::vector<double>{0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.5, 0.6000000000000001,
                                                      0.7000000000000001, 0.8, 0.9, 1}));
}

TEST_F(ArrayOpsTest, ShapeFillRange) {
  EXPECT_EQ(Show(b_.Op("Shape", {Matrix<float>(2, {1, 2, 3, 4, 5, 6})})), "int32 [2] 2 3");
  EXPECT_EQ(Show(b_.Op("Shape", {Scalar<float>(1)}, {.attrs = {{"out_type", DType::kInt64}}})), "int64 [0]");
  const Output two = b_.Op("ShapeN", {Scalar<float>(1), Matrix<float>(2, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(Show(two), "int32 [0]");
  EXPECT_EQ(Show({two.node, 1}), "int32 [2] 2 3");
  EXPECT_EQ(Show(b_.Op("Fill", {Vec<std::int32_t>({2, 2}), Scalar<float>(7)})), "float [2,2] 7 7 7 7");
  const auto range = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
    return Show(b_.Op("Range", {Scalar(a), Scalar(b), Scalar(c)}));
  };
  EXPECT_EQ(range(0, 5, 2), "int64 [3] 0 2 4");
  EXPECT_EQ(range(3, 0, -1), "int64 [3] 3 2 1");
  EXPECT_EQ(range(0, 0, 1), "int64 [0]");
  EXPECT_EQ(range(0, 1, 0), "INVALID_ARGUMENT: Requires delta != 0: 0");
  EXPECT_THAT(range(1, 0, 1), HasSubstr("Requires start <= limit"));
}

TEST_F(ArrayOpsTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(Show(b_.Op("Fill", {Vec<std::int32_t>({2, -1}), Scalar<float>(0)})),
            "INVALID_ARGUMENT: Dimension -1 must be >= 0");
  EXPECT_EQ(Show(b_.Op("Fill", {Vec<std::int32_t>({2}), Vec<float>({1, 2})})),
            "INVALID_ARGUMENT: value must represent a scalar, got shape [2]");
  EXPECT_EQ(Show(b_.Op("Fill", {Vec<std::int32_t>({2}), Matrix<float>(1, {1})})),
            "INVALID_ARGUMENT: value must represent a scalar, got shape [1,1]");
  EXPECT_EQ(Show(b_.Op("Fill", {Matrix<std::int32_t>(1, {2, 2}), Scalar<float>(1)})),
            "INVALID_ARGUMENT: dims must represent a vector, got shape [1,2]");
  EXPECT_EQ(Show(b_.Op("GatherV2", {Vec<float>({1, 2}), Vec<std::int32_t>({0}), Vec<std::int32_t>({0})})),
            "INVALID_ARGUMENT: axis must be scalar");
  EXPECT_EQ(Show(b_.Op("Range", {Scalar<std::int32_t>(0), Vec<std::int32_t>({1, 2}), Scalar<std::int32_t>(1)})),
            "INVALID_ARGUMENT: limit must be a scalar, not shape [2]");
  EXPECT_EQ(Show(b_.Op("Range", {Matrix<std::int32_t>(1, {0}), Scalar<std::int32_t>(3), Scalar<std::int32_t>(1)})),
            "INVALID_ARGUMENT: start must be a scalar, not shape [1,1]");
  EXPECT_EQ(Show(b_.Op("Range", {Vec<std::int32_t>({0}), Scalar<std::int32_t>(3), Scalar<std::int32_t>(1)})),
            "int32 [3] 0 1 2");
  const Output two = Vec<float>({1, 2});
  const Output three = Vec<float>({1, 2, 3});
  EXPECT_EQ(Show(b_.Op("Select", {Scalar<bool>(true), two, three})),
            "INVALID_ARGUMENT: 'then' and 'else' must have the same size.  but received: [2] vs. [3]");
  EXPECT_EQ(Show(b_.Op("MatMul", {two, Matrix<float>(2, {1, 2})})),
            "INVALID_ARGUMENT: In[0] and In[1] has different ndims: [2] vs. [2,1]");
}

TEST_F(ArrayOpsTest, RefusesTypesWhenTheGraphIsBuilt) {
  const auto refused = [](const std::string& op, std::vector<Output> (*inputs)(Builder&), Attrs attrs = {}) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    b.Op(op, inputs(b), {.attrs = std::move(attrs)});
    return vigil::Show(b.status());
  };
  const auto mixed = [](Builder& b) -> std::vector<Output> {
    return {b.Const("a", Tensor::Scalar<float>(1)), b.Const("b", Tensor::Scalar<std::int64_t>(1))};
  };
  EXPECT_EQ(refused("Pack", mixed),
            "USAGE: Input 1 of 'Pack' Op has type int64 that does not match type float of input 0.");
  EXPECT_EQ(refused("ConcatV2", mixed), "USAGE: 'ConcatV2' Op needs at least two values and the axis.");
  EXPECT_EQ(refused("Shape", [](Builder& b) -> std::vector<Output> { return {b.Const("a", Tensor::Scalar<float>(1))}; },
                    {{"out_type", DType::kFloat}}),
            "USAGE: 'Shape' Op gives int32 or int64, not float.");
  EXPECT_EQ(refused("Assign",
                    [](Builder& b) -> std::vector<Output> {
                      const Output value = b.Const("a", Tensor::Scalar<float>(1));
                      return {ops::MakeVariable(b, "v", value).ref, b.Const("b", Tensor::Scalar<std::int64_t>(1))};
                    }),
            "USAGE: 'Assign' Op needs a value of the variable's type float, not int64.");
}

TEST_F(ArrayOpsTest, DoublesAreNumbersToo) {
  EXPECT_EQ(Show(b_.Op("MatMul", {Matrix<double>(1, {2, 3}), Matrix<double>(2, {4, 5})})), "double [1,1] 23");
  EXPECT_EQ(Show(b_.Op("AddV2", {Scalar<double>(0.5), Scalar<double>(0.25)})), "double [] 0.75");
}

// Sizes that no tensor can have, from inputs that are small.
constexpr std::int64_t kHuge = std::int64_t{1} << 62;

TEST_F(ArrayOpsTest, ShapesThatOverflowAreRefused) {
  const Output eight = Vec<float>({1, 2, 3, 4, 5, 6, 7, 8});
  const auto reshaped = [&](std::vector<std::int64_t> dims) {
    return Show(b_.Op("Reshape", {eight, Vec<std::int64_t>(std::move(dims))}));
  };
  EXPECT_EQ(reshaped({4, kHuge + 2}),
            "INVALID_ARGUMENT: The shape [4,4611686018427387906] has too many elements to count.");
  EXPECT_EQ(reshaped({-1, kHuge, 4}),
            "INVALID_ARGUMENT: The shape [-1,4611686018427387904,4] has too many elements to count.");
  const auto filled = [&](std::vector<std::int64_t> dims) {
    return Show(b_.Op("Fill", {Vec<std::int64_t>(std::move(dims)), Scalar<float>(1)}));
  };
  EXPECT_EQ(filled({kHuge, 4}), "INVALID_ARGUMENT: The shape [4611686018427387904,4] has too many elements to count.");
  EXPECT_THAT(filled({std::int64_t{1} << 31, std::int64_t{1} << 31, 2}), HasSubstr("too many elements to count"));
  EXPECT_THAT(filled({std::int64_t{1} << 40}),
              HasSubstr("RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[1099511627776]"));
  const Output wide = b_.Const("wide", Tensor(DType::kFloat, Shape({std::int64_t{1} << 62, 0})));
  const Output axis = Scalar<std::int32_t>(0);
  EXPECT_EQ(Show(b_.Op("ConcatV2", {wide, wide, axis})),
            "INVALID_ARGUMENT: ConcatOp : the inputs are too long together along axis 0");
  EXPECT_THAT(Show(b_.Op("Pack", {wide, wide})), HasSubstr("too many elements to count"));
  EXPECT_EQ(Show(b_.Op("Shape", {wide})),
            "INVALID_ARGUMENT: Shape output type is 32-bit but a dimension of [4611686018427387904,0] is "
            "4611686018427387904");
}

TEST_F(ArrayOpsTest, RangesThatDoNotEndAreRefused) {
  const auto range = [this](Output start, Output limit, Output delta) {
    return Show(b_.Op("Range", {start, limit, delta}));
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(range(Scalar<float>(0), Scalar<float>(nan), Scalar<float>(1)),
            "INVALID_ARGUMENT: start, limit and delta must be finite: 0, nan, 1");
  EXPECT_EQ(range(Scalar<float>(0), Scalar<float>(inf), Scalar<float>(1)),
            "INVALID_ARGUMENT: start, limit and delta must be finite: 0, inf, 1");
  EXPECT_EQ(range(Scalar<double>(0), Scalar<double>(1e300), Scalar<double>(1)),
            "INVALID_ARGUMENT: Requires ((limit - start) / delta) <= 9223372036854775807");
  EXPECT_EQ(range(Scalar<float>(-3e38F), Scalar<float>(3e38F), Scalar<float>(1e38F)),
            "INVALID_ARGUMENT: Requires ((limit - start) / delta) <= 9223372036854775807");
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(range(Scalar<std::int64_t>(kLeast), Scalar<std::int64_t>(kMost), Scalar<std::int64_t>(1)),
              HasSubstr("RESOURCE_EXHAUSTED: OOM"));
  EXPECT_EQ(range(Scalar<std::int64_t>(kMost - 2), Scalar<std::int64_t>(kMost), Scalar<std::int64_t>(3)),
            "int64 [1] 9223372036854775805");
  EXPECT_EQ(range(Scalar<std::int64_t>(kMost), Scalar<std::int64_t>(kLeast), Scalar<std::int64_t>(kLeast)),
            "int64 [2] 9223372036854775807 -1");
}

TEST_F(ArrayOpsTest, FillIsForEveryType) {
  const Output two = Vec<std::int32_t>({2});
  EXPECT_EQ(Show(b_.Op("Fill", {two, Scalar<bool>(true)})), "bool [2] true true");
  EXPECT_EQ(Show(b_.Op("Fill", {two, Scalar<std::string>("x")})), "string [2] x x");
  EXPECT_EQ(Show(b_.Op("Fill", {two, Scalar<double>(0.5)})), "double [2] 0.5 0.5");
}

TEST_F(ArrayOpsTest, WhatWasTakenGoesBackToItsPlace) {
  const auto back = [this](Output shape, Output grad) {
    return Show(b_.Op("StridedSliceGrad",
                      {shape, Vec<std::int32_t>({2}), Vec<std::int32_t>({0}), Vec<std::int32_t>({-2}), grad},
                      {.attrs = {{"end_mask", std::int64_t{1}}}}));
  };
  EXPECT_EQ(back(Vec<std::int32_t>({4, 1}), Matrix<float>(2, {1, 2})), "float [4,1] 2 0 1 0");
  EXPECT_EQ(back(Vec<std::int32_t>({4, 1}), Matrix<float>(1, {1})),
            "INVALID_ARGUMENT: shape of dy was [1,1] instead of [2,1]");
  EXPECT_EQ(back(Scalar<std::int32_t>(4), Vec<float>({1, 2})),
            "INVALID_ARGUMENT: shape must be 1-D, got shape.shape = []");
}

}  // namespace
}  // namespace vigil
