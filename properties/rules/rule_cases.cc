#include "vigil/properties/rules/rule_cases.h"

namespace vigil::properties {

namespace {

constexpr RuleCase kCases[] = {
    // Before there is a session.
    {"begin.then_finalize_then_create", "", "open go exit", "begin0 begin1 finalized begin1 new", "finalized begin1"},
    {"begin.then_finalize_then_create", "", "begin0 begin1!OTHER note:construct_failed!OTHER",
     "begin0 begin1!OTHER finalized new", "begin1!OTHER finalized"},
    {"begin.then_finalize_then_create", "", "open exit", "begin0 begin1 created!INTERNAL finalized",
     "created!INTERNAL"},
    {"begin.once_in_a_life", "", "begin0 begin1 finalized created!ABORTED recovery!ABORTED new constructed exit",
     "begin0 begin1 finalized created!ABORTED recovery!ABORTED begin0 begin1 new", "begin0 begin0"},
    {"graph.frozen_in_use", "", "open go exit", "begin0 begin1 finalized made unfinalized acs0 acs1",
     "unfinalized acs0"},
    {"construct.failure_is_the_end", "", "begin0!OTHER note:construct_failed!OTHER",
     "begin0!OTHER note:construct_failed!OTHER end0@none", "note:construct_failed!OTHER end0@none"},
    // The order of the hooks.
    {"order.begin", "", "open", "begin1 begin0 finalized new", "begin1"},
    {"order.after_create_session", "", "open go", "begin0 begin1 finalized made acs1 acs0", "begin1 acs1"},
    {"order.before_run", "", "open go", "open run( before1 before0 run after0 after1 run)", "acs1 before1"},
    {"order.after_run", "", "open go", "open run( before0 before1 run after1 after0 run)", "before1 after1"},
    {"order.end", "", "open go exit", "open go close( end1 end0 giveup unfinalized close)", "after1 end1"},
    {"order.phase_ends_at_a_failing_hook", "",
     "open run( before0!OTHER run)!OTHER close(!OTHER giveup unfinalized close)!OTHER",
     "open run( before0!OTHER before1 run)!OTHER", "before0!OTHER before1"},
    // Creation.
    {"session.numbers_increase", "", "open go exit", "begin0 begin1 finalized created@2 init rfl local ready acs0 acs1",
     "created@2"},
    {"init.order", "", "open go exit", "begin0 begin1 finalized created rfl init local ready", "rfl init"},
    {"init.order", "queue", "begin0 begin1 finalized made queues acs0 acs1 constructed go exit",
     "begin0 begin1 finalized made acs0 queues acs1", "acs0 queues"},
    {"init.order", "", "open", "begin0 begin1 finalized created!ABORTED recovery!ABORTED created init@2",
     "created init@2"},
    {"init.ready_before_use", "", "open", "begin0 begin1 finalized created init rfl local acs0 acs1", "created acs0"},
    {"init.ready_before_use", "init_fn", "begin0 begin1 finalized created init init_fn rfl local ready acs0 acs1",
     "begin0 begin1 finalized made acs0 acs1", "created acs0"},
    {"init.ends_at_a_failure", "", "begin0 begin1 finalized created init!ABORTED recovery!ABORTED new constructed exit",
     "begin0 begin1 finalized created init!ABORTED rfl local", "init!ABORTED rfl"},
    {"init.restored_means_no_init", "checkpoint",
     "begin0 begin1 finalized created restore rfl local ready acs0 acs1 constructed exit",
     "begin0 begin1 finalized created restore init rfl local ready acs0 acs1", "restore init"},
    {"init.restored_means_no_init", "checkpoint", "begin0 begin1 finalized created restore rfl local ready acs0 acs1",
     "begin0 begin1 finalized created restore init_fn", "restore init_fn"},
    {"init.restores_a_checkpoint", "checkpoint", "begin0 begin1 finalized created restore rfl local ready acs0 acs1",
     "begin0 begin1 finalized made", "created init"},
    {"queue_runners.before_after_create_session", "queue",
     "begin0 begin1 finalized made queues acs0 acs1 constructed exit", "begin0 begin1 finalized made acs0 acs1 queues",
     "created acs0"},
    {"after_create_session.for_every_hook_on_each_session", "",
     "open run( before0 before1 run!ABORTED recovery!ABORTED@1 giveup new round run) exit",
     "open run( before0 before1 run!ABORTED recovery!ABORTED@1 giveup made acs0 round run)", "created before0"},
    {"after_create_session.for_every_hook_on_each_session", "", "open go",
     "begin0 begin1 finalized made acs0 acs1 acs0 acs1", "created acs0"},
    // Runs.
    {"run.after_before_run_of_every_hook", "", "open go go", "open run( before0 run after0 after1 run)", "run"},
    {"run.after_before_run_of_every_hook", "", "open step( fn( inner( round inner) inner( round inner) fn) step) go",
     "open run( before0 before1 run run after0 after1 run)", "run run"},
    {"after_run.never_after_a_failed_run", "", "open run( before0 before1 run!INTERNAL run)!INTERNAL go",
     "open run( before0 before1 run!INTERNAL after0 run)!INTERNAL", "run!INTERNAL after0"},
    {"after_run.for_every_hook_after_a_good_run", "", "open run( before0 before1 run after0!OTHER run)!OTHER",
     "open run( before0 before1 run after0 run)", "run run)"},
    {"run.hooks_see_the_session_that_runs", "",
     "open run( before0 before1 run!ABORTED recovery!ABORTED@1 giveup new round run)",
     "open run( before0 before1 run!ABORTED recovery!ABORTED@1 giveup new before0@1c before1@1c run after0 after1 "
     "run)",
     "created before0@1c"},
    {"run.ok_means_one_session_run", "", "open go", "open run( before0 before1 run!INTERNAL run)",
     "run( run!INTERNAL run)"},
    // End.
    {"end.only_on_clean_exit", "",
     "open run( before0 before1 run!OTHER run)!OTHER close(!OTHER giveup unfinalized close)!OTHER",
     "open run( before0 before1 run!OTHER run)!OTHER close(!OTHER ends giveup unfinalized close)!OTHER",
     "close(!OTHER end0"},
    {"end.for_every_hook_unless_one_fails", "", "open close( end0!OTHER giveup unfinalized close)!OTHER",
     "open close( end0 giveup unfinalized close)", "close( close)"},
    {"end.before_the_session_is_closed", "", "open go exit", "open go close( giveup ends unfinalized close)",
     "cstop end0"},
    {"end.sees_the_open_session", "", "open exit close( end0@none end1@none close)!USAGE",
     "open close( end0@none end1@none giveup unfinalized close)", "created end0@none"},
    {"end.after_run_skipped_on_out_of_range", "",
     "open run( before0 before1 run!OUT_OF_RANGE run)!OUT_OF_RANGE close(!OUT_OF_RANGE ends giveup unfinalized "
     "close)",
     "open run( before0 before1 run!OUT_OF_RANGE after0 after1 run)!OUT_OF_RANGE", "run!OUT_OF_RANGE after0"},
    {"end.after_run_skipped_on_out_of_range", "", "open go exit",
     "open run( before0 before1 run!OUT_OF_RANGE run)!OUT_OF_RANGE close(!OUT_OF_RANGE giveup unfinalized close)",
     "run!OUT_OF_RANGE close(!OUT_OF_RANGE close)"},
    // Recovery.
    {"recovery.only_on_aborted_or_unavailable", "",
     "begin0 begin1 finalized created!UNAVAILABLE recovery!UNAVAILABLE new",
     "begin0 begin1 finalized created!INTERNAL recovery!INTERNAL new", "created!INTERNAL recovery!INTERNAL"},
    {"recovery.only_on_aborted_or_unavailable", "", "begin0 begin1 finalized created!ABORTED recovery!ABORTED new",
     "begin0 begin1 finalized created!ABORTED created init", "created!ABORTED created"},
    {"recovery.only_on_aborted_or_unavailable", "",
     "open run( before0!ABORTED recovery!ABORTED@1 giveup created!INTERNAL run)!INTERNAL run( new round run) exit",
     "open run( round run) run( new round run)", "created created"},
    {"recovery.has_a_cause", "", "open q:cstop!ABORTED recovery!ABORTED@1 giveup new stop=no",
     "open run( before0 before1 run!CANCELLED recovery!ABORTED@1 giveup new", "run!CANCELLED recovery!ABORTED@1"},
    {"recovery.singular_never", "singular",
     "open run( before0 before1 run!ABORTED run)!ABORTED close(!ABORTED giveup unfinalized close)!ABORTED",
     "open run( before0 before1 run!ABORTED recovery!ABORTED@1 giveup new round run)",
     "run!ABORTED recovery!ABORTED@1"},
    {"recovery.preemption_never_leaves_run", "",
     "open run( before0 before1!UNAVAILABLE recovery!UNAVAILABLE@1 giveup new round run)",
     "open run( before0 before1!UNAVAILABLE run)!UNAVAILABLE", "run( before1!UNAVAILABLE run)!UNAVAILABLE"},
    {"recovery.repeats_the_whole_call", "",
     "open run( before0 before1 run after0!ABORTED recovery!ABORTED@1 giveup new round run)",
     "open run( before0 before1 run after0!ABORTED recovery!ABORTED@1 giveup new run)", "recovery!ABORTED@1 run)"},
    {"recovery.repeats_the_whole_call", "", "open go",
     "open run( before0!ABORTED recovery!ABORTED@1 giveup new before0 run after0 after1 run)",
     "recovery!ABORTED@1 run"},
    {"recovery.ends_in_a_new_session_or_an_error", "",
     "open q:cstop!OTHER run( before0 before1 run!ABORTED recovery!ABORTED@1 giveup run)!OTHER",
     "open run( before0 before1 run!ABORTED recovery!ABORTED@1 giveup run)!ABORTED", "recovery!ABORTED@1 run)!ABORTED"},
    {"recovery.closes_what_it_gives_up", "",
     "open run( before0 before1 run!ABORTED recovery!ABORTED@1 giveup new round run)",
     "open run( before0 before1 run!ABORTED recovery!ABORTED@1 cstop join new round run)",
     "recovery!ABORTED@1 created"},
    {"recovery.without_pause", "", "begin0 begin1 finalized created!ABORTED recovery!ABORTED new",
     "begin0 begin1 finalized created!ABORTED recovery!ABORTED sleep new", "recovery!ABORTED sleep"},
    // Stops.
    {"stop.request_makes_should_stop_true", "",
     "open run( before0 stopreq0 before1 run after0 after1 run) stop=yes exit",
     "open run( before0 before1 run after0 after1 stopreq1 run) stop=no", "stopreq1 stop=no"},
    {"stop.no_run_after_it", "", "open run( round stopreq1 run) run( run)!USAGE exit",
     "open run( round stopreq1 run) go", "stopreq1 before0"},
    {"stop.only_for_a_reason", "", "open go stop=no q:cstop stop=yes", "open go stop=yes", "created stop=yes"},
    {"stop.coordinator_stop_ends_the_loop", "", "open cstop!OTHER stop=yes", "open cstop!OTHER stop=no",
     "cstop!OTHER stop=no"},
    {"stop.step_context_sets_no_flag", "", "open step( round note:step_requests_stop step)!STOP_ITERATION stop=no",
     "open step( round note:step_requests_stop step)!STOP_ITERATION stop=yes", "note:step_requests_stop stop=yes"},
    {"stop.step_context_sets_no_flag", "", "open go", "open step( note:step_requests_stop step)",
     "note:step_requests_stop step)"},
    {"stop.forgotten_by_a_recovery", "",
     "open run( round stopreq1 run) cstop!ABORTED recovery!ABORTED@1 giveup new stop=no exit",
     "open run( round stopreq1 run) cstop!ABORTED recovery!ABORTED@1 giveup new stop=yes",
     "stopreq1 recovery!ABORTED@1 stop=yes"},
    // Close.
    {"close.coordinator_stop_then_join_then_close", "", "open go exit", "open close( ends close unfinalized close)",
     "close"},
    {"close.coordinator_stop_then_join_then_close", "", "open go exit",
     "open close( ends join cstop close unfinalized close)", "join"},
    {"close.closes_the_session", "", "open close( end0!OTHER giveup unfinalized close)!OTHER",
     "open close( end0!OTHER cstop join unfinalized close)!OTHER", "close( close)!OTHER"},
    {"close.no_calls_on_a_closed_session", "", "open run( before0!ABORTED recovery!ABORTED@1 giveup new round run)",
     "open run( before0!ABORTED recovery!ABORTED@1 giveup new before0 before1 run@1 after0 after1 run)", "close run@1"},
    {"close.graph_unfinalized", "", "open exit", "open close( ends giveup close)", "close( close)"},
    {"close.graph_unfinalized", "", "open exit", "open unfinalized", "unfinalized"},
    {"close.is_final", "", "open exit note:run close( end0@none end1@none close)!USAGE", "open exit note:run new",
     "close) created"},
    {"close.a_second_one_is_a_complaint", "", "open exit close(!OTHER close)!USAGE",
     "open exit close(!OTHER close)!OTHER", "close) close(!OTHER close)!OTHER"},
    {"close.should_stop_is_true_afterwards", "", "open exit note:should_stop=yes", "open exit note:should_stop=no",
     "close) note:should_stop=no"},
    // Errors.
    {"error.run_passes_on_what_failed", "", "open run( before0 before1!INTERNAL run)!INTERNAL run( run)!USAGE",
     "open run( before0 before1!INTERNAL run)!OTHER", "run( before1!INTERNAL run)!OTHER"},
    {"exit.clean_end_is_swallowed", "",
     "open run( before0!OUT_OF_RANGE run)!OUT_OF_RANGE close(!OUT_OF_RANGE ends giveup unfinalized close)",
     "open close(!OUT_OF_RANGE ends giveup unfinalized close)!OUT_OF_RANGE", "close(!OUT_OF_RANGE close)!OUT_OF_RANGE"},
    {"exit.close_fails_only_as_end_did", "", "open close( ends cstop join close!INTERNAL unfinalized close)",
     "open close( ends cstop join close!INTERNAL unfinalized close)!INTERNAL", "close( close)!INTERNAL"},
    {"exit.close_fails_only_as_end_did", "", "open close( end0!OTHER giveup unfinalized close)!OTHER",
     "open close( end0!OTHER giveup unfinalized close)", "close( end0!OTHER close)"},
    {"exit.other_errors_come_out", "", "open close(!CANCELLED giveup unfinalized close)!CANCELLED",
     "open close(!CANCELLED giveup unfinalized close)", "close(!CANCELLED close)"},
    {"exit.reported_error_comes_out", "", "open cstop!OTHER close( ends giveup unfinalized close)!OTHER",
     "open cstop!OTHER close( ends giveup unfinalized close)", "cstop!OTHER close)"},
    // Construction.
    {"construct.ends_before_use", "", "open go exit", "begin0 begin1 finalized new go", "run("},
    {"construct.ends_before_use", "", "open", "open constructed", "constructed constructed"},
    {"construct.gives_a_usable_session_or_the_error", "", "open", "begin0 begin1 finalized made acs0 constructed",
     "created constructed"},
    {"construct.gives_a_usable_session_or_the_error", "",
     "begin0!ABORTED constructed!ABORTED note:construct_failed!ABORTED", "begin0!ABORTED constructed!INTERNAL",
     "begin0!ABORTED constructed!INTERNAL"},
    {"stop.a_run_after_it_is_a_complaint", "", "open run( round stopreq1 run) run( run)!USAGE exit",
     "open run( round stopreq1 run) run( run)!INTERNAL", "stopreq1 run( run)!INTERNAL"},
    {"stop.yes_stays_yes", "", "open run( round stopreq1 run) stop=yes stop=yes",
     "open run( round stopreq1 run) stop=yes stop=no", "stop=yes stop=no"},
    {"close.joins_the_coordinator_of_its_session_once", "", "open close( ends cstop@1 join@1 close unfinalized close)",
     "open run( before0!ABORTED recovery!ABORTED@1 giveup new round run) close( ends cstop@2 join@1", "created join@1"},
    {"close.joins_the_coordinator_of_its_session_once", "", "open exit", "open close( ends cstop join join close",
     "join join"},
    {"recovery.pauses_before_the_next_attempt", "default",
     "begin0 begin1 finalized created!ABORTED recovery!ABORTED +1 new constructed",
     "begin0 begin1 finalized created!ABORTED recovery!ABORTED new", "recovery!ABORTED created"},
    {"stop.survives_a_recovery", "default",
     "open run( round stopreq1 run) cstop!ABORTED recovery!ABORTED@1 giveup +1 new stop=yes exit",
     "open run( round stopreq1 run) cstop!ABORTED recovery!ABORTED@1 giveup +1 new stop=no",
     "stopreq1 recovery!ABORTED@1 stop=no"},
    // Hooks.
    {"hook.one_at_a_time", "", "open go exit", "open run( call:before0 call:before1", "call:before0 call:before1"},
    {"hook.one_at_a_time", "", "open go", "open run( call:before0 return:before1", "call:before0 return:before1"},
    {"summary.start_is_logged_once", "",
     "open run( before0 before1 run call:after0 log:start=1 return:after0 after1 run)",
     "open run( before0 before1 run call:after0 log:start=1 return:after0 after1 run) run( before0 before1 run "
     "call:after0 log:start=2 return:after0 after1",
     "log:start=1 log:start=2"},
    {"summary.flushed_at_the_end", "",
     "open run( before0 before1 run call:after0 log:start=1 return:after0 after1 run) close( call:end0 flush "
     "return:end0 end1 giveup unfinalized close)",
     "open run( before0 before1 run call:after0 log:start=1 return:after0 after1 run) close( end0", "log:start=1 end0"},
    {"final_ops.only_in_end", "", "open", "open close( call:end0 final final", "final final"},
    {"final_ops.only_in_end", "", "open close( call:end0 final return:end0 end1 giveup unfinalized close)",
     "open run( before0 call:before1 final", "call:before1 final"},
    {"stop.requested_in_runs_only", "", "open run( before0 call:before1 stopreq1 return:before1 run after0 after1 run)",
     "open close( call:end0 stopreq0", "call:end0 stopreq0"},
    // Checkpoints.
    {"save.only_in_a_hook", "", "begin0 begin1 finalized made call:acs0 read=0 save return:acs0 acs1 constructed",
     "open run( before0 before1 run after0 after1 save", "after1 save"},
    {"save.only_in_a_hook", "", "open", "begin0 call:begin1 save", "call:begin1 save"},
    {"save.logged_at_the_step_that_was_read", "",
     "call:begin0 is:saves_checkpoints1 listener:begin0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 "
     "listener:before0=7 beside=7 set=7 return:acs0 acs1 constructed run( before0 before1 run call:after0=7 tells=7 "
     "log:checkpoint=7 listener:after0=7 saved=7 asked0=9 return:after0 after1 run)",
     "call:begin0 is:saves_checkpoints1 listener:begin0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 "
     "listener:before0=7 beside=7 set=7 return:acs0 acs1 constructed run( before0 before1 run call:after0=7 tells=7 "
     "log:checkpoint=8",
     "tells=7 log:checkpoint=8"},
    {"listener.before_and_after_each_save", "",
     "call:begin0 is:saves_checkpoints1 listener:begin0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 "
     "listener:before0=7 beside=7 set=7 return:acs0 acs1 constructed run( before0 before1 run call:after0=7 tells=7 "
     "log:checkpoint=7 listener:after0=7 saved=7 asked0=9 return:after0 after1 run)",
     "call:begin0 is:saves_checkpoints1 listener:begin0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 "
     "listener:before0=7 beside=7 set=7 return:acs0 acs1 constructed run( before0 before1 run call:after0=7 tells=9",
     "tells=9"},
    {"save.logged_at_the_step_that_was_read", "",
     "begin0 begin1 finalized made call:acs0 read=7 save log:checkpoint=7 return:acs0 acs1 constructed",
     "begin0 begin1 finalized made call:acs0 read=7 save log:checkpoint=6", "read=7 log:checkpoint=6"},
    {"save.logged_at_the_step_that_was_read", "", "open",
     "begin0 begin1 finalized made call:acs0 read=7 save!INTERNAL log:checkpoint=7", "save!INTERNAL log:checkpoint=7"},
    {"listener.before_and_after_each_save", "",
     "begin0 begin1 finalized made call:acs0 read=7 listener:before=7 save listener:after=7 return:acs0 acs1 "
     "constructed",
     "begin0 begin1 finalized made call:acs0 read=7 save listener:after=7", "listener:after=7"},
    {"listener.before_and_after_each_save", "", "open",
     "begin0 begin1 finalized made call:acs0 read=7 listener:before=7 save listener:after=8",
     "listener:before=7 listener:after=8"},
    {"listener.before_and_after_each_save", "", "open",
     "begin0 begin1 finalized made call:acs0 listener:before=7 save!OTHER listener:after=7",
     "save!OTHER listener:after=7"},
    {"listener.before_and_after_each_save", "",
     "begin0 begin1 finalized made call:acs0 saves=7 listener:before=7 save listener:after=7 return:acs0 acs1 "
     "constructed",
     "begin0 begin1 finalized made call:acs0 saves=7 listener:before=8", "saves=7 listener:before=8"},
    {"listener.begins_once_and_ends_last", "",
     "open close( call:end0 read=3 save listener:end=3 return:end0 end1 giveup unfinalized close)",
     "open close( call:end0 read=3 listener:end=3 save", "listener:end=3 save"},
    {"listener.begins_once_and_ends_last", "",
     "call:begin0 listener:begin return:begin0 begin1 finalized new constructed",
     "begin0 begin1 finalized made call:acs0 listener:begin", "call:acs0 listener:begin"},
    {"save.on_each_new_session", "",
     "begin0 begin1 finalized made call:acs0 save return:acs0 acs1 constructed run( before0!ABORTED recovery!ABORTED@1 "
     "giveup made call:acs0 save return:acs0 acs1 round run)",
     "begin0 begin1 finalized made call:acs0 save return:acs0 acs1 constructed run( before0!ABORTED recovery!ABORTED@1 "
     "giveup made acs0",
     "save created acs0"},
    // Step functions.
    {"step_fn.called_once_for_each_attempt", "", "open step( fn( inner( round inner) fn) step) exit",
     "open step( fn( fn) fn( fn) step)", "step( step)"},
    {"step_fn.called_once_for_each_attempt", "", "open", "open fn( fn)", "fn("},
    {"step_fn.sees_the_session_of_the_call", "",
     "open step( fn(@1 inner( before0!ABORTED inner)!ABORTED fn)!ABORTED recovery!ABORTED@1 giveup new fn(@1 inner( "
     "round "
     "inner) fn) step)",
     "open step( fn(@1 inner( before0!ABORTED inner)!ABORTED fn)!ABORTED recovery!ABORTED@1 giveup new fn(@2",
     "created fn(@2"},
    {"step_fn.sees_the_newest_session", "default",
     "open step( fn(@1 inner( before0!ABORTED inner)!ABORTED fn)!ABORTED recovery!ABORTED@1 giveup +1 new fn(@2 inner( "
     "round inner) fn) step)",
     "open step( fn(@1 inner( before0!ABORTED inner)!ABORTED fn)!ABORTED recovery!ABORTED@1 giveup +1 new fn(@1",
     "created fn(@1"},
    {"step_fn.run_with_hooks_is_a_run", "", "open step( fn( inner( round inner) fn) step)",
     "open step( fn( inner( before0 before1 run inner)", "inner( inner)"},
    {"step_fn.run_with_hooks_is_a_run", "", "open", "open inner(", "inner("},
    {"step_fn.stop_is_kept", "default", "open step( fn( note:step_requests_stop fn)=yes step)!STOP_ITERATION stop=yes",
     "open step( fn( fn)=yes step)!STOP_ITERATION stop=no", "fn)=yes stop=no"},
    // Workers.
    {"worker.never_initialises", "worker", "worker go exit", "begin0 begin1 finalized created init", "created init"},
    {"worker.closes_what_is_not_ready", "worker",
     "begin0 begin1 finalized created rfl=no close sleep created rfl local ready acs0 acs1 constructed exit",
     "begin0 begin1 finalized created rfl=no sleep", "rfl=no sleep"},
    {"worker.sleeps_between_two_looks", "worker",
     "begin0 begin1 finalized created rfl=no close sleep created rfl local ready acs0 acs1 constructed",
     "begin0 begin1 finalized created rfl=no close created", "rfl=no created"},
    {"worker.waits_until_ready", "worker", "worker go exit", "begin0 begin1 finalized created rfl=no acs0",
     "created acs0"},
    // Supervisors.
    {"supervisor.session_is_ready", "supervisor", "finalized reopen made read=0 log:start=0 note:session",
     "finalized reopen created init local note:session", "created note:session"},
    {"supervisor.restored_or_initialised", "supervisor", "finalized made note:session",
     "finalized created restore init local ready note:session", "restore init note:session"},
    {"supervisor.restored_or_initialised", "supervisor", "finalized created restore local ready note:session",
     "finalized created local ready note:session", "created note:session"},
    {"supervisor.start_is_logged_of_a_ready_session", "supervisor",
     "finalized reopen made read=0 log:start=0 note:session", "finalized reopen created init read=0 log:start=0",
     "read=0 log:start=0"},
    {"supervisor.stop_is_logged_after_the_join", "supervisor",
     "finalized reopen made note:session cstop join log:stop wclose close note:exit_clean",
     "finalized reopen made note:session cstop log:stop join", "log:stop"},
    {"supervisor.stop_is_logged_after_the_join", "supervisor", "finalized made note:session cstop join close",
     "finalized reopen made note:session cstop join wclose", "join wclose"},
    {"supervisor.should_stop_after_a_report", "supervisor",
     "finalized made note:session q:cstop!OTHER note:should_stop=yes",
     "finalized made note:session q:cstop!OTHER note:should_stop=no", "q:cstop!OTHER note:should_stop=no"},
    {"supervisor.never_recovers", "supervisor",
     "finalized made note:session cstop join close note:prepare made note:session",
     "finalized made note:session created", "note:session created"},
    {"supervisor.reported_error_comes_out", "supervisor",
     "finalized made note:session q:cstop!OTHER cstop join close note:exit_failed!OTHER",
     "finalized made note:session q:cstop!OTHER cstop join close note:exit_clean", "q:cstop!OTHER note:exit_clean"},
    {"supervisor.reported_error_comes_out", "supervisor",
     "finalized made note:session q:cstop!OTHER note:stop cstop join note:exit_failed!OTHER",
     "finalized made note:session q:cstop!OTHER note:stop cstop join cstop join close note:exit_clean",
     "q:cstop!OTHER note:exit_clean"},
    {"supervisor.clean_stop_ends_well", "supervisor",
     "finalized made note:session q:cstop!OUT_OF_RANGE cstop join close note:exit_clean",
     "finalized made note:session q:cstop!OUT_OF_RANGE cstop join close note:exit_failed!OUT_OF_RANGE",
     "q:cstop!OUT_OF_RANGE note:exit_failed!OUT_OF_RANGE"},
    {"supervisor.session_is_closed_after_the_join", "supervisor",
     "finalized made note:session cstop join close note:exit_clean", "finalized made note:session cstop close",
     "created close"},
    // What a run is made of.
    {"after_run.sees_what_the_hook_fetched", "",
     "open run( before0 fetches0~x:0 before1 run results0~x:0 after0 after1 run)",
     "open run( before0 fetches0~x:0 before1 fetches1~y:0 run results0~y:0 after0", "fetches0~x:0 results0~y:0 after0"},
    {"after_run.sees_what_the_hook_fetched", "", "open", "open run( before0 fetches0~x:0 before1 run after0",
     "fetches0~x:0 after0"},
    {"feed.twice_is_a_complaint", "", "open run( feedC~x=1 before0 feed0~x=2 before1 run)!USAGE",
     "open run( feedC~x=1 before0 feed0~x=2 before1 feedM~x=2 run", "feedC~x=1 feed0~x=2 run"},
    {"feed.twice_is_a_complaint", "", "open run( before0 feed0~x=2 before1 feed1~x=3 run)!USAGE",
     "open run( before0 feed0~x=2 before1 feed1~x=3 run)", "feed0~x=2 feed1~x=3 run)"},
    {"feed.as_given", "",
     "open run( feedC~y=1 before0 feed0~x=2 before1 feedM~x=2 feedM~y=1 run!ABORTED recovery!ABORTED@1 giveup new "
     "before0 before1 feedM~y=1 run after0 after1 run)",
     "open run( feedC~y=1 before0 before1 feedM~y=1 run!ABORTED recovery!ABORTED@1 giveup new before0 before1 run",
     "feedC~y=1 run"},
    {"feed.as_given", "", "open", "open run( feedC~y=1 before0 before1 feedM~y=0 run", "feedC~y=1 run"},
    {"options.merged_as_the_maximum", "",
     "open run( optionC~timeout=5 watchC~a before0 option0~timeout=7 watch0~b before1 optionM~timeout=7 watchM~a "
     "watchM~b run after0 after1 run)",
     "open run( optionC~timeout=5 before0 option0~timeout=7 before1 optionM~timeout=5 run",
     "optionC~timeout=5 option0~timeout=7 run"},
    {"options.merged_as_the_maximum", "", "open", "open run( watchC~a before0 watch0~b before1 watchM~b watchM~a run",
     "watchC~a watch0~b run"},
    // Coordinators.
    {"error.stored_preemption_wins", "",
     "open q:cstop!ABORTED q:coord:stored!ABORTED run( before0 before1!OTHER recovery!ABORTED@1 giveup new round run)",
     "open q:coord:stored!ABORTED run( before0 before1!OTHER run)!OTHER",
     "q:coord:stored!ABORTED before1!OTHER run)!OTHER"},
    {"error.stored_preemption_wins", "singular",
     "open cstop!OTHER coord:stored!OTHER run( before0 before1 run!INTERNAL run)!INTERNAL close(!INTERNAL giveup "
     "unfinalized close)!OTHER",
     "open cstop!OTHER coord:stored!OTHER run( before0 before1 run!INTERNAL run)!OTHER",
     "coord:stored!OTHER run!INTERNAL run)!OTHER"},
    {"stop.stored_preemption_recovers", "",
     "open cstop!ABORTED coord:stored!ABORTED recovery!ABORTED@1 giveup new stop=no",
     "open cstop!ABORTED coord:stored!ABORTED note:run stop=yes", "coord:stored!ABORTED stop=yes"},
    {"construct.never_fails_with_a_preemption", "",
     "begin0 begin1 finalized created init!ABORTED recovery!ABORTED new constructed",
     "begin0 begin1 finalized created init!ABORTED constructed!ABORTED", "init!ABORTED constructed!ABORTED"},
    {"coordinator.keeps_the_first_error", "", "open q:cstop!OTHER q:coord:stored!OTHER",
     "open q:cstop!OTHER q:coord:stored!OTHER q:cstop!INTERNAL q:coord:stored!INTERNAL",
     "q:coord:stored!OTHER q:coord:stored!INTERNAL"},
    {"coordinator.keeps_the_first_error", "", "open", "open coord:joined0 q:coord:stored!OTHER",
     "coord:joined0 q:coord:stored!OTHER"},
    {"coordinator.join_gives_what_is_kept", "", "open q:cstop!OTHER q:coord:stored!OTHER coord:joined0!OTHER",
     "open q:cstop!OTHER q:coord:stored!OTHER coord:joined0", "q:coord:stored!OTHER coord:joined0"},
    {"coordinator.join_waits", "", "open close( ends cstop@1 coord:joins=2 +2 coord:joined1",
     "open close( ends cstop@1 coord:joins=2 +1 coord:joined1", "cstop@1 coord:joins=2 coord:joined1"},
    {"coordinator.join_waits", "", "open", "open coord:joins=2 +2 coord:joined1", "coord:joins=2 coord:joined1"},
    {"supervisor.end_of_input_is_no_error", "supervisor",
     "finalized made note:session q:cstop!OUT_OF_RANGE cstop join close note:exit_clean",
     "finalized made note:session q:cstop!OUT_OF_RANGE q:coord:stored!OUT_OF_RANGE",
     "q:cstop!OUT_OF_RANGE q:coord:stored!OUT_OF_RANGE"},
    {"queue_runner.the_last_task_closes", "", "open queue:started1~q q:queue:ended0~q!OUT_OF_RANGE q:queue:closes~q",
     "open queue:started1~q q:queue:ended0~q!OUT_OF_RANGE", "q:queue:ended0~q!OUT_OF_RANGE"},
    {"queue_runner.the_last_task_closes", "", "open",
     "open queue:started2~q q:queue:ended1~q!OUT_OF_RANGE q:queue:closes~q", "q:queue:closes~q"},
    {"queue_runner.only_errors_are_reported", "", "open queue:started1~q q:cstop!INTERNAL q:queue:ended0~q!INTERNAL",
     "open queue:started1~q q:queue:ended0~q!INTERNAL", "q:queue:ended0~q!INTERNAL"},
    {"queue_runner.only_errors_are_reported", "", "open",
     "open queue:started2~q q:cstop!OUT_OF_RANGE q:queue:ended1~q!OUT_OF_RANGE",
     "q:cstop!OUT_OF_RANGE q:queue:ended1~q!OUT_OF_RANGE"},
    {"queue_runner.the_last_task_closes", "", "open",
     "open queue:started1~q q:queue:ended0~q!INTERNAL q:queue:ended1~q!INTERNAL",
     "queue:started1~q q:queue:ended1~q!INTERNAL"},
    {"queue_runner.only_errors_are_reported", "", "open", "open queue:started1~q q:queue:ended0~q", "q:queue:ended0~q"},
    {"queue_runner.waiting_tasks_are_cancelled", "", "open", "open queue:started1~q q:queue:cancels~q",
     "q:queue:cancels~q"},
    {"coordinator.keeps_the_first_error", "", "open", "open cstop@1 run( q:cstop!OTHER q:coord:stored!OTHER",
     "cstop@1 q:coord:stored!OTHER"},
    {"queue_runner.waiting_tasks_are_cancelled", "", "open queue:started1~q cstop@1 q:queue:cancels~q coord:joined0",
     "open queue:started1~q coord:joined0", "queue:started1~q coord:joined0"},
    // Built-in hooks.
    {"timer.triggers_by_its_period", "",
     "call:begin0 is:every_steps=2 return:begin0 begin1 finalized new constructed run( before0 before1 run call:after0 "
     "asked1=1 set=1 asked0=1 asked0=2 asked1=3 return:after0 after1 run)",
     "call:begin0 is:every_steps=2 return:begin0 begin1 finalized new constructed run( before0 before1 run call:after0 "
     "asked1=1 set=1 asked1=2",
     "set=1 asked1=2"},
    {"timer.triggers_by_its_period", "", "open",
     "call:begin0 is:every_seconds=2 return:begin0 begin1 finalized new constructed run( before0 before1 run "
     "call:after0 asked1=1 set=1 +3 asked0=2",
     "set=1 asked0=2"},
    {"stop_at_step.counts_from_the_first_session", "",
     "begin0 begin1 finalized made call:acs0 is:stops_after=3 read=4 is:stops_at=7 return:acs0 acs1 constructed",
     "begin0 begin1 finalized made call:acs0 is:stops_after=3 read=4 is:stops_at=8",
     "is:stops_after=3 read=4 is:stops_at=8"},
    {"stop_at_step.counts_from_the_first_session", "", "open",
     "begin0 begin1 finalized made call:acs0 is:stops_at=7 return:acs0 acs1 constructed run( before0!ABORTED "
     "recovery!ABORTED@1 giveup made call:acs0 is:stops_at=8",
     "is:stops_at=7 is:stops_at=8"},
    {"stop_at_step.stops_at_the_last_step", "",
     "begin0 begin1 finalized made call:acs0 is:stops_at=2 return:acs0 acs1 constructed run( before0 before1 run "
     "call:after0=1 read=2 return:after0=1 stopreq0 after1 run)",
     "begin0 begin1 finalized made call:acs0 is:stops_at=2 return:acs0 acs1 constructed run( before0 before1 run "
     "call:after0=1 read=2 return:after0",
     "is:stops_at=2 read=2 return:after0"},
    {"stop_at_step.stops_at_the_last_step", "", "open",
     "begin0 begin1 finalized made call:acs0 is:stops_at=2 return:acs0 acs1 constructed run( before0 before1 run "
     "call:after0=1 return:after0",
     "is:stops_at=2 call:after0=1 return:after0"},
    {"stop_at_step.a_finished_training_stops_at_once", "default",
     "begin0 begin1 finalized made call:acs0 read=4 is:stops_at=4 cstop return:acs0 acs1 constructed stop=yes",
     "begin0 begin1 finalized made call:acs0 read=4 is:stops_at=4 return:acs0", "read=4 is:stops_at=4 return:acs0"},
    {"nan.stops_the_training", "",
     "begin0 begin1 finalized made call:acs0 is:watches_for_nan=0 return:acs0 acs1 constructed run( before0 before1 "
     "run "
     "call:after0=nan return:after0=1 stopreq0 after1 run)",
     "begin0 begin1 finalized made call:acs0 is:watches_for_nan=0 return:acs0 acs1 constructed run( before0 before1 "
     "run "
     "call:after0=nan return:after0",
     "call:after0=nan return:after0"},
    {"nan.stops_the_training", "", "open",
     "begin0 begin1 finalized made call:acs0 is:watches_for_nan=1 return:acs0 acs1 constructed run( before0 before1 "
     "run "
     "call:after0=nan return:after0=1",
     "call:after0=nan return:after0=1"},
    {"step_counter.from_the_second_trigger_on", "",
     "call:begin0 is:counts_steps=1 return:begin0 begin1 finalized new constructed run( before0 before1 run "
     "call:after0 "
     "set=1 return:after0 after1 run) run( before0 before1 run call:after0 set=3 summary=3 return:after0 after1 run)",
     "call:begin0 is:counts_steps=1 return:begin0 begin1 finalized new constructed run( before0 before1 run "
     "call:after0 "
     "set=1 summary=1 return:after0",
     "set=1 return:after0"},
    {"summary.written_when_it_is_due", "",
     "call:begin0 is:writes_summaries=1 return:begin0 begin1 finalized new constructed run( before0 fetches0~x:0,y:0, "
     "before1 run results0~x:0,y:0, call:after0 read=1 set=1 summary=1 return:after0 after1 run)",
     "call:begin0 is:writes_summaries=1 return:begin0 begin1 finalized new constructed run( before0 fetches0~x:0,y:0, "
     "before1 run results0~x:0,y:0, call:after0 read=1 set=1 return:after0",
     "call:after0 return:after0"},
    {"summary.written_when_it_is_due", "", "open",
     "call:begin0 is:writes_summaries=1 return:begin0 begin1 finalized new constructed run( before0 fetches0~x:0,y:0, "
     "before1 run results0~x:0,y:0, call:after0 read=1 set=1 summary=2",
     "read=1 summary=2"},
    {"logging.counts_its_own_runs", "",
     "call:begin0 is:logs=1 return:begin0 begin1 finalized new constructed run( call:before0 asked1=0 return:before0 "
     "before1 run call:after0 set=0 return:after0 after1 run)",
     "call:begin0 is:logs=1 return:begin0 begin1 finalized new constructed run( call:before0 asked1=0 return:before0 "
     "before1 run after0",
     "after0 after0"},
    {"global_step_waiter.waits_once", "",
     "call:begin0 is:waits_for_step=3 return:begin0 begin1 finalized new constructed run( call:before0 read=2 sleep "
     "read=3 return:before0 before1 run after0 after1 run)",
     "call:begin0 is:waits_for_step=3 return:begin0 begin1 finalized new constructed run( call:before0 read=2 "
     "return:before0",
     "is:waits_for_step=3 read=2 return:before0"},
    {"profiler.never_the_first_run", "",
     "call:begin0 is:profiles return:begin0 begin1 finalized new constructed go run( call:before0 asked1=2 "
     "return:before0 option0~trace_level=3 before1 optionM~trace_level=3 run call:after0 read=2 metadata~step_2 "
     "return:after0 after1 run)",
     "call:begin0 is:profiles return:begin0 begin1 finalized new constructed run( before0 option0~trace_level=3",
     "option0~trace_level=3"},
    // Savers.
    {"save.when_a_session_is_created", "",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saved=7 set=7 "
     "return:acs0 "
     "acs1 constructed",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 return:acs0",
     "created read=7 return:acs0"},
    {"save.when_a_session_is_created", "", "open",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saved=7 "
     "return:acs0",
     "saves=7 return:acs0"},
    {"save.named_by_its_step", "",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saver:saves~p-7 "
     "saved=7 set=7 return:acs0 acs1 constructed",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saver:saves~p-8",
     "saves=7 saver:saves~p-8"},
    {"save.when_it_is_due", "",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saved=7 set=7 "
     "return:acs0 "
     "acs1 constructed run( before0 before1 run call:after0=7 asked1=9 read=8 asked1=8 set=8 saves=8 saved=8 "
     "return:after0 after1 run)",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saved=7 set=7 "
     "return:acs0 "
     "acs1 constructed run( before0 before1 run call:after0=7 asked1=9 read=8 asked1=8 return:after0",
     "read=8 asked1=8 return:after0"},
    {"save.when_it_is_due", "", "open",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saved=7 set=7 "
     "return:acs0 "
     "acs1 constructed run( before0 before1 run call:after0=7 asked1=9 read=8 asked1=8 saves=8",
     "read=8 saves=8"},
    {"save.at_the_end_once", "",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saved=7 set=7 "
     "return:acs0 acs1 constructed run( before0 before1 run call:after0=7 asked0=9 return:after0 after1 run) close( "
     "call:end0 read=8 saves=8 saved=8 return:end0 end1 giveup unfinalized "
     "close)",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saved=7 set=7 "
     "return:acs0 acs1 constructed close( call:end0 read=7 saves=7 saved=7 return:end0",
     "set=7 read=7 saves=7"},
    {"save.at_the_end_once", "", "open",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saved=7 set=7 "
     "return:acs0 acs1 constructed close( call:end0 read=8 return:end0",
     "set=7 read=8 return:end0"},
    {"save.passed_over_only_after_nan", "default",
     "begin0 begin1 finalized made acs0 call:acs1 is:watches_for_nan=1 return:acs1 constructed run( before0 before1 "
     "run "
     "call:after0 keeps_nothing=8 return:after0 call:after1=nan return:after1!NAN_LOSS run)!NAN_LOSS run( before0 "
     "before1 run call:after0 keeps_nothing=9 return:after0 call:after1=2 return:after1 run)",
     "begin0 begin1 finalized made call:acs0 is:watches_for_nan=1 return:acs0 acs1 constructed run( before0 before1 "
     "run "
     "call:after0=2 return:after0 call:after1 keeps_nothing=8",
     "keeps_nothing=8"},
    {"save.passed_over_only_after_nan", "default", "open",
     "begin0 begin1 finalized made acs0 call:acs1 is:watches_for_nan=1 return:acs1 constructed run( before0 before1 "
     "run "
     "call:after0 keeps_nothing=8 return:after0 call:after1=2",
     "keeps_nothing=8 call:after1=2"},
    {"save.passed_over_only_after_nan", "default",
     "begin0 begin1 finalized made acs0 call:acs1 is:watches_for_nan=1 return:acs1 constructed run( before0 before1 "
     "run "
     "after0!OTHER run)!OTHER run( before0 before1 run call:after0 keeps_nothing=9 return:after0 call:after1=2 "
     "return:after1 run)",
     "begin0 begin1 finalized made acs0 call:acs1 is:watches_for_nan=1 return:acs1 constructed run( before0 before1 "
     "run "
     "after0 call:after1=2 return:after1 run) close( call:end0 keeps_nothing=9",
     "keeps_nothing=9"},
    {"listener.each_in_its_place", "",
     "call:begin0 is:saves_checkpoints1 listener:begin0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 "
     "listener:before0=7 beside=7 set=7 return:acs0 acs1 constructed run( before0 before1 run call:after0=7 tells=7 "
     "log:checkpoint=7 listener:after0=7 saved=7 asked0=9 return:after0 after1 run)",
     "call:begin0 is:saves_checkpoints2 listener:begin0 listener:begin1 return:begin0 begin1 finalized made call:acs0 "
     "read=7 saves=7 listener:before0=7 beside=7",
     "saves=7 beside=7"},
    {"listener.each_in_its_place", "",
     "call:begin0 is:saves_checkpoints2 listener:begin0 listener:begin1 return:begin0 begin1 finalized made call:acs0 "
     "read=7 saves=7 listener:before0=7 listener:before1=7 save log:checkpoint=7 listener:after0=7 listener:after1=7 "
     "saved=7 set=7 return:acs0 acs1 constructed",
     "call:begin0 is:saves_checkpoints1 listener:begin0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 "
     "listener:before0=7 save listener:after0=7",
     "saves=7 listener:after0=7"},
    {"listener.each_in_its_place", "", "open",
     "call:begin0 is:saves_checkpoints2 listener:begin0 listener:begin1 return:begin0 begin1 finalized made call:acs0 "
     "read=7 saves=7 listener:before1=7",
     "saves=7 listener:before1=7"},
    {"listener.stop_is_taken", "",
     "call:begin0 is:saves_checkpoints1 listener:begin0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 "
     "listener:before0=7 save log:checkpoint=7 listener:after0=7 saved=7 set=7 return:acs0 acs1 constructed run( "
     "before0 "
     "before1 run call:after0=7 asked1=9 read=8 asked1=8 set=8 saves=8 listener:before0=8 save log:checkpoint=8 "
     "listener:after0=8 note:listener_requests_stop saved=8 return:after0=1",
     "call:begin0 is:saves_checkpoints1 listener:begin0 return:begin0 begin1 finalized new constructed run( before0 "
     "before1 run call:after0=7 asked1=9 read=8 asked1=8 set=8 saves=8 listener:before0=8 save log:checkpoint=8 "
     "listener:after0=8 note:listener_requests_stop saved=8 return:after0",
     "note:listener_requests_stop return:after0"},
    {"saver.writes_in_order", "",
     "open run( before0 before1 run call:after0 saver:saves~p-3 save saver:written~p-3 saver:lists1~p-3;=5 "
     "saver:listed "
     "saver:meta~p-3 return:after0 after1 run)",
     "open run( before0 before1 run call:after0 saver:saves~p-3 save!INTERNAL saver:written!INTERNAL "
     "saver:lists1~p-3;=5",
     "saver:saves~p-3 saver:written!INTERNAL saver:lists1~p-3;=5"},
    {"saver.writes_in_order", "", "open",
     "open run( before0 before1 run call:after0 saver:saves~p-3 save saver:written~p-3 saver:lists2~p-3;p-2;=5",
     "saver:written~p-3 saver:lists2~p-3;p-2;=5"},
    {"keep.list_is_never_too_long", "",
     "open run( before0 before1 run call:after0 saver:saves~p-3 save saver:written~p-3 saver:lists1~p-3;=1 "
     "saver:listed "
     "return:after0 after1 run)",
     "open run( before0 before1 run call:after0 saver:saves~p-3 saver:written~p-3 saver:lists1~p-3;=1 saver:listed "
     "saver:saves~p-4 saver:written~p-4 saver:lists2~p-3;p-4;=1",
     "saver:lists2~p-3;p-4;=1"},
    {"keep.deletes_nothing_that_it_lists", "",
     "open run( before0 before1 run call:after0 saver:saves~p-3 save saver:written~p-3 saver:lists1~p-3;=1 "
     "saver:listed "
     "saver:deletes~p-2=0 return:after0 after1 run)",
     "open run( before0 before1 run call:after0 saver:saves~p-3 save saver:written~p-3 saver:lists1~p-3;=1 "
     "saver:listed "
     "saver:deletes~p-3=0",
     "saver:lists1~p-3;=1 saver:deletes~p-3=0"},
};

}  // namespace

RunFacts FactsOf(const RuleCase& rule_case) {
  const std::string_view words = rule_case.facts;
  return {.recovers = words != "singular" && words != "supervisor",
          .tensorflow = words != "default",
          .by_default = words == "default",
          .any_clean_end = words != "default",
          .supervisor = words == "supervisor",
          .worker = words == "worker",
          .hooks = 2,
          .init_fn = words == "init_fn",
          .queue = words == "queue",
          .may_restore = words == "checkpoint",
          .has_checkpoint = words == "checkpoint"};
}

std::span<const RuleCase> RuleCases() { return kCases; }

}  // namespace vigil::properties
