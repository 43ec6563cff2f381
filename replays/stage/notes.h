// What a scenario's caller, its probes and its listeners do, and what was logged, as events (EventKind::kNote): said by
// them, not by the session layer.
//
// The note's kind is in Event::call; the other fields as each kind says. text.h turns them into lines.
#ifndef VIGIL_REPLAYS_STAGE_NOTES_H_
#define VIGIL_REPLAYS_STAGE_NOTES_H_

#include <cstdint>

namespace vigil::replays {

enum class Note : std::uint8_t {
  // subject = the probe's name
  kHookRaises,  // code
  kHookRequestsStop,
  kHookReports,  // code
  kHookStopsCoordinator,
  kHookStartsThread,  // value = how many seconds it is deaf
  kHookSees,          // subject = the whole line
  // subject = the listener's name
  kListenerRaises,  // code
  kListenerRequestsStop,
  kLog,  // a line was logged that recordings have: subject = the line, cut as theirs are; index = its severity
  // the caller
  kRun,
  kResult,      // value = step, session = fed
  kText,        // subject = the whole line: values and options of any shape
  kShouldStop,  // value = 0 or 1
  kClose,
  kClosed,
  kRaises,  // code
  kCaught,  // code
  kRunStepFn,
  kStep,        // value = number of the call, session and closed = the raw session it sees
  kStepResult,  // value = step, session = fed
  kStepRequestsStop,
  kStepRaises,  // code
  kRunStepFnDone,
  kClock,  // value = seconds since the start
  // the caller of a supervisor
  kPrepare,
  kSession,  // a prepare has worked: session and closed = what came of it
  kStop,
  kStopped,
  kServices,      // have been started: value = how many; none without a logdir (has_value)
  kServiceStart,  // subject = the service
  kServiceLoop,   // subject = the service
  kCalled,        // what start_loop started: value = seconds since the start
  // how the scenario ended
  kHooksRejected,    // code
  kConstructFailed,  // code
  kExitClean,
  kExitFailed,   // code
  kAfterFailed,  // code
  kSigterm,      // the process is told to end
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_NOTES_H_
