// The values and words below are what TensorFlow 2.21 gave for the same inputs.
#include <gmock/gmock.h>

#include "vigil/core/graph/graph_def.h"
#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::HasSubstr;

class TrainingOpsTest : public OpsTest<fakes::FakeEnv> {
 protected:
  Output Descend(Output alpha, Output delta) { return b_.Op("ApplyGradientDescent", {w_.ref, alpha, delta}); }
  const ops::Variable w_ = ops::MakeVariable(b_, "w", Vec<float>({1, 2}));
};

TEST_F(TrainingOpsTest, ApplyGradientDescentSubtractsAlphaTimesDelta) {
  const Output step = Descend(Scalar<float>(0.5F), Vec<float>({1, 1}));
  EXPECT_EQ(Show(step), "FAILED_PRECONDITION: Attempting to use uninitialized value w");
  ASSERT_EQ(vigil::Show(Run(w_.initializer)), "OK");
  EXPECT_EQ(Show(step), "float [2] 0.5 1.5");
  EXPECT_EQ(Show(w_.read), "float [2] 0.5 1.5");
}

TEST_F(TrainingOpsTest, ApplyGradientDescentRefusesOtherShapes) {
  ASSERT_EQ(vigil::Show(Run(w_.initializer)), "OK");
  const Output half = Scalar<float>(0.5F);
  EXPECT_EQ(Show(Descend(half, Vec<float>({1}))), "INVALID_ARGUMENT: var and delta do not have the same shape[2] [1]");
  EXPECT_EQ(Show(Descend(half, Scalar<float>(1))), "INVALID_ARGUMENT: var and delta do not have the same shape[2] []");
  EXPECT_EQ(Show(Descend(Vec<float>({0.5F}), Vec<float>({1, 1}))), "INVALID_ARGUMENT: alpha is not a scalar: [1]");
  EXPECT_EQ(Show(w_.read), "float [2] 1 2");
}

TEST_F(TrainingOpsTest, ApplyGradientDescentRefusesOtherTypes) {
  EXPECT_THAT(
      Show(Descend(Scalar<float>(0.5F), Vec<std::int32_t>({1, 2}))),
      HasSubstr("USAGE: Input 'delta' of 'ApplyGradientDescent' Op has type int32 that does not match type float "
                "of argument 'var'."));
}

TEST_F(TrainingOpsTest, ApplyGradientDescentKnowsDouble) {
  const ops::Variable v = ops::MakeVariable(b_, "v", Scalar<double>(1));
  ASSERT_EQ(vigil::Show(Run(v.initializer)), "OK");
  EXPECT_EQ(Show(b_.Op("ApplyGradientDescent", {v.ref, Scalar<double>(0.25), Scalar<double>(2)})), "double [] 0.5");
}

}  // namespace
}  // namespace vigil
