// What a hook of one's own costs each run.
#include <vigil/fakes/allocations/allocations.h>
#include <vigil/properties/overhead/bench_hook.h>

#include <memory>
#include <vector>

namespace {

// Keeps the losses of the last runs.
class KeepsLosses : public vigil::SessionRunHook {
 public:
  explicit KeepsLosses(vigil::Output loss) : loss_(loss) {}
  absl::Status BeforeRun(vigil::RunContext&, vigil::RunArgs& args) override {
    args.fetches = loss_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(vigil::RunContext&, const vigil::RunValues& values) override {
    losses_.push_back(values.results.scalar<float>());
    if (losses_.size() > 1000) losses_.erase(losses_.begin());
    return absl::OkStatus();
  }

 private:
  const vigil::Fetches loss_;
  std::vector<float> losses_;
};

}  // namespace

// docs: bench begin
VIGIL_BENCH_HOOK(KeepsLosses, [](vigil::HookWorld& w) { return std::make_unique<KeepsLosses>(w.loss()); });
VIGIL_BENCH_HOOKS_MAIN(&vigil::fakes::Allocations);
// docs: bench end
