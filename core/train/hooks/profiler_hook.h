// tf.train.ProfilerHook: traces a run every so many steps or seconds.
//
// Each traced run gives a file "<output_dir>/timeline-<step>.json" in Chrome's trace format, which a browser's trace
// viewer opens, and the run's metadata in the events file under the tag "step_<step>" (a step that comes twice, after a
// recovery, is refused by the writer: USAGE). The first run is never traced: the timer starts there.
// Thread safety: as SessionRunHook. Source: basic_session_run_hooks.py, timeline.py.
#ifndef VIGIL_CORE_TRAIN_HOOKS_PROFILER_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_PROFILER_HOOK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/summary/summary_writer.h"
#include "vigil/core/train/hooks/global_step_reader.h"
#include "vigil/core/train/hooks/second_or_step_timer.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct ProfilerHookOptions {
  // Exactly one of the two.
  std::optional<std::int64_t> save_steps;
  std::optional<Duration> save_secs;
  std::string output_dir;
  bool show_dataflow = true;                   // arrows from what makes a tensor to what takes it
  bool show_memory = false;                    // how many bytes the tensors of the run hold
  Behaviour behaviour = Behaviour::Default();  // unique_event_files
};

class ProfilerHook : public SessionRunHook {
 public:
  // USAGE: SecondOrStepTimer's.
  static absl::StatusOr<std::shared_ptr<ProfilerHook>> Create(const Env& env, ProfilerHookOptions options);

  // USAGE "Global step should be created to use ProfilerHook."
  absl::Status Begin(BeginContext& context) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  ProfilerHook(const Env& env, ProfilerHookOptions options, SecondOrStepTimer timer);
  absl::Status Tag(std::int64_t step, const RunMetadata& metadata);
  absl::Status Save(std::int64_t step, const RunMetadata& metadata);

  const Env env_;
  const ProfilerHookOptions options_;
  SecondOrStepTimer timer_;
  RunOptions traced_;  // what a traced run is asked for
  // Since Begin:
  const Graph* graph_ = nullptr;
  std::shared_ptr<SummaryWriter> writer_;
  GlobalStepReader step_;
  Fetches step_of_traced_;  // the step, by an object of its own
  std::optional<std::int64_t> next_step_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_PROFILER_HOOK_H_
