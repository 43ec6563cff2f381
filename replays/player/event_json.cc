#include "vigil/replays/player/event_json.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>

#include "vigil/replays/format/escape.h"
#include "vigil/replays/player/event_line.h"

namespace vigil::replays {
namespace {

constexpr std::array<std::string_view, 36> kKindNames = {
    "hook_call",
    "hook_return",
    "hook_requests_stop",
    "graph_finalized",
    "graph_unfinalized",
    "session_created",
    "session_create_failed",
    "session_call",
    "init_fn",
    "queue_runners",
    "coordinator_request_stop",
    "coordinator_join",
    "sleep",
    "recovery",
    "run_start",
    "run_end",
    "should_stop",
    "close_start",
    "close_end",
    "writer_call",
    "listener_call",
    "note",
    "constructed",
    "step_fn_call",
    "step_fn_return",
    "inner_run_start",
    "inner_run_end",
    "bare_run_start",
    "bare_run_end",
    "supervisor_call",
    "supervisor_return",
    "run_part",
    "hook_detail",
    "saver_detail",
    "coordinator_detail",
    "queue_detail",
};
static_assert(std::size(kKindNames) == static_cast<std::size_t>(EventKind::kQueueDetail) + 1);

constexpr Range<std::int64_t> kAnyInteger = {std::numeric_limits<std::int64_t>::min(),
                                             std::numeric_limits<std::int64_t>::max()};
constexpr Range<std::int64_t> kAnyIndex = {std::numeric_limits<std::int32_t>::min(),
                                           std::numeric_limits<std::int32_t>::max()};
constexpr Range<double> kAnyNumber = {-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
// Sessions of a training add hooks of their own to those of the scenario.
constexpr std::size_t kMostOwnHooks = 16;

std::string_view CallName(EventKind kind, std::uint8_t call) {
  switch (kind) {
    case EventKind::kHookCall:
    case EventKind::kHookReturn:
      return HookMethodName(static_cast<HookMethod>(call));
    case EventKind::kSessionCall:
      return CallKindName(static_cast<CallKind>(call));
    case EventKind::kWriterCall:
      return WriterCallName(static_cast<WriterCall>(call));
    case EventKind::kListenerCall:
      return ListenerMethodName(static_cast<ListenerMethod>(call));
    case EventKind::kSupervisorCall:
    case EventKind::kSupervisorReturn:
      return SupervisorMethodName(static_cast<SupervisorMethod>(call));
    default:
      return DetailName(kind, call);
  }
}

bool IsText(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t size = CharacterSize(bytes);
    if (size == 0 || bytes.front() == '\0') return false;
    bytes.remove_prefix(size);
  }
  return true;
}

// JSON has no word for these.
std::string_view OddName(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

void PrintValue(std::string_view key, double value, JsonWriter& w) {
  w.Key(key);
  if (std::isfinite(value)) {
    w.Seconds(value);
  } else {
    w.String(OddName(value));
  }
}

void PrintSubject(std::string_view subject, JsonWriter& w) {
  if (subject.empty()) return;
  if (IsText(subject)) {
    w.Key("name").String(subject);
    return;
  }
  std::string hex;
  for (const char c : subject) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  w.Key("bytes").String(hex);
}

void PrintEvent(const Event& event, JsonWriter& w) {
  w.Key("e").String(EventKindName(event.kind));
  if (CallNames(event.kind) > 0) {
    w.Key("call").String(CallName(event.kind, event.call));
  } else if (event.call != 0) {
    w.Key("call").Natural(event.call);
  }
  PrintSubject(event.subject, w);
  if (event.code != Code::kOk) w.Key("code").String(CodeName(event.code));
  if (event.index != -1) w.Key("index").Integer(event.index);
  if (event.session != 0) w.Key("session").Integer(event.session);
  if (event.closed) w.Key("closed").Bool(true);
  if (event.has_value) {
    PrintValue("value", event.value, w);
  } else if (event.value != 0) {
    PrintValue("answer", event.value, w);
  }
}

void ReadValue(const Field& field, double& out) {
  if (!field.present()) return;
  if (field.value().kind() != JsonKind::kString) return field.Number(kAnyNumber, out);
  const std::string_view text = field.value().string();
  if (text == "nan") {
    out = std::numeric_limits<double>::quiet_NaN();
  } else if (text == "inf" || text == "-inf") {
    out = std::numeric_limits<double>::infinity() * (text == "inf" ? 1 : -1);
  } else {
    field.Fail("expected a number, \"nan\", \"inf\" or \"-inf\"");
  }
}

void ReadBytes(const Field& field, std::string& out) {
  std::string hex;
  field.String(hex);
  if (!field.present()) return;
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  out.clear();
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]);
    const int low = i + 1 < hex.size() ? digit(hex[i + 1]) : -1;
    if (high < 0 || low < 0) return field.Fail("expected pairs of the digits 0 to 9 and a to f");
    out += static_cast<char>(high * 16 + low);
  }
}

void ReadCall(const Field& field, EventKind kind, std::uint8_t& out) {
  if (!field.present()) return;
  const std::uint8_t names = CallNames(kind);
  if (names == 0) {
    std::int64_t number = 0;
    field.Integer({0, 255}, number);
    out = static_cast<std::uint8_t>(number);
    return;
  }
  if (field.value().kind() != JsonKind::kString) return field.WrongType("a name");
  for (std::uint8_t call = 0; call < names; ++call) {
    if (CallName(kind, call) != field.value().string()) continue;
    out = call;
    return;
  }
  field.Fail(fmt::format("{} has no call {}", EventKindName(kind), Quoted(field.value().string())));
}

}  // namespace

std::string_view EventKindName(EventKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<EventKind> EventKindFromName(std::string_view name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<EventKind>(i);
  }
  return std::nullopt;
}

EventCast CastOf(const Scenario& scenario) {
  EventCast cast;
  const bool training = scenario.session.kind == SessionKind::kTraining;
  cast.hooks = scenario.hooks.size() + scenario.session.chief_only_hooks.size() + (training ? kMostOwnHooks : 0);
  for (const auto* const hooks : {&scenario.hooks, &scenario.session.chief_only_hooks}) {
    for (const HookSpec& hook : *hooks) {
      if (!hook.name.empty()) cast.names.insert(hook.name);
      for (const ListenerSpec& listener : hook.listeners) cast.listeners.insert(listener.name);
    }
  }
  return cast;
}

void EventReader::Check(const Event& event, const Field& field) {
  switch (event.kind) {
    case EventKind::kSessionCreated:
      if (event.session != created_ + 1)
        return field.Fail(fmt::format("session {} cannot be created behind session {}", event.session, created_));
      ++created_;
      return;
    case EventKind::kSessionCall:
      return CheckSession(event, field);
    case EventKind::kHookCall:
    case EventKind::kHookReturn:
      if (event.index < -1 || event.index >= static_cast<std::int64_t>(cast_.hooks))
        return field.Fail(fmt::format("there is no hook number {}", event.index));
      if (!event.subject.empty() && !cast_.names.contains(event.subject))
        return field.Fail(fmt::format("there is no hook {}", Quoted(event.subject)));
      return CheckSession(event, field);
    case EventKind::kListenerCall:
      if (event.subject.empty() || cast_.listeners.contains(event.subject)) return;
      return field.Fail(fmt::format("there is no listener {}", Quoted(event.subject)));
    default:
      return;
  }
}

void EventReader::CheckSession(const Event& event, const Field& field) const {
  if (event.session < 0 || event.session > created_)
    field.Fail(fmt::format("session {} was never created", event.session));
}

void EventReader::Read(const Field& item) {
  Event event{.kind = EventKind::kNote};
  std::string node;
  std::string task(kPlayerTask);
  if (item.value().kind() == JsonKind::kString) {
    event = EventOfLine(item.value().string(), subject_);
  } else {
    ReadObject(item, event, node, task);
  }
  if (!item.reading().ok()) return;
  Check(event, item);
  if (node.empty()) node = task.substr(0, task.find('/'));
  trace_.Append(trace_.AddNode(node), trace_.AddTask(task), start_ + Duration(at_), event);
}

void EventReader::ReadObject(const Field& item, Event& event, std::string& node, std::string& task) {
  Fields f(item.reading(), item.value(), item.place());
  const Field line = f.Optional("line");
  const Field kind = f.Optional("e");
  if (line.present() == kind.present() && item.reading().ok()) return item.Fail("expected \"e\" or \"line\"");
  if (line.present()) {
    std::string text;
    line.String(text);
    event = EventOfLine(text, subject_);
  } else if (kind.present()) {
    std::string name;
    kind.String(name);
    const std::optional<EventKind> found = EventKindFromName(name);
    if (!found.has_value() && item.reading().ok())
      return kind.Fail(fmt::format("there are no events {}", Quoted(name)));
    event.kind = found.value_or(EventKind::kNote);
  }
  ReadCall(f.Optional("call"), event.kind, event.call);
  ReadFields(f, event);
  const Field task_field = f.Optional("task");
  task_field.String(task);
  const Field node_field = f.Optional("node");
  node_field.String(node);
  const Field at = f.Optional("at");
  const std::int64_t before = at_;
  at.Integer(kAnyInteger, at_);
  if (at_ < before) at.Fail(fmt::format("time goes back, from {} to {}", before, at_));
  f.Finish();
}

void EventReader::ReadFields(Fields& f, Event& event) {
  const Field name = f.Optional("name");
  const Field bytes = f.Optional("bytes");
  if (name.present()) name.String(subject_);
  ReadBytes(bytes, subject_);
  if (name.present() || bytes.present()) event.subject = subject_;
  std::optional<Code> code;
  f.Optional("code").ErrorCode(code);
  if (code.has_value()) event.code = *code;
  std::int64_t index = event.index;
  f.Optional("index").Integer(kAnyIndex, index);
  event.index = static_cast<std::int32_t>(index);
  f.Optional("session").Integer(kAnyInteger, event.session);
  f.Optional("closed").Bool(event.closed);
  const Field value = f.Optional("value");
  ReadValue(value, event.value);
  if (value.present()) event.has_value = true;
  ReadValue(f.Optional("answer"), event.value);
}

void PrintEvents(const sim::Trace& trace, Time start, JsonWriter& w) {
  w.Open('[');
  Time last = start;
  for (const sim::TraceRecord& record : trace) {
    w.Open('{');
    PrintEvent(record.event, w);
    const std::string_view task = trace.TaskLabel(record);
    if (task != kPlayerTask) w.Key("task").String(task);
    if (const std::string_view node = trace.NodeName(record); node != task.substr(0, task.find('/')))
      w.Key("node").String(node);
    if (record.time != last) w.Key("at").Integer((record.time - start).count());
    last = record.time;
    w.Close('}');
  }
  w.Close(']');
}

void ReadEvents(const Field& list, const Scenario& scenario, Time start, sim::Trace& trace) {
  EventReader reader(CastOf(scenario), start, trace);
  list.Each([&](const Json& item, const Place& place) { reader.Read(Field(list.reading(), item, place)); });
}

}  // namespace vigil::replays
