// Typed events as players send them (docs/players.md), both ways.
//
// An event is an object; its fields are those of Event, each left out where it has its default:
//   {"e":"hook_call","call":"before_run","name":"a","index":0,"session":1}
//   {"e":"session_call","call":"run","session":1,"code":"ABORTED","at":3000000000}
// or a line of a recording ("session 1 run failed ABORTED"), alone or as the "line" of an object that adds to it what
// the line does not say ({"line":"hook a before_run session=1","index":0}).
//
// Thread safety: pure functions; a reader belongs to one thread.
#ifndef VIGIL_REPLAYS_PLAYER_EVENT_JSON_H_
#define VIGIL_REPLAYS_PLAYER_EVENT_JSON_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

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

// Who may be named by the events of a play.
struct EventCast {
  std::size_t hooks = 0;                     // in the list
  std::set<std::string, std::less<>> names;  // of hooks
  std::set<std::string, std::less<>> listeners;
};
EventCast CastOf(const Scenario& scenario);

// One event after the other, appended to `trace`, which must outlive this. Fails at one that is none, or that makes no
// sense: time that goes back, a hook that is not there, a session that was never created.
class EventReader {
 public:
  EventReader(EventCast cast, Time start, sim::Trace& trace) : cast_(std::move(cast)), start_(start), trace_(trace) {}

  void Read(const Field& item);

 private:
  void ReadObject(const Field& item, Event& event, std::string& node, std::string& task);
  void ReadFields(Fields& fields, Event& event);
  void Check(const Event& event, const Field& field);
  void CheckSession(const Event& event, const Field& field) const;

  EventCast cast_;
  const Time start_;
  sim::Trace& trace_;
  std::int64_t created_ = 0;  // sessions
  std::int64_t at_ = 0;
  std::string subject_;
};

// A list. `start`: of the world; events say nanoseconds since then.
void PrintEvents(const sim::Trace& trace, Time start, JsonWriter& w);

// Appends what the list says, of a play of `scenario`.
void ReadEvents(const Field& list, const Scenario& scenario, Time start, sim::Trace& trace);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAYER_EVENT_JSON_H_
