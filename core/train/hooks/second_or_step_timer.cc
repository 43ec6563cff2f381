#include "vigil/core/train/hooks/second_or_step_timer.h"

#include "vigil/core/base/code.h"
#include "vigil/core/base/saturating.h"
#include "vigil/core/train/run_events.h"

namespace vigil {

absl::StatusOr<SecondOrStepTimer> SecondOrStepTimer::Create(const Env& env, SecondOrStepTimerOptions options) {
  if (!options.every_secs.has_value() && !options.every_steps.has_value()) {
    return UsageError("Either every_secs or every_steps should be provided.");
  }
  if (options.every_secs.has_value() && options.every_steps.has_value()) {
    return UsageError("Can not provide both every_secs and every_steps.");
  }
  return SecondOrStepTimer(env, options);
}

void SecondOrStepTimer::TellPeriod() const {
  if (options_.every_secs.has_value()) {
    EmitHookDetail(events_, HookDetail::kEverySeconds, ToSeconds(*options_.every_secs));
  } else {
    EmitHookDetail(events_, HookDetail::kEverySteps, static_cast<double>(*options_.every_steps));
  }
}

bool SecondOrStepTimer::ShouldTriggerForStep(std::int64_t step) const {
  const bool due = IsDue(step);
  EmitHookDetail(events_, HookDetail::kTimerAsked, static_cast<double>(step), due ? 1 : 0);
  return due;
}

bool SecondOrStepTimer::IsDue(std::int64_t step) const {
  if (!last_.has_value()) return true;
  if (last_->step == step) return false;
  // Differences, not sums: a period of "never" does not overflow.
  if (options_.every_secs.has_value()) return clock_->Monotonic() - last_->time >= *options_.every_secs;
  return SaturatingSubtract(step, last_->step) >= *options_.every_steps;
}

std::optional<SecondOrStepTimer::Elapsed> SecondOrStepTimer::UpdateLastTriggeredStep(std::int64_t step) {
  const Trigger now{clock_->Monotonic(), step};
  std::optional<Elapsed> elapsed;
  if (last_.has_value()) elapsed = Elapsed{now.time - last_->time, SaturatingSubtract(step, last_->step)};
  last_ = now;
  EmitHookDetail(events_, HookDetail::kTimerSet, static_cast<double>(step));
  return elapsed;
}

std::optional<std::int64_t> SecondOrStepTimer::last_triggered_step() const {
  return last_.has_value() ? std::optional(last_->step) : std::nullopt;
}

std::optional<Time> SecondOrStepTimer::last_trigger_time() const {
  return last_.has_value() ? std::optional(last_->time) : std::nullopt;
}

}  // namespace vigil
