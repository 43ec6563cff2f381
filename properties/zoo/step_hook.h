// What most animals are made of: a hook that fetches a tensor and looks at it after each run.
#ifndef VIGIL_PROPERTIES_ZOO_STEP_HOOK_H_
#define VIGIL_PROPERTIES_ZOO_STEP_HOOK_H_

#include <cstdint>

#include "vigil/core/train/session_run_hook.h"

namespace vigil {

// The step at which they stop.
inline constexpr std::int64_t kZooLastStep = 4;

class FetchingHook : public SessionRunHook {
 public:
  explicit FetchingHook(Output tensor) : tensor_(tensor) {}
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = tensor_;
    return absl::OkStatus();
  }

 private:
  const Fetches tensor_;
};

// Of an int64: the global step after the run.
class StepHook : public FetchingHook {
 public:
  using FetchingHook::FetchingHook;
  absl::Status AfterRun(RunContext& context, const RunValues& values) final {
    return AfterStep(context, values.results.scalar<std::int64_t>());
  }

 protected:
  virtual absl::Status AfterStep(RunContext& context, std::int64_t step) = 0;
};

class StopsAtStep : public StepHook {
 public:
  using StepHook::StepHook;

 protected:
  absl::Status AfterStep(RunContext& context, std::int64_t step) override {
    if (step >= kZooLastStep) context.RequestStop();
    return absl::OkStatus();
  }
};

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_ZOO_STEP_HOOK_H_
