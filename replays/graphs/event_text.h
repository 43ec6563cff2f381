// An event of an events file in one line, as this library understands it: what it is, its step, its fields. The words
// are those of interop/events_exchange.py, in which TensorFlow's reader says the same.
//
// Thread safety: a pure function.
#ifndef VIGIL_REPLAYS_GRAPHS_EVENT_TEXT_H_
#define VIGIL_REPLAYS_GRAPHS_EVENT_TEXT_H_

#include <string>

#include "vigil/core/io/event.pb.h"

namespace vigil {

// "summary step=10 tag=loss value=0.5 ..."; of a graph that cannot be read "broken graph".
std::string EventText(const proto::Event& event);

}  // namespace vigil

#endif  // VIGIL_REPLAYS_GRAPHS_EVENT_TEXT_H_
