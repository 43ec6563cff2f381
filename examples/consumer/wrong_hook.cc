// A test that fails: the hook forgets nothing. docs/testing_your_code.md shows what it prints.
#include <gtest/gtest.h>
#include <vigil/properties/verify/verify_hook.h>

#include <memory>

namespace {

// docs: wrong begin
// Stops when the loss has not improved for two runs.
class Impatient : public vigil::SessionRunHook {
 public:
  explicit Impatient(vigil::Output loss) : loss_(loss) {}
  absl::Status BeforeRun(vigil::RunContext&, vigil::RunArgs& args) override {
    args.fetches = loss_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(vigil::RunContext& context, const vigil::RunValues& values) override {
    const float loss = values.results.scalar<float>();
    worse_ = loss < best_ ? 0 : worse_ + 1;
    if (loss < best_) best_ = loss;
    if (worse_ == 2) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  const vigil::Fetches loss_;
  float best_ = 1e9F;
  int worse_ = 0;
};

VIGIL_VERIFY_HOOK(Impatient, [](vigil::HookWorld& w) { return std::make_unique<Impatient>(w.loss()); });
// docs: wrong end

}  // namespace
