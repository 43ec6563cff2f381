// Tests of a hook of one's own: driven through every fault that a session can meet, and with mocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vigil/fakes/mocks/mocks.h>
#include <vigil/properties/verify/verify_hook.h>

#include <limits>
#include <memory>

namespace {

// Stops the training when the loss has not improved for three steps.
class EarlyStopping : public vigil::SessionRunHook {
 public:
  EarlyStopping(vigil::Output step, vigil::Output loss) : fetches_(vigil::Fetches::List({step, loss})) {}
  absl::Status Begin(vigil::BeginContext&) override {
    best_ = std::numeric_limits<float>::infinity();
    return absl::OkStatus();
  }
  absl::Status BeforeRun(vigil::RunContext&, vigil::RunArgs& args) override {
    args.fetches = fetches_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(vigil::RunContext& context, const vigil::RunValues& values) override {
    const auto step = values.results[0].scalar<std::int64_t>();
    const float loss = values.results[1].scalar<float>();
    if (loss < best_) {
      best_ = loss;
      best_step_ = step;
    } else if (step >= best_step_ + 3) {
      context.RequestStop();
    }
    return absl::OkStatus();
  }

 private:
  const vigil::Fetches fetches_;
  float best_ = 0;
  std::int64_t best_step_ = 0;
};

// docs: verify begin
VIGIL_VERIFY_HOOK(EarlyStopping,
                  [](vigil::HookWorld& w) { return std::make_unique<EarlyStopping>(w.train_op(), w.loss()); });
// docs: verify end

// docs: leave begin
VIGIL_VERIFY_HOOK(
    EarlyStoppingLooksOnly, [](vigil::HookWorld& w) { return std::make_unique<EarlyStopping>(w.train_op(), w.loss()); },
    vigil::VerifyOptions{.may_request_stop = true, .scenarios = 1000});
// docs: leave end

TEST(EarlyStopping, CanBeMocked) {
  vigil::fakes::MockHook hook;
  EXPECT_CALL(hook, End);
  EXPECT_TRUE(hook.End(nullptr).ok());
}

}  // namespace
