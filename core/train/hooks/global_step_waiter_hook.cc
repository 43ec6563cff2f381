#include "vigil/core/train/hooks/global_step_waiter_hook.h"

#include <fmt/format.h>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/run_events.h"
#include "vigil/core/train/session_manager.h"

namespace vigil {
namespace {

constexpr Duration kPoll = std::chrono::milliseconds(500);
constexpr std::int64_t kStepsBetweenLines = 1000;

}  // namespace

absl::StatusOr<std::shared_ptr<GlobalStepWaiterHook>> GlobalStepWaiterHook::Create(
    const Env& env, GlobalStepWaiterHookOptions options) {
  return std::shared_ptr<GlobalStepWaiterHook>(new GlobalStepWaiterHook(env, options));
}

absl::Status GlobalStepWaiterHook::Begin(BeginContext& context) {
  started_ = false;
  EmitHookDetail(env_.events, HookDetail::kWaitsForStep, static_cast<double>(options_.wait_until_step));
  return step_.Init(context, "_GlobalStepWaiterHook");
}

absl::Status GlobalStepWaiterHook::AfterCreateSession(const std::shared_ptr<Session>&,
                                                      const std::shared_ptr<Coordinator>& coord) {
  coord_ = coord;
  return absl::OkStatus();
}

absl::Status GlobalStepWaiterHook::BeforeRun(RunContext& context, RunArgs&) {
  if (started_) return absl::OkStatus();
  const std::int64_t wanted = options_.wait_until_step;
  if (wanted > 0) {
    env_.log->Write(Severity::kInfo, fmt::format("Waiting for global step {} before starting training.", wanted));
    std::int64_t last_logged = 0;
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(&context.session()));
      if (step >= wanted) break;
      if (SaturatingSubtract(step, last_logged) > kStepsBetweenLines) {
        env_.log->Write(
            Severity::kInfo,
            fmt::format("Waiting for global step {} before starting training. Current step is {}.", wanted, step));
        last_logged = step;
      }
      const bool ends = context.stop_wanted() || (coord_ != nullptr && coord_->ShouldStop());
      if (ends && options_.behaviour.bounded_waits) {
        env_.log->Write(Severity::kInfo,
                        fmt::format("A stop was requested at global step {}: waiting no longer.", step));
        return absl::OkStatus();
      }
      SleepFor(env_, kPoll);
    }
  }
  started_ = true;
  return absl::OkStatus();
}

}  // namespace vigil
