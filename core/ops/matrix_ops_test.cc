#include <gmock/gmock.h>

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

}  // namespace
}  // namespace vigil
