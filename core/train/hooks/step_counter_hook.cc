#include "vigil/core/train/hooks/step_counter_hook.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "vigil/core/base/atomic.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/saturating.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/summary.pb.h"
#include "vigil/core/summary/summary_writer_cache.h"
#include "vigil/core/train/run_events.h"
#include "vigil/core/train/training_util.h"

namespace vigil {
namespace {

// TensorFlow gives each of its lines that warn only so often one counter for the process.
struct StandstillWarnings {
  Atomic<int> seen{0};
};
constexpr SlotKey<StandstillWarnings> kStandstillWarnings{"step counter: warnings that the global step stands still"};
constexpr int kWarnings = 5;

}  // namespace

absl::StatusOr<std::shared_ptr<StepCounterHook>> StepCounterHook::Create(const Env& env,
                                                                         StepCounterHookOptions options) {
  if (options.every_n_steps.has_value() == options.every_n_secs.has_value()) {
    return UsageError("exactly one of every_n_steps and every_n_secs should be provided.");
  }
  VIGIL_ASSIGN_OR_RETURN(const SecondOrStepTimer timer,
                         SecondOrStepTimer::Create(env, {options.every_n_secs, options.every_n_steps}));
  return std::shared_ptr<StepCounterHook>(new StepCounterHook(env, std::move(options), timer));
}

StepCounterHook::StepCounterHook(const Env& env, StepCounterHookOptions options, SecondOrStepTimer timer)
    : env_(env), options_(std::move(options)), timer_(timer) {}

absl::Status StepCounterHook::Begin(BeginContext& context) {
  const bool makes_writer = options_.summary_writer == nullptr && !options_.output_dir.empty();
  EmitHookDetail(env_.events, HookDetail::kCountsSteps, makes_writer ? 1 : 0);
  timer_.TellPeriod();
  if (makes_writer) {
    options_.summary_writer = GetCachedWriter(env_, options_.output_dir, &context.graph, options_.behaviour);
  }
  VIGIL_RETURN_IF_ERROR(step_.Init(context, "StepCounterHook"));
  training_runs_ = TrainingRuns();
  VIGIL_ASSIGN_OR_RETURN(const std::optional<Output> step, GetGlobalStep(env_, context.graph));
  // Without a step there is nothing to read: Init has found one, if only the tensor that reads it.
  tag_ = fmt::format("{}/sec", step.has_value() ? NameOfStep(context.graph, *step) : "global_step");
  return absl::OkStatus();
}

absl::Status StepCounterHook::BeforeRun(RunContext&, RunArgs& args) {
  args.fetches = step_.fetches();
  return absl::OkStatus();
}

absl::Status StepCounterHook::AfterRun(RunContext& context, const RunValues& values) {
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t stale, StepOf(values.results.tensor()));
  if (timer_.ShouldTriggerForStep(SaturatingAdd(stale, steps_per_run_))) {
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, step_.Read(&context.session()));
    if (timer_.ShouldTriggerForStep(step)) {
      const std::optional<SecondOrStepTimer::Elapsed> elapsed = timer_.UpdateLastTriggeredStep(step);
      if (elapsed.has_value()) VIGIL_RETURN_IF_ERROR(LogAndRecord(*elapsed, step));
    }
  }
  // The fetched values are compared, not the timer's step: that one may have been read at another moment of the run.
  if (options_.behaviour.frozen_step_by_training &&
      !training_runs_.Contain(context.session().graph(), context.original_fetches())) {
    return absl::OkStatus();
  }
  if (stale == last_stale_step_) WarnThatNothingMoves(stale);
  last_stale_step_ = stale;
  return absl::OkStatus();
}

absl::Status StepCounterHook::LogAndRecord(const SecondOrStepTimer::Elapsed& elapsed, std::int64_t step) {
  const double rate = static_cast<double>(elapsed.steps) / ToSeconds(elapsed.time);  // no time: infinite
  if (options_.summary_writer != nullptr) {
    proto::Summary summary;
    proto::Summary::Value* const value = summary.add_value();
    value->set_tag(tag_);
    value->set_simple_value(static_cast<float>(rate));
    VIGIL_RETURN_IF_ERROR(options_.summary_writer->AddSummary(summary.SerializeAsString(), step));
  }
  // No steps in no time is not a number, and C would give it a sign.
  env_.log->Write(Severity::kInfo, fmt::format("{}: {}", tag_, std::isnan(rate) ? "nan" : fmt::format("{:g}", rate)));
  return absl::OkStatus();
}

void StepCounterHook::WarnThatNothingMoves(std::int64_t step) {
  if (env_.process->Slot(kStandstillWarnings).seen.fetch_add(1) >= kWarnings) return;
  env_.log->Write(
      Severity::kWarning,
      fmt::format(
          "It seems that global step (tf.train.get_global_step) has not been increased. Current value (could be "
          "stable): {} vs previous value: {}. You could increase the global step by passing "
          "tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.",
          step, step));
}

}  // namespace vigil
