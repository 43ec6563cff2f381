// tf.train.SummarySaverHook: writes the summaries of a run every so many steps or seconds.
//
// The first run is written, then every 8th (1, 9, 17, ...) with save_steps = 8. Before the first summary a session log
// START. Without a writer nothing is written, yet the summaries are fetched in every run (as in TensorFlow). Without a
// summary op in the scaffold everything but the summary happens.
// Thread safety: as SessionRunHook. Source: basic_session_run_hooks.py; recorded.
#ifndef VIGIL_CORE_TRAIN_HOOKS_SUMMARY_SAVER_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_SUMMARY_SAVER_HOOK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/summary/summary_writer.h"
#include "vigil/core/train/hooks/global_step_reader.h"
#include "vigil/core/train/hooks/second_or_step_timer.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct SummarySaverHookOptions {
  // Exactly one of the two.
  std::optional<std::int64_t> save_steps;
  std::optional<Duration> save_secs;
  std::string output_dir;                         // of the events file, unless a writer is given
  std::shared_ptr<SummaryWriter> summary_writer;  // null: the process's writer for output_dir
  // Exactly one of the two. Each op gives serialized Summaries.
  std::shared_ptr<Scaffold> scaffold;          // its summary_op, looked up when there is a run
  std::vector<Output> summary_op;              // empty: not given
  Behaviour behaviour = Behaviour::Default();  // unique_event_files
};

class SummarySaverHook : public SessionRunHook {
 public:
  // USAGE "Exactly one of scaffold or summary_op must be provided."; SecondOrStepTimer's.
  static absl::StatusOr<std::shared_ptr<SummarySaverHook>> Create(const Env& env, SummarySaverHookOptions options);

  // USAGE "Global step should be created to use SummarySaverHook."
  absl::Status Begin(BeginContext& context) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  // Flushes the writer, also without a session.
  absl::Status End(Session* session) override;

 private:
  SummarySaverHook(const Env& env, SummarySaverHookOptions options, SecondOrStepTimer timer);
  const Fetches& FetchesWithSummary();
  absl::Status WriteSummaries(const FetchedValues& summaries, std::int64_t step);

  const Env env_;
  SummarySaverHookOptions options_;
  SecondOrStepTimer timer_;
  // Since Begin:
  GlobalStepReader step_;
  Fetches only_step_;        // a list of one
  Fetches without_summary_;  // another one, of a run whose summary would be written if there were one
  Fetches with_summary_;     // step and list of summaries, once there is a summary op
  std::optional<std::int64_t> next_step_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_SUMMARY_SAVER_HOOK_H_
