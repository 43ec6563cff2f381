#include "vigil/core/train/hooks/profiler_hook.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/summary/summary_writer_cache.h"
#include "vigil/core/train/hooks/chrome_trace.h"
#include "vigil/core/train/run_events.h"

namespace vigil {

absl::StatusOr<std::shared_ptr<ProfilerHook>> ProfilerHook::Create(const Env& env, ProfilerHookOptions options) {
  VIGIL_ASSIGN_OR_RETURN(const SecondOrStepTimer timer,
                         SecondOrStepTimer::Create(env, {options.save_secs, options.save_steps}));
  return std::shared_ptr<ProfilerHook>(new ProfilerHook(env, std::move(options), timer));
}

ProfilerHook::ProfilerHook(const Env& env, ProfilerHookOptions options, SecondOrStepTimer timer)
    : env_(env), options_(std::move(options)), timer_(timer) {
  traced_.trace_level = TraceLevel::kFullTrace;
}

absl::Status ProfilerHook::Begin(BeginContext& context) {
  graph_ = &context.graph;
  writer_ = GetCachedWriter(env_, options_.output_dir, graph_, options_.behaviour);
  next_step_.reset();
  EmitHookDetail(env_.events, HookDetail::kProfiles);
  timer_.TellPeriod();
  VIGIL_RETURN_IF_ERROR(step_.Init(context, "ProfilerHook"));
  step_of_traced_ = Fetches(step_.read());
  return absl::OkStatus();
}

absl::Status ProfilerHook::BeforeRun(RunContext&, RunArgs& args) {
  const bool traced = next_step_.has_value() && timer_.ShouldTriggerForStep(*next_step_);
  args.fetches = traced ? step_of_traced_ : step_.fetches();
  if (traced) args.options = traced_;
  return absl::OkStatus();
}

absl::Status ProfilerHook::AfterRun(RunContext& context, const RunValues& values) {
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t stale, StepOf(values.results.tensor()));
  // So that the first trace comes only after the first period.
  if (!next_step_.has_value()) timer_.UpdateLastTriggeredStep(stale);
  std::int64_t step = stale + 1;
  if (values.results.IsOf(step_of_traced_)) {
    VIGIL_ASSIGN_OR_RETURN(step, step_.Read(&context.session()));
    timer_.UpdateLastTriggeredStep(step);
    VIGIL_RETURN_IF_ERROR(Save(step, values.metadata));
    VIGIL_RETURN_IF_ERROR(Tag(step, values.metadata));
  }
  next_step_ = step + 1;
  return absl::OkStatus();
}

// A step may be made again: after a recovery that has lost it, or in the next session of this process. A writer takes
// each tag once.
absl::Status ProfilerHook::Tag(std::int64_t step, const RunMetadata& metadata) {
  constexpr int kMost = 100;
  absl::Status tagged = writer_->AddRunMetadata(metadata, fmt::format("step_{}", step), std::nullopt);
  if (!options_.behaviour.unique_event_files) return tagged;
  for (int again = 2; CodeOf(tagged) == Code::kUsage && again <= kMost; ++again) {
    tagged = writer_->AddRunMetadata(metadata, fmt::format("step_{}_{}", step, again), std::nullopt);
  }
  return tagged;
}

absl::Status ProfilerHook::Save(std::int64_t step, const RunMetadata& metadata) {
  const std::string path = JoinPath(options_.output_dir, fmt::format("timeline-{}.json", step));
  env_.log->Write(Severity::kInfo, fmt::format("Saving timeline for {} into '{}'.", step, path));
  const std::string trace = ChromeTrace(*graph_, metadata, {options_.show_dataflow, options_.show_memory});
  return WriteAtomically(*env_.files, path, trace);
}

}  // namespace vigil
