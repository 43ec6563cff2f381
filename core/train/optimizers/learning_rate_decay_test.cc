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

}  // namespace
}  // namespace vigil
