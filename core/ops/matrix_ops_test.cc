#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::HasSubstr;
using MatrixOpsTest = OpsTest<fakes::FakeEnv>;

TEST_F(MatrixOpsTest, MatMul) {
  const Output a = Matrix<float>(2, {1, 2, 3, 4, 5, 6});
  const Output b = Matrix<float>(3, {1, 0, 0, 1, 1, 1});
  const auto multiply = [this](Output x, bool transpose_x, Output y, bool transpose_y) {
    return Show(b_.Op("MatMul", {x, y}, {.attrs = {{"transpose_a", transpose_x}, {"transpose_b", transpose_y}}}));
  };
  EXPECT_EQ(multiply(a, false, b, false), "float [2,2] 4 5 10 11");
  EXPECT_EQ(multiply(a, true, a, false), "float [3,3] 17 22 27 22 29 36 27 36 45");
  EXPECT_EQ(multiply(a, false, a, true), "float [2,2] 14 32 32 77");
  EXPECT_EQ(multiply(b, true, a, true), "float [2,2] 4 10 5 11");
  EXPECT_EQ(multiply(a, false, a, false), "INVALID_ARGUMENT: Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]");
}

TEST_F(MatrixOpsTest, Reductions) {
  const Output m = Matrix<float>(2, {1, 2, 3, 4, 5, 6});
  const auto reduce = [&](const char* op, std::vector<std::int32_t> axes, bool keep = false) {
    return Show(b_.Op(op, {m, Vec<std::int32_t>(axes)}, {.attrs = {{"keep_dims", keep}}}));
  };
  EXPECT_EQ(reduce("Sum", {0}), "float [3] 5 7 9");
  EXPECT_EQ(reduce("Sum", {1}), "float [2] 6 15");
  EXPECT_EQ(reduce("Sum", {-1}, true), "float [2,1] 6 15");
  EXPECT_EQ(reduce("Sum", {0, 1}), "float [] 21");
  EXPECT_EQ(reduce("Mean", {0, 1}), "float [] 3.5");
  EXPECT_EQ(reduce("Mean", {0}), "float [3] 2.5 3.5 4.5");
  EXPECT_EQ(reduce("Sum", {}), "float [2,3] 1 2 3 4 5 6");
  EXPECT_THAT(reduce("Sum", {2}), HasSubstr("Invalid reduction dimension"));
  EXPECT_EQ(Show(b_.Op("Mean", {Vec<std::int64_t>({1, 2}), Scalar<std::int32_t>(0)})), "int64 [] 1");
}

TEST_F(MatrixOpsTest, OfNoElements) {
  const Output axis = Scalar<std::int32_t>(0);
  for (const DType type : {DType::kInt32, DType::kInt64}) {
    EXPECT_EQ(Show(b_.Op("Mean", {b_.Const("c", Tensor(type, Shape({0}))), axis})),
              fmt::format("{} [] 0", DTypeName(type)));  // TensorFlow's
    EXPECT_EQ(Show(b_.Op("Mean", {b_.Const("c", Tensor(type, Shape({0, 2}))), axis})),
              fmt::format("{} [2] 0 0", DTypeName(type)));
    EXPECT_EQ(Show(b_.Op("Sum", {b_.Const("c", Tensor(type, Shape({0}))), axis})),
              fmt::format("{} [] 0", DTypeName(type)));
    EXPECT_EQ(Show(b_.Op("Mean", {b_.Const("c", Tensor(type, Shape({0, 0}))), axis})),
              fmt::format("{} [0]", DTypeName(type)));
  }
  EXPECT_THAT(Show(b_.Op("Mean", {b_.Const("c", Tensor(DType::kFloat, Shape({0}))), axis})), HasSubstr("nan"));
}

TEST_F(MatrixOpsTest, ResultsThatCannotBeAreRefused) {
  const auto matrix = [this](std::int64_t rows, std::int64_t columns) {
    return b_.Const("c", Tensor(DType::kFloat, Shape({rows, columns})));
  };
  constexpr std::int64_t kLarge = std::int64_t{1} << 32;
  EXPECT_EQ(Show(b_.Op("MatMul", {matrix(kLarge, 0), matrix(0, kLarge)})),
            "INVALID_ARGUMENT: The shape [4294967296,4294967296] has too many elements to count.");
  EXPECT_THAT(Show(b_.Op("MatMul", {matrix(kLarge, 0), matrix(0, 1 << 10)})), HasSubstr("RESOURCE_EXHAUSTED: OOM"));
  EXPECT_EQ(Show(b_.Op("MatMul", {matrix(2, 0), matrix(0, 2)})), "float [2,2] 0 0 0 0");
  EXPECT_THAT(Show(b_.Op("Sum", {matrix(0, std::int64_t{1} << 40), Scalar<std::int32_t>(0)})),
              HasSubstr("RESOURCE_EXHAUSTED: OOM"));
}

TEST_F(MatrixOpsTest, IntegersWrapAround) {
  const Output most = Vec<std::int64_t>({std::numeric_limits<std::int64_t>::max(), 1});
  EXPECT_EQ(Show(b_.Op("Sum", {most, Scalar<std::int32_t>(0)})), "int64 [] -9223372036854775808");
  EXPECT_EQ(Show(b_.Op("Sum", {Matrix<std::int32_t>(2, {2147483647, 0, 1, 0}), Scalar<std::int32_t>(0)})),
            "int32 [2] -2147483648 0");
}

// TensorFlow 2.21's.
TEST_F(MatrixOpsTest, TheMeanOfIntegersIsNoSumThatWrapped) {
  const auto mean = [this](Output values, std::vector<std::int32_t> axes) {
    return Show(b_.Op("Mean", {values, Vec(std::move(axes))}));
  };
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(mean(Vec(std::vector<std::int32_t>(500, 10000000)), {0}), "int32 [] 10000000");
  EXPECT_EQ(mean(Matrix<std::int32_t>(4, {kMost, kMost, kLeast, kLeast, -1, 0, 5, 2}), {1}),
            "int32 [4] 2147483647 -2147483648 0 3");
  EXPECT_EQ(mean(Matrix<std::int32_t>(2, {kMost, kMost, kMost, kLeast}), {0}), "int32 [2] 2147483647 0");
  EXPECT_EQ(mean(Matrix<std::int32_t>(2, {kMost, kMost, kMost, kLeast}), {0, 1}), "int32 [] 1073741823");
  EXPECT_EQ(mean(Matrix<std::int32_t>(3, {-3, -4, -3, 0, 7, 0}), {1}), "int32 [3] -3 -1 3");
}

// What TensorFlow 2.21 gives, or where it is itself far from it the true sum.
TEST_F(MatrixOpsTest, LongSumsOfFloats) {
  const auto filled = [this](std::vector<std::int32_t> dims, float value) {
    return b_.Op("Fill", {Vec(std::move(dims)), Scalar(value)});
  };
  const auto expect_near = [this](Output sums, float wanted) {
    const absl::StatusOr<Tensor> got = Get(sums);
    ASSERT_EQ(vigil::Show(got.status()), "OK");
    for (const float each : got->flat<float>()) EXPECT_NEAR(each, wanted, 1e-5F * wanted);
  };
  const auto axis = [this](std::int32_t at) { return Vec<std::int32_t>({at}); };
  expect_near(b_.Op("Sum", {filled({1, 1000000}, 0.1F), axis(1)}), 100000.2265625F);
  expect_near(b_.Op("Sum", {filled({1000000, 2}, 0.1F), axis(0)}), 100000);  // TensorFlow: 100958
  expect_near(b_.Op("Sum", {filled({1000000}, 0.1F), axis(0)}), 100000.23F);
  expect_near(b_.Op("Mean", {filled({1, 1000000}, 0.1F), axis(1)}), 0.1F);
  expect_near(b_.Op("L2Loss", {filled({1000000}, 0.3F)}), 45000.055F);
  expect_near(b_.Op("BiasAddGrad", {filled({1000000, 2}, 0.1F)}), 100000);  // TensorFlow: 100354
  expect_near(b_.Op("BiasAddGrad", {filled({4, 2, 500, 500}, 0.1F)}, {.attrs = {{"data_format", std::string("NCHW")}}}),
              100000.2265625F);
  expect_near(b_.Op("MatMul", {filled({4, 100000}, 0.1F), filled({100000, 4}, 1)}), 9999.9990234375F);
}

}  // namespace
}  // namespace vigil
