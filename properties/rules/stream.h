// Event streams written as words, for the tests of the rules.
//
//   begin0 before1 end0@none a hook's call and its return; the hook's number, the session it sees (default: the newest;
//                                 "none"; "1c" = session 1, closed)
//   begin1!ABORTED                ... which fails
//   call:after0 return:after0     one of the two alone
//   stopreq0                      the hook requested a stop
//   finalized unfinalized
//   created created@3 created!INTERNAL
//   init restore rfl local ready run raw read close save    a call on the newest session; @2, !CODE, ready=no
//   init_fn queues cstop cstop!OTHER join sleep recovery!ABORTED@1
//   run( run) run)!INTERNAL  step( step)  close( close(!OTHER close)  stop=yes stop!ABORTED
//   note:construct_failed note:should_stop=no note:step_requests_stop note:step_raises!OTHER note:run
//   constructed fn( fn(@1 fn)=yes inner( inner) the construction has ended; a step function; its run_with_hooks final
//   log:start=1 log:checkpoint=3 log:stop flush wclose reopen listener:begin listener:before=3 listener:after=3
//   note:session note:prepare note:stop note:close note:exit_clean note:exit_failed!OTHER note:sigterm
// Details, whose subject stands behind ~ (";" is a line break, "," a space):
//   fetches0~x:0, results0~x:0, feed0~x:0=7 feedC~x:0=7 feedM~x:0=7 (of the caller, merged) option0~timeout_in_ms=5
//   watchC~x:0 is:stops_at=5 is:saves_checkpoints2 asked1=7 asked0=7 set=7 saves=3 saved keeps_nothing=3 a hook says;
//   asked1 = "yes" saver:saves~p-3 saver:written~p-3 saver:lists2~p-2;p-3;=5 saver:listed saver:deletes~p-1=1
//   saver:meta~p-3 coord:stored!ABORTED coord:cleared coord:joins=120 coord:joined0 queue:started2~q queue:ended0~q
//   queue:closes~q +2 two seconds later q:cstop the same by another task
// Words that stand for several, for a list of two hooks:
//   open  = begin0 begin1 finalized new constructed      worker = the same of one that initialises nothing
//          new = made acs0 acs1       made = created init rfl local ready
//   round = before0 before1 run after0 after1   go = run( round run)       ends = end0 end1
//   giveup = cstop join close                   exit = close( ends giveup unfinalized close)
#ifndef VIGIL_PROPERTIES_RULES_STREAM_H_
#define VIGIL_PROPERTIES_RULES_STREAM_H_

#include <string>
#include <string_view>
#include <vector>

#include "vigil/sim/kernel/trace.h"

namespace vigil::properties {

struct Stream {
  sim::Trace trace;
  std::vector<std::string> words;  // of each event: the word that it came from
};

// REQUIRES: words as above.
Stream ParseStream(std::string_view text);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_RULES_STREAM_H_
