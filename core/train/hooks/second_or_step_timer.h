// tf.train.SecondOrStepTimer: triggers at most once every so many seconds, or once every so many steps.
//
// The first question is answered yes, the same step twice no. Drift is not made up for: the next trigger counts from
// the last real one. When the step goes back, a timer of steps stays silent until it has come past the last trigger
// again; a timer of seconds triggers as usual and reports negative elapsed steps.
// Seconds are those of the monotonic clock, so that setting the clock of the machine neither stops nor floods what
// depends on it (TensorFlow takes wall time; nothing that was recorded can tell).
// Thread safety: one task at a time. Source: basic_session_run_hooks.py; recorded (unit "timer").
#ifndef VIGIL_CORE_TRAIN_HOOKS_SECOND_OR_STEP_TIMER_H_
#define VIGIL_CORE_TRAIN_HOOKS_SECOND_OR_STEP_TIMER_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/env.h"

namespace vigil {

// Exactly one. 0 is given, and triggers at every new step; the range is not checked.
struct SecondOrStepTimerOptions {
  std::optional<Duration> every_secs;
  std::optional<std::int64_t> every_steps;
};

class SecondOrStepTimer {
 public:
  // USAGE "Either every_secs or every_steps should be provided.", "Can not provide both every_secs and every_steps."
  static absl::StatusOr<SecondOrStepTimer> Create(const Env& env, SecondOrStepTimerOptions options);

  bool ShouldTriggerForStep(std::int64_t step) const;

  struct Elapsed {
    Duration time{0};
    std::int64_t steps = 0;
  };
  // Notes a trigger at `step`, now. What has passed since the one before; nullopt at the first.
  std::optional<Elapsed> UpdateLastTriggeredStep(std::int64_t step);

  std::optional<std::int64_t> last_triggered_step() const;
  std::optional<Time> last_trigger_time() const;  // of the monotonic clock
  // Says its period to who watches: for a hook's Begin.
  void TellPeriod() const;
  // As if it had never triggered.
  void Reset() { last_.reset(); }

 private:
  struct Trigger {
    Time time;
    std::int64_t step = 0;
  };

  SecondOrStepTimer(const Env& env, SecondOrStepTimerOptions options)
      : clock_(env.clock), events_(env.events), options_(options) {}
  bool IsDue(std::int64_t step) const;

  Clock* clock_;
  EventSink* events_;
  SecondOrStepTimerOptions options_;
  std::optional<Trigger> last_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_SECOND_OR_STEP_TIMER_H_
