#include "vigil/core/train/hooks/stop_at_step_hook.h"

#include "vigil/core/base/code.h"
#include "vigil/core/base/saturating.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/train/run_events.h"

namespace vigil {

absl::StatusOr<std::shared_ptr<StopAtStepHook>> StopAtStepHook::Create(const Env& env, StopAtStepHookOptions options) {
  if (!options.num_steps.has_value() && !options.last_step.has_value()) {
    return UsageError("One of num_steps or last_step must be specified.");
  }
  if (options.num_steps.has_value() && options.last_step.has_value()) {
    return UsageError("Only one of num_steps or last_step can be specified.");
  }
  return std::shared_ptr<StopAtStepHook>(new StopAtStepHook(env, options));
}

absl::Status StopAtStepHook::Begin(BeginContext& context) { return step_.Init(context, "StopAtStepHook"); }

absl::Status StopAtStepHook::AfterCreateSession(const std::shared_ptr<Session>& session,
                                                const std::shared_ptr<Coordinator>& coord) {
  const auto tell = [this](HookDetail what, std::optional<std::int64_t> value) {
    if (value.has_value()) EmitHookDetail(events_, what, static_cast<double>(*value));
  };
  const bool may_be_finished = options_.behaviour.finished_runs_nothing && coord != nullptr;
  tell(HookDetail::kStopsAfter, options_.num_steps);
  if (options_.last_step.has_value() && !may_be_finished) {
    tell(HookDetail::kStopsAt, options_.last_step);
    return absl::OkStatus();
  }
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(session.get()));
  if (!options_.last_step.has_value()) options_.last_step = SaturatingAdd(step, *options_.num_steps);
  tell(HookDetail::kStopsAt, options_.last_step);
  if (!may_be_finished || step < *options_.last_step) return absl::OkStatus();
  return coord->RequestStop();
}

absl::Status StopAtStepHook::BeforeRun(RunContext&, RunArgs& args) {
  args.fetches = step_.fetches();
  return absl::OkStatus();
}

absl::Status StopAtStepHook::AfterRun(RunContext& context, const RunValues& values) {
  if (!options_.last_step.has_value()) {
    return UsageError("StopAtStepHook with num_steps was not told of the session (AfterCreateSession).");
  }
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t stale, StepOf(values.results.tensor()));
  if (SaturatingAdd(stale, std::int64_t{1}) < *options_.last_step) return absl::OkStatus();
  // The fetched step is from before the train op, and who knows whether this run had one.
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(&context.session()));
  if (step >= *options_.last_step) context.RequestStop();
  return absl::OkStatus();
}

}  // namespace vigil
