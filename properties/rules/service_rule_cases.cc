// Those of what works for sessions: coordinators, queue runners, the hooks that ship with the library, savers.
#include "vigil/properties/rules/rule_cases.h"

namespace vigil::properties {

namespace {

constexpr RuleCase kServiceCases[] = {
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
    {"logging.counts_its_own_runs", "",
     "call:begin0 is:logs1=0 return:begin0 begin1 finalized new constructed close( call:end0 raw return:end0 end1 "
     "giveup unfinalized close)",
     "call:begin0 is:logs1=0 return:begin0 begin1 finalized new constructed close( end0", "is:logs1=0 end0"},
    {"logging.counts_its_own_runs", "", "open exit",
     "call:begin0 is:logs0=1 return:begin0 begin1 finalized new constructed close( call:end0 raw return:end0",
     "is:logs0=1 raw return:end0"},
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
    {"save.when_it_is_due", "", "open",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saved=7 set=7 "
     "return:acs0 acs1 constructed run( before0 before1 run call:after0=7 asked1=9 read=8 return:after0",
     "asked1=9 read=8 return:after0"},
    {"save.at_the_end_once", "", "open",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 saved=7 set=7 "
     "return:acs0 acs1 constructed close( call:end0 return:end0",
     "call:end0 return:end0"},
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
    {"save.beside_told_in_order", "",
     "call:begin0 is:saves_checkpoints1 listener:begin0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 "
     "listener:before0=7 beside=7 set=7 return:acs0 acs1 constructed run( before0 before1 run call:after0=7 tells=7 "
     "log:checkpoint=7 listener:after0=7 saved=7 asked0=9 return:after0 after1 run)",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 beside=7 set=7 "
     "return:acs0 acs1 constructed run( before0 before1 run call:after0=7 asked1=8 read=8 asked1=8 set=8 saves=8 "
     "beside=8 "
     "tells=8",
     "beside=7 tells=8"},
    {"save.beside_told_in_order", "", "open",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 beside=7 set=7 "
     "return:acs0 acs1 constructed close( call:end0 read=7 return:end0",
     "beside=7 return:end0"},
    // What an earlier life has not told of, is not this one's.
    {"save.beside_told_in_order", "", "open",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 beside=7 set=7 "
     "return:acs0 acs1 constructed close(!OTHER giveup unfinalized close)!OTHER "
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=9 saves=9 beside=9 set=9 "
     "return:acs0 acs1 constructed run( before0 before1 run call:after0=9 tells=8",
     "beside=9 tells=8"},
    {"save.beside_one_waits", "", "open",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 beside=7 set=7 "
     "return:acs0 acs1 constructed close(!OTHER giveup unfinalized close)!OTHER "
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=8 saves=8 beside=8 set=8 "
     "return:acs0 acs1 constructed run( before0 before1 run call:after0=8 asked1=9 read=9 asked1=9 set=9 saves=9 "
     "beside=9 return:after0 after1 run) run( before0 before1 run call:after0=9 asked1=10 read=10 asked1=10 set=10 "
     "saves=10 beside=10 return:after0",
     "beside=8 return:after0"},
    {"save.beside_one_waits", "",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 beside=7 set=7 "
     "return:acs0 acs1 constructed run( before0 before1 run call:after0=7 asked1=8 read=8 asked1=8 set=8 saves=8 "
     "beside=8 return:after0 after1 run) run( before0 before1 run call:after0=8 tells=7 log:checkpoint=7 saved=7 "
     "asked1=9 read=9 asked1=9 set=9 saves=9 beside=9 return:after0 after1 run)",
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 beside=7 set=7 "
     "return:acs0 acs1 constructed run( before0 before1 run call:after0=7 asked1=8 read=8 asked1=8 set=8 saves=8 "
     "beside=8 return:after0 after1 run) run( before0 before1 run call:after0=8 asked1=9 read=9 asked1=9 set=9 saves=9 "
     "beside=9 return:after0",
     "beside=7 return:after0"},
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
     "call:begin0 is:saves_checkpoints0 return:begin0 begin1 finalized made call:acs0 read=7 saves=7 log:checkpoint=7 "
     "save",
     "saves=7 save"},
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
    {"saver.writes_in_order", "", "open",
     "open run( before0 before1 run call:after0 saver:saves~p-3 save saver:written~p-3 saver:meta~p-3 "
     "saver:lists1~p-3;=5",
     "saver:meta~p-3 saver:lists1~p-3;=5"},
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

std::span<const RuleCase> ServiceRuleCases() { return kServiceCases; }

}  // namespace vigil::properties
