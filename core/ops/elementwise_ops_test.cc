#include <cstdint>
#include <limits>

#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using ElementwiseOpsTest = OpsTest<fakes::FakeEnv>;

TEST_F(ElementwiseOpsTest, ArithmeticOfNumbers) {
  const Output a = Scalar<std::int64_t>(7);
  const Output b = Scalar<std::int64_t>(2);
  EXPECT_EQ(Show(b_.Op("AddV2", {a, b})), "int64 [] 9");
  EXPECT_EQ(Show(b_.Op("Sub", {a, b})), "int64 [] 5");
  EXPECT_EQ(Show(b_.Op("Mul", {a, b})), "int64 [] 14");
  EXPECT_EQ(Show(b_.Op("Neg", {a})), "int64 [] -7");
  EXPECT_EQ(Show(b_.Op("Square", {a})), "int64 [] 49");
  EXPECT_EQ(Show(b_.Op("Abs", {a})), "int64 [] 7");
  EXPECT_EQ(Show(b_.Op("Abs", {b_.Op("Neg", {a})})), "int64 [] 7");
  EXPECT_EQ(Show(b_.Op("RealDiv", {Scalar<float>(7), Scalar<float>(2)})), "float [] 3.5");
  EXPECT_EQ(Show(b_.Op("RealDiv", {a, b})), "UNIMPLEMENTED: 'RealDiv' Op has no kernel for int64");
}

TEST_F(ElementwiseOpsTest, ArithmeticOfArrays) {
  const Output a = Vec<float>({1, 2, 3});
  EXPECT_EQ(Show(b_.Op("AddV2", {a, Vec<float>({10, 20, 30})})), "float [3] 11 22 33");
  EXPECT_EQ(Show(b_.Op("Mul", {Vec<std::int32_t>({1, 2}), Vec<std::int32_t>({3, 4})})), "int32 [2] 3 8");
  EXPECT_EQ(Show(b_.Op("Square", {a})), "float [3] 1 4 9");
  EXPECT_EQ(Show(b_.Op("Abs", {Vec<float>({-1.5F, -0.0F, 2})})), "float [3] 1.5 0 2");
}

TEST_F(ElementwiseOpsTest, ShapesBroadcastFromTheRight) {
  const Output m = Matrix<float>(2, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Show(b_.Op("Sub", {m, Scalar<float>(1)})), "float [2,3] 0 1 2 3 4 5");
  EXPECT_EQ(Show(b_.Op("AddV2", {m, Vec<float>({10, 20, 30})})), "float [2,3] 11 22 33 14 25 36");
  EXPECT_EQ(Show(b_.Op("AddV2", {Matrix<float>(2, {10, 20}), m})), "float [2,3] 11 12 13 24 25 26");
  EXPECT_EQ(Show(b_.Op("Mul", {Matrix<float>(2, {1, 2}), Vec<float>({3, 4})})), "float [2,2] 3 4 6 8");
  EXPECT_EQ(Show(b_.Op("AddV2", {m, Vec<float>({1, 2})})), "INVALID_ARGUMENT: Incompatible shapes: [2,3] vs. [2]");
}

TEST_F(ElementwiseOpsTest, IntegersWrapAround) {
  const Output big = Scalar<std::int64_t>(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Show(b_.Op("AddV2", {big, Scalar<std::int64_t>(1)})), "int64 [] -9223372036854775808");
  EXPECT_EQ(Show(b_.Op("Mul", {big, Scalar<std::int64_t>(2)})), "int64 [] -2");
}

TEST_F(ElementwiseOpsTest, TypesMustMatch) {
  EXPECT_EQ(Show(b_.Op("AddV2", {Scalar<float>(1), Scalar<std::int64_t>(1)})),
            "USAGE: Input 1 of 'AddV2' Op has type int64 that does not match type float of input 0.");
}

TEST_F(ElementwiseOpsTest, Comparisons) {
  const Output a = Vec<std::int64_t>({1, 2, 3});
  const Output two = Scalar<std::int64_t>(2);
  EXPECT_EQ(Show(b_.Op("Less", {a, two})), "bool [3] true false false");
  EXPECT_EQ(Show(b_.Op("LessEqual", {a, two})), "bool [3] true true false");
  EXPECT_EQ(Show(b_.Op("Greater", {a, two})), "bool [3] false false true");
  EXPECT_EQ(Show(b_.Op("GreaterEqual", {a, two})), "bool [3] false true true");
  EXPECT_EQ(Show(b_.Op("Equal", {a, two})), "bool [3] false true false");
}

TEST_F(ElementwiseOpsTest, NothingComparesWithNan) {
  const Output nan = Scalar<float>(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(Show(b_.Op("Equal", {nan, nan})), "bool [] false");
  EXPECT_EQ(Show(b_.Op("GreaterEqual", {nan, Scalar<float>(0)})), "bool [] false");
  EXPECT_EQ(Show(b_.Op("Less", {nan, Scalar<float>(0)})), "bool [] false");
}

TEST_F(ElementwiseOpsTest, LogicalNot) {
  EXPECT_EQ(Show(b_.Op("LogicalNot", {Vec<bool>({true, false})})), "bool [2] false true");
  EXPECT_EQ(Show(b_.Op("LogicalNot", {Scalar<float>(1)})),
            "USAGE: Input 0 of 'LogicalNot' Op has type float, not bool.");
}

TEST_F(ElementwiseOpsTest, NumbersThatAnIntegerCannotHoldBecomeTheLeast) {
  const auto cast = [this](double value, DType to) {
    return Show(b_.Op("Cast", {Scalar<double>(value)}, {.attrs = {{"DstT", to}}}));
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {nan, 1e300, -1e300, 2147483648.0})
    EXPECT_EQ(cast(value, DType::kInt32), "int32 [] -2147483648");
  for (const double value : {nan, 1e300, 9223372036854775808.0}) {
    EXPECT_EQ(cast(value, DType::kInt64), "int64 [] -9223372036854775808");
  }
  EXPECT_EQ(cast(2147483647.5, DType::kInt32), "int32 [] 2147483647");
  EXPECT_EQ(cast(nan, DType::kBool), "bool [] true");
}

TEST_F(ElementwiseOpsTest, Cast) {
  const auto cast = [this](Output value, DType to) { return Show(b_.Op("Cast", {value}, {.attrs = {{"DstT", to}}})); };
  EXPECT_EQ(cast(Vec<float>({1.9F, -1.9F}), DType::kInt32), "int32 [2] 1 -1");
  EXPECT_EQ(cast(Vec<bool>({true, false}), DType::kFloat), "float [2] 1 0");
  EXPECT_EQ(cast(Scalar<std::int64_t>(3), DType::kBool), "bool [] true");
  EXPECT_EQ(cast(Scalar<std::int64_t>(3), DType::kString), "UNIMPLEMENTED: 'Cast' Op has no kernel for int64");
}

TEST_F(ElementwiseOpsTest, Select) {
  const Output a = Vec<float>({1, 2});
  const Output b = Vec<float>({3, 4});
  EXPECT_EQ(Show(b_.Op("SelectV2", {Scalar<bool>(false), a, b})), "float [2] 3 4");
  EXPECT_EQ(Show(b_.Op("Select", {Vec<bool>({false, true}), a, b})), "float [2] 3 2");
  EXPECT_EQ(Show(a), "float [2] 1 2");  // the inputs are as they were
  EXPECT_EQ(
      Show(b_.Op("Select", {Vec<bool>({true}), a, b})),
      "INVALID_ARGUMENT: Inputs to operation Select_1 of type Select must have the same size and shape.  Input 0: "
      "[1] != input 1: [2]");
}

// TensorFlow 2.21's.
TEST_F(ElementwiseOpsTest, ShapesThatNeedNotGoTogetherAreUnequal) {
  const auto compare = [this](const char* op, Output a, Output b) {
    return Show(b_.Op(op, {a, b}, {.attrs = {{"incompatible_shape_error", false}}}));
  };
  const Output two = Vec<float>({1, 2});
  EXPECT_EQ(compare("Equal", two, Vec<float>({1, 2, 3})), "bool [] false");
  EXPECT_EQ(compare("NotEqual", two, Vec<float>({1, 2, 3})), "bool [] true");
  EXPECT_EQ(compare("Equal", two, Vec<float>({1})), "bool [2] true false");
  const auto known = [this](std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
    const auto of = [this](std::vector<std::int64_t> dims) {
      return b_.Op("Placeholder", {}, {.attrs = {{"dtype", DType::kFloat}, {"shape", Shape(std::move(dims))}}});
    };
    const Output out =
        b_.Op("Equal", {of(std::move(a)), of(std::move(b))}, {.attrs = {{"incompatible_shape_error", false}}});
    return graph_.ShapeOf(out).ToString();
  };
  EXPECT_EQ(known({2}, {3}), "[]");
  EXPECT_EQ(known({3}, {3}), "[3]");
  EXPECT_EQ(known({2, 1}, {3}), "[2,3]");
  EXPECT_EQ(known({-1}, {3}), "?");
}

}  // namespace
}  // namespace vigil
