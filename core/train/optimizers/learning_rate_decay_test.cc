// What the recorded rates (replays/ops) do not tell: steps of other types and kinds.
#include "vigil/core/train/optimizers/learning_rate_decay.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

class LearningRateDecayTest : public testing::Test {
 protected:
  float Value(Output rate) {
    EXPECT_EQ(fakes::Text(b_.status()), "OK");
    const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
    for (const ops::Variable& each : graph_.Collection(ops::kVariables)) {
      EXPECT_EQ(fakes::Text(RunTarget(*session, each.initializer)), "OK");
    }
    const absl::StatusOr<Tensor> value = RunFetch(*session, rate);
    EXPECT_EQ(fakes::Text(value.status()), "OK");
    return value.ok() ? value->scalar<float>() : -1;
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
};

// TensorFlow: 0.1 of each but the last two.
TEST_F(LearningRateDecayTest, AFractionOfAStepIsBeyondTheBoundary) {
  const auto at = [this](Tensor step) {
    return Value(PiecewiseConstant(b_, b_.Const("x", std::move(step)), {30}, {1, 0.1F}));
  };
  EXPECT_EQ(at(Tensor::Scalar<float>(30.5F)), 0.1F);
  EXPECT_EQ(at(Tensor::Scalar<double>(30.000000001)), 0.1F);
  EXPECT_EQ(at(Tensor::Scalar<std::int32_t>(31)), 0.1F);
  EXPECT_EQ(at(Tensor::Scalar<float>(30)), 1);
  EXPECT_EQ(at(Tensor::Scalar<std::int32_t>(30)), 1);
}

// So the last digits are TensorFlow's, too: of step 50000 it makes 1.3887925e-12, not 1.3887944e-12.
TEST_F(LearningRateDecayTest, TheNaturalDecayIsAPower) {
  const Output step = b_.Const("step", Tensor::Scalar<std::int64_t>(50000));
  const Output rate = NaturalExpDecay(b_, step, {.learning_rate = 0.1, .decay_steps = 1000, .decay_rate = 0.5});
  EXPECT_NEAR(Value(rate), 1.3887925e-12, 1e-16);
  const Node& power = graph_.node(*graph_.Find("NaturalExpDecay/Pow"));
  EXPECT_EQ(graph_.NameOf(power.inputs[0]), "NaturalExpDecay/Exp:0");
  EXPECT_EQ(graph_.NameOf(power.inputs[1]), "NaturalExpDecay/RealDiv:0");
}

TEST_F(LearningRateDecayTest, AResourceVariableIsRead) {
  const Output step = ops::MakeResourceVariable(b_, "step", b_.Const("ten", Tensor::Scalar<std::int64_t>(10))).ref;
  const Output x = ops::MakeResourceVariable(b_, "x", b_.Const("more", Tensor::Scalar<float>(10.5F))).ref;
  const Output decayed = ExponentialDecay(b_, step, {.learning_rate = 8, .decay_steps = 10, .decay_rate = 0.5F});
  const Output polynomial = PolynomialDecay(b_, step, {.learning_rate = 8, .decay_steps = 20, .end_learning_rate = 0});
  const Output of_whole = PiecewiseConstant(b_, step, {10}, {1, 2});
  const Output of_fraction = PiecewiseConstant(b_, x, {10}, {1, 2});
  EXPECT_EQ(Value(decayed), 4);
  EXPECT_EQ(Value(polynomial), 4);
  EXPECT_EQ(Value(of_whole), 1);
  EXPECT_EQ(Value(of_fraction), 2);
}

}  // namespace
}  // namespace vigil
