#include "vigil/replays/traces/trace_file.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/files.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/trace_writer.h"
#include "vigil/replays/format/escape.h"
#include "vigil/replays/format/trace_spec.h"
#include "vigil/replays/show/trace_text.h"
#include "vigil/replays/traces/trace_event_reader.h"

namespace vigil::replays {
namespace {

// Besides events a trace has the beginnings of its parts, and an end.
constexpr std::uint64_t kMostTraceRecords = kMostTraceEvents + 100;

absl::Status NoTrace(std::string_view why) { return MakeStatus(Code::kInvalidArgument, why); }
absl::Status DamagedAt(std::size_t at) { return MakeStatus(Code::kDataLoss, fmt::format("damaged at byte {}", at)); }

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

// How the events end. Nothing: as they should; else a note.
absl::StatusOr<std::string> ReadToTheEnd(RecordReader& reader, std::size_t size, TraceEventReader& events,
                                         const TraceSpec& out) {
  proto::TraceEvent record;
  for (std::uint64_t count = 0;; ++count) {
    const std::size_t at = reader.offset();
    const absl::StatusOr<std::optional<std::string_view>> next = reader.Next();
    if (!next.ok() && reader.cut_off()) {
      return fmt::format("the last {} bytes are cut off: the writing process was killed", size - at);
    }
    if (!next.ok()) return DamagedAt(at);
    if (!next->has_value()) break;
    if (count > kMostTraceRecords) {
      return MakeStatus(Code::kResourceExhausted, fmt::format("has more than {} events", kMostTraceEvents));
    }
    if (!record.ParseFromArray((*next)->data(), static_cast<int>((*next)->size()))) {
      return DamagedAt(at);
    }
    const absl::Status added = events.Add(record);
    if (!added.ok()) return WithMessage(added, fmt::format("damaged at byte {}: {}", at, MessageOf(added)));
  }
  return std::string(out.complete ? "" : "the trace has no end: the writing process was killed");
}

// What comes after the header, as far as it is whole. Nothing: all of it; else a note.
absl::StatusOr<std::string> ReadEvents(RecordReader& reader, std::size_t size, TraceSpec& out) {
  TraceEventReader events(out);
  VIGIL_ASSIGN_OR_RETURN(std::string note, ReadToTheEnd(reader, size, events, out));
  if (events.left_out() == 0) return note;
  return fmt::format("{} events between its beginning and its end are not kept{}{}", events.left_out(),
                     note.empty() ? "" : "; ", note);
}

absl::StatusOr<Recording> Parse(std::string_view bytes, std::string_view source) {
  if (bytes.empty()) return NoTrace("an empty file");
  if (bytes.size() > kMostTraceBytes) return NoTrace(fmt::format("larger than {} MiB", kMostTraceBytes >> 20));
  RecordReader reader(bytes);
  const absl::StatusOr<std::optional<std::string_view>> first = reader.Next();
  proto::TraceHeader header;
  if (!first.ok() && reader.header_cut_off()) return NoTrace("cut off within its header");
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

absl::StatusOr<std::vector<std::string>> FindTraceParts(Files& files, const std::string& path) {
  const std::string directory = Dirname(path);
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(directory.empty() ? "." : directory));
  const std::string beginning = Basename(path) + std::string(kTracePartInfix);
  std::map<std::int64_t, std::string> parts;
  for (const std::string& name : names) {
    std::int64_t number = 0;
    if (!name.starts_with(beginning)) continue;
    const char* const end = name.data() + name.size();
    const auto [read, error] = std::from_chars(name.data() + beginning.size(), end, number);
    if (error == std::errc() && read == end && number > 1) parts.emplace(number, JoinPath(directory, name));
  }
  std::vector<std::string> out;
  for (auto& [number, part] : parts) out.push_back(std::move(part));
  return out;
}

absl::StatusOr<Recording> ParseTrace(std::string_view bytes, std::string_view source) {
  absl::StatusOr<Recording> out = Parse(bytes, source);
  if (out.ok()) return out;
  return WithMessage(out.status(), fmt::format("{}: {}", Escaped(source), MessageOf(out.status())));
}

}  // namespace vigil::replays
