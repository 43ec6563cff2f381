// A timeline in Chrome's trace format, which ui.perfetto.dev and chrome://tracing open.
//
// Processes are nodes, threads are lanes, slices what lasts, arrows messages (from and to the lane "network" of a
// node). Times are virtual microseconds. What happened at one instant is drawn a microsecond apart, in its order;
// nothing goes back for that. (core/train/hooks/chrome_trace.h writes the same format, of a traced run's devices and
// ops; it knows nothing of what is above.) Thread safety: a pure function. Source: "Trace Event Format" of the catapult
// project.
#ifndef VIGIL_REPLAYS_SHOW_PERFETTO_H_
#define VIGIL_REPLAYS_SHOW_PERFETTO_H_

#include <string>

#include "vigil/replays/show/timeline.h"

namespace vigil::replays {

std::string PerfettoJson(const Timeline& timeline);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_SHOW_PERFETTO_H_
