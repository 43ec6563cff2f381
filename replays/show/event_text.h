// Any event in one line, for people.
//
// Thread safety: a pure function.
#ifndef VIGIL_REPLAYS_SHOW_EVENT_TEXT_H_
#define VIGIL_REPLAYS_SHOW_EVENT_TEXT_H_

#include <string>

#include "vigil/core/base/event.h"

namespace vigil::replays {

// As recordings have it (text.h), or as traces have it where they have none (trace_text.h).
std::string EventText(const Event& event);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_SHOW_EVENT_TEXT_H_
