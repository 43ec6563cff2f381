// Stops the training once the loss is as small as was asked for.
#pragma once
#include <vigil/core/train/session_run_hook.h>

class TargetLoss : public vigil::SessionRunHook {
 public:
  TargetLoss(const vigil::Env& env, vigil::Output loss, float target) : env_(env), loss_(loss), target_(target) {}

  // Wants the loss of every run, beside what the caller fetches.
  absl::Status BeforeRun(vigil::RunContext&, vigil::RunArgs& args) override {
    args.fetches = loss_;
    return absl::OkStatus();
  }

  absl::Status AfterRun(vigil::RunContext& context, const vigil::RunValues& values) override {
    if (values.results.scalar<float>() > target_ || reached_) return absl::OkStatus();
    reached_ = true;
    env_.log->Write(vigil::Severity::kInfo, "The loss is small enough.");
    context.RequestStop();
    return absl::OkStatus();
  }

 private:
  const vigil::Env env_;
  const vigil::Fetches loss_;
  const float target_;
  bool reached_ = false;
};
