// Planted bugs: mistakes that the checks must find, each of them a line in the code that is off until somebody turns it on.
//
//   if (status.ok() || VIGIL_PLANTED("hooks.stop_kept_by_failed_run")) life_.RequestStop(who);
//
// VIGIL_PLANTED(id) is the one macro. It is the constant false, and costs nothing, unless VIGIL_PLANTED_BUGS is defined (the CMake
// option of that name: on in the preset dev and with sanitizers, off in a release, which has no symbol of any of this). Where it is
// defined, the macro reads a switch that TurnOnPlantedBug sets. An id that is not in the list below does not compile. What each bug
// is, and which rule must find it, stands in properties/planted/registry.cc; a test compares the two, and both with the sources.
//
// Thread safety: the switches are atomic and belong to the whole process. Whoever plays with a bug plays nothing else meanwhile.
#ifndef VIGIL_CORE_BASE_PLANTED_H_
#define VIGIL_CORE_BASE_PLANTED_H_

#ifdef VIGIL_PLANTED_BUGS

#include <cstddef>
#include <string_view>

namespace vigil {

inline constexpr std::string_view kPlantedBugs[] = {
    "cluster.chief_restores_over_live_model",
    "cluster.creation_waits_for_ever",
    "cluster.duplicate_runs_again",
    "cluster.scalar_update_dropped",
    "coordinator.clean_stop_lost",
    "coordinator.clean_stop_not_asked_for",
    "coordinator.error_lost_by_join",
    "coordinator.join_does_not_wait",
    "coordinator.joined_before_stop",
    "coordinator.joined_twice",
    "coordinator.last_error_wins",
    "coordinator.session_closed_first",
    "coordinator.task_not_registered",
    "hooks.after_run_goes_on_after_a_failure",
    "hooks.after_run_on_internal",
    "hooks.after_run_on_out_of_range",
    "hooks.after_run_reversed",
    "hooks.after_run_skipped_with_options",
    "hooks.after_run_skips_the_last",
    "hooks.before_run_error_lost",
    "hooks.before_run_of_a_refused_run",
    "hooks.before_run_skipped_with_options",
    "hooks.before_run_swaps_the_last_two",
    "hooks.begin_reversed",
    "hooks.end_reversed",
    "hooks.first_told_twice_of_a_session",
    "hooks.no_session_in_after_run",
    "hooks.return_names_the_first",
    "hooks.run_allowed_after_stop",
    "hooks.stop_kept_by_failed_run",
    "hooks.stop_kept_by_recovery",
    "hooks.stop_lost_by_recovery_by_default",
    "hooks.stop_lost_in_a_repeated_run",
    "hooks.stop_not_asked_for",
    "hooks.told_of_the_first_session_in_reverse",
    "init.init_after_restore",
    "init.init_fn_after_a_failed_init",
    "init.init_fn_first",
    "init.local_init_error_lost",
    "init.local_init_skipped",
    "init.queue_runners_after_hooks",
    "init.queue_runners_without_any",
    "init.ready_not_asked_after_restore",
    "recovery.before_run_not_repeated",
    "recovery.close_error_ends_it",
    "recovery.failed_creation_ends_it",
    "recovery.feed_lost",
    "recovery.given_up_on_internal",
    "recovery.hooks_not_told",
    "recovery.hooks_not_told_of_the_second",
    "recovery.init_error_ignored",
    "recovery.lost_session_stops_once",
    "recovery.names_another_cause",
    "recovery.new_session_closed",
    "recovery.no_pause",
    "recovery.nothing_restored",
    "recovery.old_session_left_open",
    "recovery.on_cancelled",
    "recovery.once_a_call",
    "recovery.pause_by_tensorflow",
    "recovery.pause_too_short",
    "recovery.queue_runners_not_restarted",
    "recovery.restore_error_ignored",
    "recovery.second_session_left_open",
    "recovery.should_stop_creates_nothing",
    "recovery.step_function_leaves_run",
    "recovery.stop_forgotten_in_job",
    "recovery.unavailable_leaves_run",
    "recovery.zeros_are_fed",
    "saver.keeps_one_more",
    "saver.last_step_not_saved",
    "saver.listeners_end_before_the_last_save",
    "saver.listeners_not_told_before",
    "saver.no_fallback",
    "saver.renamed_without_sync",
    "saver.saves_on_the_first_session_only",
    "saver.write_error_lost",
    "session.begin_skips_the_last_hook",
    "session.clean_end_comes_out",
    "session.close_failure_comes_out",
    "session.close_returns_what_was_recovered",
    "session.construction_hides_the_error",
    "session.construction_not_told_without_hooks",
    "session.end_after_close",
    "session.end_error_lost",
    "session.end_failure_leaves_session_open",
    "session.end_on_cancelled",
    "session.end_on_internal",
    "session.end_sees_no_session",
    "session.end_twice",
    "session.first_error_of_close_wins",
    "session.first_hook_begins_twice",
    "session.graph_left_finalized",
    "session.internal_error_swallowed",
    "session.no_end_on_out_of_range",
    "session.number_left_out",
    "session.run_changes_the_code",
    "session.second_close_is_silent",
    "session.should_stop_says_no_after_close",
    "session.singular_recovers",
    "session.two_runs_without_hooks",
    "session.usable_after_close",
    "sim.choice_not_kept",
    "sim.paused_for_ever",
    "sim.sync_keeps_nothing",
    "step.called_twice",
    "step.new_session_by_tensorflow",
    "step.old_session_by_default",
    "step.stop_iteration_swallowed",
    "step.stop_lost_by_default",
    "step.two_runs_without_hooks",
    "summary.log_lost_after_recovery",
    "summary.log_of_a_failed_save",
    "summary.log_of_the_step_before",
    "summary.not_flushed",
    "summary.start_after_each_recovery",
    "supervisor.error_lost_when_it_stops",
    "supervisor.graph_left_changeable",
    "supervisor.initialises_what_it_restored",
    "supervisor.session_closed_first",
    "supervisor.should_stop_ignores_clean_stops",
    "supervisor.start_logged_too_early",
    "supervisor.stop_logged_before_the_join",
    "sync.a_token_more_each_step",
    "sync.one_gradient_too_few",
    "sync.one_token_too_many",
    "worker.initialises_too",
    "worker.looks_again_at_once",
    "worker.unready_session_left_open",
};

// The place of an id in the list. Does not compile for another one.
consteval std::size_t PlantedBugNumber(std::string_view id) {
  std::size_t number = 0;
  while (kPlantedBugs[number] != id) ++number;  // past the end: no constant
  return number;
}

bool PlantedBugIsOn(std::size_t number);
// False: there is no such bug.
bool TurnOnPlantedBug(std::string_view id);
void TurnOffPlantedBugs();

}  // namespace vigil

#define VIGIL_PLANTED(id) (::vigil::PlantedBugIsOn(::vigil::PlantedBugNumber(id)))

#else

#define VIGIL_PLANTED(id) (false)

#endif  // VIGIL_PLANTED_BUGS

#endif  // VIGIL_CORE_BASE_PLANTED_H_
