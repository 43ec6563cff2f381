#include "vigil/core/train/hooks/summary_saver_hook.h"

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/summary/summary_writer_cache.h"
#include "vigil/core/train/run_events.h"

namespace vigil {

absl::StatusOr<std::shared_ptr<SummarySaverHook>> SummarySaverHook::Create(const Env& env,
                                                                           SummarySaverHookOptions options) {
  if ((options.scaffold == nullptr) == options.summary_op.empty()) {
    return UsageError("Exactly one of scaffold or summary_op must be provided.");
  }
  VIGIL_ASSIGN_OR_RETURN(const SecondOrStepTimer timer,
                         SecondOrStepTimer::Create(env, {options.save_secs, options.save_steps}));
  return std::shared_ptr<SummarySaverHook>(new SummarySaverHook(env, std::move(options), timer));
}

SummarySaverHook::SummarySaverHook(const Env& env, SummarySaverHookOptions options, SecondOrStepTimer timer)
    : env_(env), options_(std::move(options)), timer_(timer) {}

absl::Status SummarySaverHook::Begin(BeginContext& context) {
  const bool makes_writer = options_.summary_writer == nullptr && !options_.output_dir.empty();
  EmitHookDetail(env_.events, HookDetail::kWritesSummaries, makes_writer ? 1 : 0);
  timer_.TellPeriod();
  if (makes_writer) {
    options_.summary_writer = GetCachedWriter(env_, options_.output_dir, &context.graph, options_.behaviour);
  }
  next_step_.reset();
  VIGIL_RETURN_IF_ERROR(step_.Init(context, "SummarySaverHook"));
  only_step_ = Fetches::List({step_.fetches()});
  without_summary_ = Fetches::List({step_.fetches()});
  with_summary_ = Fetches();
  return absl::OkStatus();
}

// The scaffold makes its summary op when it is finalized, which is after Begin.
const Fetches& SummarySaverHook::FetchesWithSummary() {
  if (!with_summary_.empty()) return with_summary_;
  std::vector<Fetches> summaries(options_.summary_op.begin(), options_.summary_op.end());
  if (options_.scaffold != nullptr && options_.scaffold->summary_op().has_value()) {
    summaries.emplace_back(*options_.scaffold->summary_op());
  }
  if (summaries.empty()) return without_summary_;
  with_summary_ = Fetches::List({step_.fetches(), Fetches::List(std::move(summaries))});
  return with_summary_;
}

absl::Status SummarySaverHook::BeforeRun(RunContext&, RunArgs& args) {
  const bool requested = !next_step_.has_value() || timer_.ShouldTriggerForStep(*next_step_);
  args.fetches = requested ? FetchesWithSummary() : only_step_;
  return absl::OkStatus();
}

absl::Status SummarySaverHook::AfterRun(RunContext& context, const RunValues& values) {
  if (options_.summary_writer == nullptr) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(std::int64_t step, StepOf(values.results[0].tensor()));
  ++step;
  // Of this run: another one, made inside of it, may have been asked for something else.
  const bool requested = !values.results.IsOf(only_step_);
  if (requested) {
    VIGIL_ASSIGN_OR_RETURN(step, step_.Read(&context.session()));
  }
  if (!next_step_.has_value()) {
    VIGIL_RETURN_IF_ERROR(options_.summary_writer->AddSessionLog(SessionLogStatus::kStart, step));
  }
  if (requested) {
    timer_.UpdateLastTriggeredStep(step);
    if (values.results.size() > 1) VIGIL_RETURN_IF_ERROR(WriteSummaries(values.results[1], step));
  }
  next_step_ = step + 1;
  return absl::OkStatus();
}

absl::Status SummarySaverHook::WriteSummaries(const FetchedValues& summaries, std::int64_t step) {
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const Tensor& summary = summaries[i].tensor();
    if (summary.dtype() != DType::kString || summary.num_elements() != 1) {
      return UsageError("A summary op must give one serialized Summary, not " + summary.Describe() + ".");
    }
    VIGIL_RETURN_IF_ERROR(options_.summary_writer->AddSummary(summary.scalar<std::string>(), step));
  }
  return absl::OkStatus();
}

absl::Status SummarySaverHook::End(Session*) {
  return options_.summary_writer != nullptr ? options_.summary_writer->Flush() : absl::OkStatus();
}

}  // namespace vigil
