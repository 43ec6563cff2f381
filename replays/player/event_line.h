// A line of a recording, read back into the event that it is the text of: the inverse of TextOf (replays/show/text.h).
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_PLAYER_EVENT_LINE_H_
#define VIGIL_REPLAYS_PLAYER_EVENT_LINE_H_

#include <string>
#include <string_view>

#include "vigil/core/base/event.h"

namespace vigil::replays {

// TextOf() of it is the line again, whatever it says; a line of no known form is a note of that text. What lines do not
// say is missing: numbers of hooks, times. The subject lies in `subject`.
Event EventOfLine(std::string_view line, std::string& subject);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAYER_EVENT_LINE_H_
