// Typed events as players send them (docs/players.md), both ways.
//
// An event is an object; its fields are those of Event, each left out where it has its default:
//   {"e":"hook_call","call":"before_run","name":"a","index":0,"session":1}
//   {"e":"session_call","call":"run","session":1,"code":"ABORTED","at":3000000000}
// or a line of a recording ("session 1 run failed ABORTED"), alone or as the "line" of an object that adds to it what
// the line does not say ({"line":"hook a before_run session=1","index":0}).
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_PLAYER_EVENT_JSON_H_
#define VIGIL_REPLAYS_PLAYER_EVENT_JSON_H_

#include <optional>
#include <string_view>

#include "vigil/core/base/event.h"
#include "vigil/core/base/time.h"
#include "vigil/replays/format/fields.h"
#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/sim/kernel/trace.h"

namespace vigil::replays {

// Of the task that uses the session: what an event's is that says nothing of it.
inline constexpr std::string_view kPlayerNode = "chief";
inline constexpr std::string_view kPlayerTask = "chief/main";

// "hook_call", "run_part", ...
std::string_view EventKindName(EventKind kind);
std::optional<EventKind> EventKindFromName(std::string_view name);

// A list. `start`: of the world; events say nanoseconds since then.
void PrintEvents(const sim::Trace& trace, Time start, JsonWriter& w);

// Appends what the list says. Fails at the first event that is none, or that makes no sense in a play of `scenario`:
// time that goes back, a hook that is not there, a session that was never created.
void ReadEvents(const Field& list, const Scenario& scenario, Time start, sim::Trace& trace);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAYER_EVENT_JSON_H_
