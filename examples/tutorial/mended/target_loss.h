// Stops the training once the loss is as small as was asked for.
#pragma once
#include <vigil/core/train/session_run_hook.h>

class TargetLoss : public vigil::SessionRunHook {
 public:
  TargetLoss(const vigil::Env& env, vigil::Output loss, float target) : env_(env), loss_(loss), target_(target) {}

  // docs: begin begin
  absl::Status Begin(vigil::BeginContext&) override {
    reached_ = false;
    return absl::OkStatus();
  }
  // docs: begin end

  // Wants the loss of every run, beside what the caller fetches.
  absl::Status BeforeRun(vigil::RunContext&, vigil::RunArgs& args) override {
    args.fetches = loss_;
    return absl::OkStatus();
  }

  // docs: after_run begin
  absl::Status AfterRun(vigil::RunContext& context, const vigil::RunValues& values) override {
    if (values.results.scalar<float>() > target_) return absl::OkStatus();
    context.RequestStop();
    if (!reached_) env_.log->Write(vigil::Severity::kInfo, "The loss is small enough.");
    reached_ = true;
    return absl::OkStatus();
  }
  // docs: after_run end

 private:
  const vigil::Env env_;
  const vigil::Fetches loss_;
  const float target_;
  bool reached_ = false;
};
