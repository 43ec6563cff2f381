// How faithful the session layer is to TensorFlow where TensorFlow hurts its users.
//
// Behaviour::TensorFlow() is bug for bug what was recorded: every switch is off. Behaviour::Default() is what users
// get: every switch is on. Each switch is one difference; docs/differences.md tells what it changes and whom it helps.
// A plain value. Every options struct that depends on it has a field `behaviour`.
#ifndef VIGIL_CORE_BASE_BEHAVIOUR_H_
#define VIGIL_CORE_BASE_BEHAVIOUR_H_

#include <span>
#include <string_view>

namespace vigil {

struct Behaviour {
  // Recovery.
  bool bounded_recovery = true;        // re-creation waits, backs off, and gives up in the end
  bool close_partial_session = true;   // a session that was created only in part is closed
  bool stop_survives_recovery = true;  // a stop request is not forgotten with the session
  bool should_stop_recovers = true;    // also from what is reported while ShouldStop looks
  bool step_fn_sees_new_session = true;
  bool worker_backs_off = true;  // a worker looks for the model after 1, 2, 4, ... 30 s, and in the end
  bool one_grace_period = true;  // stuck tasks cost one stop grace period, whatever the number of recoveries
  // Clusters.
  bool join_live_model =
      true;                   // a chief that finds its model alive on the servers goes on with it, and restores nothing
  bool bounded_waits = true;  // sessions of a cluster do not wait for ever: for a dead server, a silent one, a run
  bool last_one_saves = true;     // a worker that ends when its chief is gone saves the last step
  bool queues_start_anew = true;  // a session opens the queues of its queue runners, which one before it has closed
  // Ends.
  bool step_fn_stop_is_kept = true;     // after StepContext::RequestStop ShouldStop is true
  bool clean_end_from_run_only = true;  // OUT_OF_RANGE ends a scope cleanly only if a run returned it
  bool nan_stop_saves_nothing = true;   // a NaN stop does not save the NaN weights
  bool finished_runs_nothing = true;    // a session that begins at its last step makes no run
  bool refuse_begin_in_session = true;  // a hook that is in an open session cannot begin another
  bool join_late_tasks = true;          // a join is for tasks that register while it waits, too
  bool given_up_stay_stopped = true;    // who outlives a join stays stopped, and its error stops nobody who comes later
  // Synchronous replicas.
  bool sync_stop_cancels = true;  // a stop of the chief ends its wait for gradients
  bool sync_tokens_renewed =
      true;  // a chief that comes back replaces the tokens; only the end of its training closes their queue
  bool sync_bounded_wait = true;   // a replica waits for the others up to half an hour
  bool sync_failure_wakes = true;  // the end of the chief's queue runner ends the chief's wait for a token
  // Files.
  bool restore_fallback = true;    // to the newest checkpoint that is complete
  bool durable_saves = true;       // synced before they are renamed
  bool meta_before_state = true;   // the newest checkpoint is never without its meta graph
  bool keep_limits = true;         // max_to_keep holds across restarts and changed limits
  bool one_save_a_step = true;     // for each directory
  bool unique_event_files = true;  // writers never share a file
  // Warnings.
  bool warn_frozen_saver = true;        // a saver whose step stands still says so
  bool frozen_step_by_training = true;  // the frozen-step warning counts runs that train only

  static Behaviour Default() { return {}; }
  static Behaviour TensorFlow();
  friend bool operator==(const Behaviour&, const Behaviour&) = default;
};

// The list of switches, in the order above.
struct BehaviourSwitch {
  std::string_view name;
  bool Behaviour::*value;
};
std::span<const BehaviourSwitch> BehaviourSwitches();

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_BEHAVIOUR_H_
