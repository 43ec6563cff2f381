#include "vigil/core/train/hooks/nan_tensor_hook.h"

#include <cmath>
#include <limits>

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/testing.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class NanTensorHookTest : public HookTest {
 protected:
  // One run with that as the loss.
  absl::Status RunWithLoss(Tensor loss, bool fail) {
    const Output output = b().Const("", std::move(loss));
    Start(*NanTensorHook::Create(env(), {.loss_tensor = output, .fail_on_nan_loss = fail}));
    return Run();
  }
};

TEST_F(NanTensorHookTest, FailsOnNan) {
  for (const Tensor& nan : {Tensor::Scalar<float>(std::nanf("")), Tensor::Scalar<double>(-std::nan("")),
                            Tensor::Vector<float>({std::nanf("")})}) {
    const absl::Status status = RunWithLoss(nan, true);
    EXPECT_EQ(CodeOf(status), Code::kNanLoss);
    EXPECT_EQ(MessageOf(status), "NaN loss during training.");
    EXPECT_THAT(TakeLog(Severity::kError), ElementsAre("Model diverged with loss = NaN."));
    EXPECT_FALSE(should_stop());
  }
}

TEST_F(NanTensorHookTest, StopsSoftly) {
  EXPECT_TRUE(RunWithLoss(Tensor::Scalar<float>(std::nanf("")), false).ok());
  EXPECT_TRUE(should_stop());
  EXPECT_THAT(TakeLog(Severity::kWarning), ElementsAre("Model diverged with loss = NaN."));
}

TEST_F(NanTensorHookTest, TellsWhetherItFails) {
  EXPECT_TRUE(RunWithLoss(Tensor::Scalar<float>(0.5F), true).ok());
  EXPECT_THAT(Details(HookDetail::kWatchesForNan), ElementsAre(1));
  EXPECT_TRUE(RunWithLoss(Tensor::Scalar<float>(0.5F), false).ok());
  EXPECT_THAT(Details(HookDetail::kWatchesForNan), ElementsAre(1, 0));
}

TEST_F(NanTensorHookTest, OtherLossesPass) {
  for (const Tensor& fine : {Tensor::Scalar<float>(0.5F), Tensor::Scalar<std::int64_t>(3),
                             Tensor::Scalar<float>(std::numeric_limits<float>::infinity())}) {
    EXPECT_TRUE(RunWithLoss(fine, true).ok());
    EXPECT_FALSE(should_stop());
    EXPECT_THAT(TakeLog(Severity::kError), IsEmpty());
  }
}

TEST_F(NanTensorHookTest, MarksTheCoordinatorBeforeAnyAfterRun) {
  for (const bool fail : {false, true}) {
    RunWithLoss(Tensor::Scalar<float>(0.5F), fail).IgnoreError();
    EXPECT_FALSE(coord_->diverged());
    RunWithLoss(Tensor::Scalar<float>(std::nanf("")), fail).IgnoreError();
    EXPECT_TRUE(coord_->diverged());
    ASSERT_TRUE(NewSession().ok());
    EXPECT_FALSE(coord_->diverged()) << "a new session has restored something better";
  }
}

TEST_F(NanTensorHookTest, TheLossIsOneNumber) {
  EXPECT_EQ(CodeOf(RunWithLoss(Tensor::Vector<float>({1, 2}), true)), Code::kUsage);
  EXPECT_EQ(CodeOf(RunWithLoss(Tensor::Scalar<std::string>("nan"), true)), Code::kUsage);
}

}  // namespace
}  // namespace vigil
