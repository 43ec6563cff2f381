// Plays a trace: the production session layer again, in a simulated world, between stand-ins that answer as recorded.
//
// Stand-ins: the raw sessions (and what makes them), the hooks, the init function, the starter of queue runners, the
// checkpoint directory, the clock, and the caller: each does next what the recording says that it did next. What the
// layer itself does is not told to it: its events are compared with the recorded ones, one by one. From the first that
// differs on, every stand-in says OK; the play ends a few events later.
//
// A stop that another task asked for takes effect a moment after it was recorded. Which decisions of the session's task
// were made in that moment cannot be told from a trace: a play that fits is the one that counts.
//
// Thread safety: a function without state.
#ifndef VIGIL_REPLAYS_PLAY_TRACE_PLAYER_H_
#define VIGIL_REPLAYS_PLAY_TRACE_PLAYER_H_

#include "vigil/replays/format/trace_spec.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/kernel/fiber.h"

namespace vigil::replays {

Outcome PlayTrace(const TraceSpec& trace, sim::StackPool& stacks);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_TRACE_PLAYER_H_
