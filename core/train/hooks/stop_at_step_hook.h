// tf.train.StopAtStepHook: asks for a stop once the global step has reached a number.
//
// num_steps counts from the global step of the first session: set once, kept through recoveries. The step is read again
// before the stop is asked for, since the fetched one is from before the train op. A train op that adds more than one,
// or other workers, may overshoot. A session that begins at the last step or after it (a finished training is started
// again) makes no run (Behaviour::finished_runs_nothing): the hook asks the coordinator for a stop. By TensorFlow's
// behaviour one run is always made.
// Thread safety: as SessionRunHook. Source: basic_session_run_hooks.py; recorded.
#ifndef VIGIL_CORE_TRAIN_HOOKS_STOP_AT_STEP_HOOK_H_
#define VIGIL_CORE_TRAIN_HOOKS_STOP_AT_STEP_HOOK_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/train/hooks/global_step_reader.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

struct StopAtStepHookOptions {
  // Exactly one of the two.
  std::optional<std::int64_t> num_steps;  // this many after the step at which the first session began
  std::optional<std::int64_t> last_step;
  Behaviour behaviour = Behaviour::Default();  // finished_runs_nothing
};

class StopAtStepHook : public SessionRunHook {
 public:
  // USAGE "One of num_steps or last_step must be specified.", "Only one of num_steps or last_step can be specified."
  static absl::StatusOr<std::shared_ptr<StopAtStepHook>> Create(const Env& env, StopAtStepHookOptions options);

  // USAGE "Global step should be created to use StopAtStepHook."
  absl::Status Begin(BeginContext& context) override;
  absl::Status AfterCreateSession(const std::shared_ptr<Session>& session,
                                  const std::shared_ptr<Coordinator>& coord) override;
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

  // nullopt: num_steps was given and there was no session yet.
  std::optional<std::int64_t> last_step() const { return options_.last_step; }

 private:
  StopAtStepHook(const Env& env, StopAtStepHookOptions options) : events_(env.events), options_(options) {}

  EventSink* events_;
  StopAtStepHookOptions options_;
  GlobalStepReader step_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_STOP_AT_STEP_HOOK_H_
