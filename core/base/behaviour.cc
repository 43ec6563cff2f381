#include "vigil/core/base/behaviour.h"

#include <array>

namespace vigil {

std::span<const BehaviourSwitch> BehaviourSwitches() {
#define VIGIL_SWITCH(name) \
  BehaviourSwitch { #name, &Behaviour::name }
  static constexpr std::array kSwitches = {
      VIGIL_SWITCH(bounded_recovery),          //
      VIGIL_SWITCH(close_partial_session),     //
      VIGIL_SWITCH(stop_survives_recovery),    //
      VIGIL_SWITCH(should_stop_recovers),      //
      VIGIL_SWITCH(step_fn_sees_new_session),  //
      VIGIL_SWITCH(worker_backs_off),          //
      VIGIL_SWITCH(one_grace_period),          //
      VIGIL_SWITCH(join_live_model),           //
      VIGIL_SWITCH(bounded_waits),             //
      VIGIL_SWITCH(last_one_saves),            //
      VIGIL_SWITCH(queues_start_anew),         //
      VIGIL_SWITCH(step_fn_stop_is_kept),      //
      VIGIL_SWITCH(clean_end_from_run_only),   //
      VIGIL_SWITCH(nan_stop_saves_nothing),    //
      VIGIL_SWITCH(finished_runs_nothing),     //
      VIGIL_SWITCH(refuse_begin_in_session),   //
      VIGIL_SWITCH(join_late_tasks),           //
      VIGIL_SWITCH(given_up_stay_stopped),     //
      VIGIL_SWITCH(sync_stop_cancels),         //
      VIGIL_SWITCH(sync_tokens_renewed),       //
      VIGIL_SWITCH(sync_bounded_wait),         //
      VIGIL_SWITCH(sync_failure_wakes),        //
      VIGIL_SWITCH(restore_fallback),          //
      VIGIL_SWITCH(durable_saves),             //
      VIGIL_SWITCH(meta_before_state),         //
      VIGIL_SWITCH(keep_limits),               //
      VIGIL_SWITCH(one_save_a_step),           //
      VIGIL_SWITCH(unique_event_files),        //
      VIGIL_SWITCH(warn_frozen_saver),         //
      VIGIL_SWITCH(frozen_step_by_training),   //
  };
#undef VIGIL_SWITCH
  // A switch that is missing from the list would stay on in TensorFlow().
  static_assert(kSwitches.size() == sizeof(Behaviour) / sizeof(bool));
  return kSwitches;
}

Behaviour Behaviour::TensorFlow() {
  Behaviour out;
  for (const BehaviourSwitch& s : BehaviourSwitches()) out.*s.value = false;
  return out;
}

}  // namespace vigil
