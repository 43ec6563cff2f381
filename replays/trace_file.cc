#include "vigil/replays/trace_file.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/files.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/trace_writer.h"
#include "vigil/replays/escape.h"
#include "vigil/replays/trace_spec.h"
#include "vigil/replays/trace_text.h"

namespace vigil::replays {
namespace {

absl::Status NoTrace(std::string_view why) { return MakeStatus(Code::kInvalidArgument, why); }
absl::Status Damaged(std::string_view what) { return MakeStatus(Code::kDataLoss, what); }

// Of kinds that carry a name in `call`, how many names there are.
std::uint32_t CallsOf(EventKind kind) {
  switch (kind) {
    case EventKind::kHookCall:
    case EventKind::kHookReturn:
      return static_cast<std::uint32_t>(HookMethod::kEnd) + 1;
    case EventKind::kSessionCall:
      return static_cast<std::uint32_t>(CallKind::kClose) + 1;
    case EventKind::kWriterCall:
      return static_cast<std::uint32_t>(WriterCall::kReopen) + 1;
    case EventKind::kListenerCall:
      return static_cast<std::uint32_t>(ListenerMethod::kEnd) + 1;
    case EventKind::kSupervisorCall:
    case EventKind::kSupervisorReturn:
      return static_cast<std::uint32_t>(SupervisorMethod::kWriteGraph) + 1;
    default:
      return 256;
  }
}

// Whether only the task that uses the session emits such events. The others may come from tasks of its queue runners, hooks and
// services.
bool IsOfTheUser(const Event& event) {
  switch (event.kind) {
    case EventKind::kSupervisorCall:
    case EventKind::kSupervisorReturn:
      return event.call <= static_cast<std::uint8_t>(SupervisorMethod::kStop);
    case EventKind::kSessionCall:
    case EventKind::kCoordinatorRequestStop:
    case EventKind::kCoordinatorJoin:
    case EventKind::kSleep:
    case EventKind::kWriterCall:
    case EventKind::kListenerCall:
    case EventKind::kNote:
      return false;
    default:
      return true;
  }
}

void ReadSupervisor(const proto::TraceSupervisor& in, SupervisorSpec& out) {
  using Writer = SupervisorSpec::Writer;
  using SaverKind = SupervisorSpec::SaverKind;
  out.recovery_wait = Duration(in.recovery_wait_ns());
  if (in.writer() == proto::TraceSupervisor::OWN_WRITER) out.writer = Writer::kOwn;
  if (in.writer() == proto::TraceSupervisor::GIVEN_WRITER) out.writer = Writer::kGiven;
  if (in.saver() == proto::TraceSupervisor::SAVER) out.saver = SaverKind::kSome;
  if (in.saver() == proto::TraceSupervisor::EMPTY_SAVER) out.saver = SaverKind::kEmpty;
  out.has_init_op = in.has_init_op();
  out.has_local_init_op = in.has_local_init_op();
  out.has_ready_op = in.has_ready_op();
  out.has_ready_for_local_init_op = in.has_ready_for_local_init_op();
  out.has_global_step = in.has_global_step();
}

absl::Status ReadHeader(const proto::TraceHeader& header, TraceSpec& out) {
  if (header.version() != kTraceVersion) {
    return NoTrace(
        fmt::format("a trace of version {}; this program reads version {}", header.version(), kTraceVersion));
  }
  if (header.kind() == proto::TraceHeader::SUPERVISOR) {
    ReadSupervisor(header.supervisor(), out.supervisor.emplace());
  } else if (header.kind() != proto::TraceHeader::MONITORED && header.kind() != proto::TraceHeader::SINGULAR) {
    return NoTrace("a trace of an unknown kind of session");
  }
  out.recovers = header.kind() == proto::TraceHeader::MONITORED;
  out.is_chief = header.is_chief();
  for (const proto::TraceHook& hook : header.hooks()) out.hooks.push_back(hook.name());
  // A switch that the trace does not name was not there yet: as TensorFlow.
  out.behaviour = Behaviour::TensorFlow();
  for (const proto::TraceSwitch& each : header.behaviour()) {
    bool known = false;
    for (const BehaviourSwitch& ours : BehaviourSwitches()) {
      if (ours.name != each.name()) continue;
      out.behaviour.*ours.value = each.on();
      known = true;
    }
    if (!known && each.on())
      return NoTrace(fmt::format("needs the switch {}, which is unknown here", Quoted(each.name())));
  }
  out.stop_grace_period = Duration(header.stop_grace_period_ns());
  if (header.has_max_wait()) out.max_wait = Duration(header.max_wait_ns());
  out.has_checkpoint_dir = header.has_checkpoint_dir();
  out.has_checkpoint_filename = header.has_checkpoint_filename();
  out.has_init_fn = header.has_init_fn();
  out.graph_is_finalized = header.graph_is_finalized();
  out.start = {Duration(header.start_ns())};
  return absl::OkStatus();
}

class EventReader {
 public:
  explicit EventReader(TraceSpec& out) : out_(out) {}

  absl::Status Add(const proto::TraceEvent& record) {
    if (out_.complete) return Damaged("an event after the end");
    if (record.end()) {
      out_.complete = true;
      return absl::OkStatus();
    }
    VIGIL_ASSIGN_OR_RETURN(Event event, EventOf(record));
    if (IsOfTheUser(event)) {
      user_ = record.task();
      has_user_ = true;
    }
    if (!has_user_ || user_ == record.task()) {
      event.subject = *out_.subjects.emplace(record.subject()).first;
      out_.events.push_back({event, Duration(record.time_ns())});
    } else if (event.kind == EventKind::kCoordinatorRequestStop) {
      out_.requests.push_back({out_.events.size(), event.session, event.code, Duration(record.time_ns())});
    }
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<Event> EventOf(const proto::TraceEvent& record) const {
    if (record.kind() >= static_cast<std::uint32_t>(kEventKinds)) return Damaged("an event of an unknown kind");
    if (record.status() > static_cast<std::uint32_t>(Code::kNanLoss)) return Damaged("an event with an unknown code");
    Event event{.kind = static_cast<EventKind>(record.kind()),
                .code = static_cast<Code>(record.status()),
                .call = static_cast<std::uint8_t>(record.call()),
                .closed = record.closed(),
                .has_value = record.has_value(),
                .index = record.index(),
                .session = record.session(),
                .value = record.value()};
    if (record.call() >= CallsOf(event.kind)) return Damaged("an event of an unknown call");
    if (event.kind == EventKind::kHookCall &&
        (event.index < 0 || event.index >= static_cast<std::int32_t>(out_.hooks.size()))) {
      return Damaged("a call of a hook that the session does not have");
    }
    return event;
  }

  TraceSpec& out_;
  bool has_user_ = false;
  std::uint64_t user_ = 0;  // the task that used the session last
};

// What comes after the header, as far as it is whole. Nothing: all of it; else a note.
absl::StatusOr<std::string> ReadEvents(RecordReader& reader, std::size_t size, TraceSpec& out) {
  EventReader events(out);
  proto::TraceEvent record;
  for (std::uint64_t count = 0;; ++count) {
    const std::size_t at = reader.offset();
    const absl::StatusOr<std::optional<std::string_view>> next = reader.Next();
    if (!next.ok() && reader.cut_off()) {
      return fmt::format("the last {} bytes are cut off: the writing process was killed", size - at);
    }
    if (!next.ok()) return Damaged(fmt::format("damaged at byte {}", at));
    if (!next->has_value()) break;
    if (count > kMostTraceEvents) {
      return MakeStatus(Code::kResourceExhausted, fmt::format("has more than {} events", kMostTraceEvents));
    }
    if (!record.ParseFromArray((*next)->data(), static_cast<int>((*next)->size()))) {
      return Damaged(fmt::format("damaged at byte {}", at));
    }
    const absl::Status added = events.Add(record);
    if (!added.ok()) return WithMessage(added, fmt::format("damaged at byte {}: {}", at, MessageOf(added)));
  }
  return std::string(out.complete ? "" : "the trace has no end: the writing process was killed");
}

absl::StatusOr<Recording> Parse(std::string_view bytes, std::string_view source) {
  if (bytes.empty()) return NoTrace("an empty file");
  if (bytes.size() > kMostTraceBytes) return NoTrace(fmt::format("larger than {} MiB", kMostTraceBytes >> 20));
  RecordReader reader(bytes);
  const absl::StatusOr<std::optional<std::string_view>> first = reader.Next();
  proto::TraceHeader header;
  if (!first.ok() && reader.cut_off() && bytes.size() < 12) return NoTrace("cut off within its header");
  if (!first.ok() || !header.ParseFromArray((*first)->data(), static_cast<int>((*first)->size())) ||
      header.magic() != kTraceMagic) {
    return NoTrace(!first.ok() && reader.cut_off() ? "no trace, or cut off within its header"
                                                   : "no trace in spite of its name, or damaged in its header");
  }
  auto trace = std::make_shared<TraceSpec>();
  VIGIL_RETURN_IF_ERROR(ReadHeader(header, *trace));
  Recording out;
  VIGIL_ASSIGN_OR_RETURN(out.note, ReadEvents(reader, bytes.size(), *trace));
  Expectation& expect = out.expect.emplace();
  expect.events.reserve(trace->events.size());
  for (const TracedEvent& each : trace->events) expect.events.push_back(TraceLine(each.event));
  out.scenario.id = Basename(source);
  out.scenario.trace = std::move(trace);
  out.source = source;
  return out;
}

}  // namespace

absl::StatusOr<Recording> ParseTrace(std::string_view bytes, std::string_view source) {
  absl::StatusOr<Recording> out = Parse(bytes, source);
  if (out.ok()) return out;
  return WithMessage(out.status(), fmt::format("{}: {}", Escaped(source), MessageOf(out.status())));
}

}  // namespace vigil::replays
