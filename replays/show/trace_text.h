// The text of a traced event: the decision and nothing else. Numbers that differ from run to run (steps, seconds slept,
// what a hook fetched) are left out; codes, answers, order and session numbers stay.
//
// Thread safety: a pure function.
#ifndef VIGIL_REPLAYS_SHOW_TRACE_TEXT_H_
#define VIGIL_REPLAYS_SHOW_TRACE_TEXT_H_

#include <string>

#include "vigil/core/base/event.h"

namespace vigil::replays {

std::string TraceLine(const Event& event);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_SHOW_TRACE_TEXT_H_
