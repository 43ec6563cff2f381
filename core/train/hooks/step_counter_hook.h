// tf.train.StepCounterHook: how many global steps were made a second, as a log line and a summary "<global step>/sec".
//
// Also warns when the global step has not moved since the run before, five times in the life of the process. By
// Behaviour::Default() only runs that train count: a run that evaluates or acts moves no step and means no harm.
// Thread safety: as SessionRunHook. Source: basic_session_run_hooks.py; recorded.
#ifndef VIGIL_CORE_TRAIN_HOOKS_STEP_COUNTER_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_STEP_COUNTER_HOOK_H_

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
#include "vigil/core/train/hooks/training_runs.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct StepCounterHookOptions {
  // Exactly one: to count by seconds, every_n_steps must be nullopt.
  std::optional<std::int64_t> every_n_steps = 100;
  std::optional<Duration> every_n_secs;
  std::string output_dir;                         // of the events file, unless a writer is given; "" = no summary
  std::shared_ptr<SummaryWriter> summary_writer;  // null: the process's writer for output_dir
  Behaviour behaviour = Behaviour::Default();     // unique_event_files, frozen_step_by_training
};

class StepCounterHook : public SessionRunHook {
 public:
  // USAGE "exactly one of every_n_steps and every_n_secs should be provided."
  static absl::StatusOr<std::shared_ptr<StepCounterHook>> Create(const Env& env, StepCounterHookOptions options = {});

  // How many steps a run makes (1 until it is said).
  void set_steps_per_run(std::int64_t steps) { steps_per_run_ = steps; }

  // USAGE "Global step should be created to use StepCounterHook."
  absl::Status Begin(BeginContext& context) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  StepCounterHook(const Env& env, StepCounterHookOptions options, SecondOrStepTimer timer);
  absl::Status LogAndRecord(const SecondOrStepTimer::Elapsed& elapsed, std::int64_t step);
  void WarnThatNothingMoves(std::int64_t step);

  const Env env_;
  StepCounterHookOptions options_;
  SecondOrStepTimer timer_;
  std::int64_t steps_per_run_ = 1;
  std::optional<std::int64_t> last_stale_step_;  // kept through recoveries
  TrainingRuns training_runs_;
  // Since Begin:
  GlobalStepReader step_;
  std::string tag_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_STEP_COUNTER_HOOK_H_
