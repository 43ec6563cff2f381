#include "vigil/replays/traces/trace_event_reader.h"

#include <string_view>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil::replays {
namespace {

absl::Status Damaged(std::string_view what) { return MakeStatus(Code::kDataLoss, what); }

// How many values `call` may have.
std::uint32_t CallsOf(EventKind kind) {
  const std::uint8_t names = CallNames(kind);
  return names == 0 ? 256 : names;
}

}  // namespace

Event EventIn(const proto::TraceEvent& record) {
  return {.kind = static_cast<EventKind>(record.kind()),
          .code = static_cast<Code>(record.status()),
          .call = static_cast<std::uint8_t>(record.call()),
          .closed = record.closed(),
          .has_value = record.has_value(),
          .index = record.index(),
          .session = record.session(),
          .value = record.value(),
          .subject = record.subject()};
}

absl::Status TraceEventReader::Add(const proto::TraceEvent& record) {
  if (out_.complete) return Damaged("an event after the end");
  if (record.end()) {
    out_.complete = true;
    return absl::OkStatus();
  }
  if (record.has_part()) return BeginPart(record);
  VIGIL_ASSIGN_OR_RETURN(Event event, CheckedEvent(record));
  ++events_;
  last_ = Duration(record.time_ns());
  event.session = SessionOf(event.session);
  rest_.See(event, record.task());
  if (IsOfTheUser(event)) {
    user_ = record.task();
    has_user_ = true;
  }
  if (!has_user_ || user_ == record.task()) {
    event.subject = *out_.subjects.emplace(record.subject()).first;
    out_.events.push_back({event, last_ - left_out_time_});
  } else if (event.kind == EventKind::kCoordinatorRequestStop && event.session >= 0) {
    out_.requests.push_back({out_.events.size(), event.session, event.code, last_ - left_out_time_});
  }
  return absl::OkStatus();
}

// Another file of the trace begins. If events were left out before it, the session that is used behind them takes the
// place of that which was used before.
absl::Status TraceEventReader::BeginPart(const proto::TraceEvent& record) {
  const proto::TracePart& part = record.part();
  if (part.start_ns() != out_.start.since_epoch.count()) return Damaged("a part of another trace: remove it");
  if (part.number() <= part_) return Damaged("a part that is not the next one");
  if (part.events_before() < events_ || part.session() < 1) return Damaged("a part that cannot follow here");
  part_ = part.number();
  if (part.events_before() == events_) return absl::OkStatus();
  if (!rest_.at_rest()) return Damaged("events are left out before it, and the session was not at rest");
  left_out_ += part.events_before() - events_;
  events_ = part.events_before();
  left_out_time_ += Duration(record.time_ns()) - last_;
  last_ = Duration(record.time_ns());
  first_session_ = part.session();
  left_out_sessions_ = part.session() - rest_.session();
  return absl::OkStatus();
}

// Numbers behind what was left out go on from those before. Sessions of the part that was left out have names of their
// own.
std::int64_t TraceEventReader::SessionOf(std::int64_t recorded) const {
  if (recorded <= 0) return recorded;
  return recorded >= first_session_ ? recorded - left_out_sessions_ : -recorded;
}

absl::StatusOr<Event> TraceEventReader::CheckedEvent(const proto::TraceEvent& record) const {
  if (record.kind() >= static_cast<std::uint32_t>(kEventKinds)) return Damaged("an event of an unknown kind");
  if (record.status() > static_cast<std::uint32_t>(Code::kNanLoss)) return Damaged("an event with an unknown code");
  const Event event = EventIn(record);
  if (record.call() >= CallsOf(event.kind)) return Damaged("an event of an unknown call");
  if (event.kind == EventKind::kHookCall &&
      (event.index < 0 || event.index >= static_cast<std::int32_t>(out_.hooks.size()))) {
    return Damaged("a call of a hook that the session does not have");
  }
  return event;
}

}  // namespace vigil::replays
