#include "vigil/replays/player/event_line.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/env/log.h"
#include "vigil/core/io/summary.pb.h"
#include "vigil/replays/show/text.h"
#include "vigil/replays/stage/notes.h"

namespace vigil::replays {
namespace {

using Words = std::span<const std::string_view>;

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t end = line.find(' ');
    words.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return words;
    line.remove_prefix(end + 1);
  }
}

template <typename Number>
bool IsNumber(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "session=3", "session=3(closed)", "session=none".
bool ReadSession(std::string_view word, Event& event) {
  if (!TakePrefix(word, "session=")) return false;
  if (word == "none") return true;
  event.closed = word.ends_with("(closed)");
  if (event.closed) word.remove_suffix(8);
  return IsNumber(word, event.session);
}

// "step=3": of a writer also "step=None".
bool ReadValueOf(std::string_view word, std::string_view key, Event& event) {
  if (!TakePrefix(word, key)) return false;
  if (word == "None") return true;
  event.has_value = true;
  return IsNumber(word, event.value);
}

bool ReadCode(std::string_view word, Event& event) {
  const std::optional<Code> code = CodeFromName(word);
  event.code = code.value_or(Code::kOk);
  return code.has_value() && *code != Code::kOk;
}

// "... failed CODE"
bool ReadFailure(Words words, Event& event) {
  return words.size() == 2 && words[0] == "failed" && ReadCode(words[1], event);
}

template <typename Name>
std::optional<std::uint8_t> Find(std::string_view word, int count, Name name) {
  for (int i = 0; i < count; ++i) {
    if (name(i) == word) return static_cast<std::uint8_t>(i);
  }
  return std::nullopt;
}

bool Says(Note note, Event& event) {
  event.kind = EventKind::kNote;
  event.call = static_cast<std::uint8_t>(note);
  return true;
}

bool ReadHook(Words words, Event& event) {
  event.subject = words[1];
  const auto method = Find(words[2], static_cast<int>(HookMethod::kEnd) + 1,
                           [](int i) { return HookMethodName(static_cast<HookMethod>(i)); });
  if (method.has_value()) {
    event.kind = EventKind::kHookCall;
    event.call = *method;
    return (words.size() < 4 || ReadSession(words[3], event)) &&
           (words.size() < 5 || ReadValueOf(words[4], "results=", event));
  }
  if (words[2] == "requests_stop") return Says(Note::kHookRequestsStop, event);
  if (words[2] == "stops_coordinator") return Says(Note::kHookStopsCoordinator, event);
  if (words.size() < 4) return false;
  if (words[2] == "raises") return Says(Note::kHookRaises, event) && ReadCode(words[3], event);
  if (words[2] == "reports") return Says(Note::kHookReports, event) && ReadCode(words[3], event);
  if (words[2] == "starts_thread") return Says(Note::kHookStartsThread, event) && IsNumber(words[3], event.value);
  return false;
}

bool ReadSessionCall(Words words, Event& event) {
  if (words[1] == "create") {
    event.kind = EventKind::kSessionCreateFailed;
    return ReadFailure(words.subspan(2), event);
  }
  if (!IsNumber(words[1], event.session)) return false;
  if (words[2] == "created") {
    event.kind = EventKind::kSessionCreated;
    return true;
  }
  const auto kind = Find(words[2], static_cast<int>(CallKind::kClose) + 1,
                         [](int i) { return CallKindName(static_cast<CallKind>(i)); });
  if (!kind.has_value()) return false;
  event.kind = EventKind::kSessionCall;
  event.call = *kind;
  if (words.size() == 3) return true;
  if (words[3] == "failed") return ReadFailure(words.subspan(3), event);
  if (words.size() != 5 || words[3] != "->") return false;
  if (static_cast<CallKind>(*kind) == CallKind::kReadStep) return IsNumber(words[4], event.value);
  event.value = words[4] == "yes" ? 1 : 0;
  return true;
}

// "writer summary step=3 loss=0.5 ..."
bool ReadSummary(Words words, Event& event, std::string& bytes) {
  proto::Summary summary;
  for (const std::string_view word : words) {
    const std::size_t at = word.rfind('=');
    float value = 0;
    if (at == std::string_view::npos || !IsNumber(word.substr(at + 1), value)) return false;
    proto::Summary::Value& one = *summary.add_value();
    one.set_tag(std::string(word.substr(0, at)));
    one.set_simple_value(value);
  }
  summary.SerializeToString(&bytes);
  event.subject = bytes;
  return true;
}

bool ReadWriter(Words words, Event& event, std::string& bytes) {
  const auto call = Find(words[1], static_cast<int>(WriterCall::kReopen) + 1,
                         [](int i) { return WriterCallName(static_cast<WriterCall>(i)); });
  if (!call.has_value()) return false;
  event.kind = EventKind::kWriterCall;
  event.call = *call;
  switch (static_cast<WriterCall>(*call)) {
    case WriterCall::kSummary:
      return words.size() > 2 && ReadValueOf(words[2], "step=", event) && ReadSummary(words.subspan(3), event, bytes);
    case WriterCall::kSessionLog:
      if (words.size() < 4) return false;
      event.index = words[2] == "START" ? 1 : words[2] == "STOP" ? 2 : words[2] == "CHECKPOINT" ? 3 : 0;
      return ReadValueOf(words[3], "step=", event);
    case WriterCall::kRunMetadata:
      if (words.size() < 4) return false;
      event.subject = words[2];
      return ReadValueOf(words[3], "step=", event);
    default:
      return true;
  }
}

bool ReadListener(Words words, Event& event) {
  event.subject = words[1];
  if (words.size() < 3) return false;
  if (words[2] == "requests_stop") return Says(Note::kListenerRequestsStop, event);
  if (words[2] == "raises") return words.size() > 3 && Says(Note::kListenerRaises, event) && ReadCode(words[3], event);
  const auto method = Find(words[2], static_cast<int>(ListenerMethod::kEnd) + 1,
                           [](int i) { return ListenerMethodName(static_cast<ListenerMethod>(i)); });
  event.kind = EventKind::kListenerCall;
  event.call = method.value_or(0);
  return method.has_value() && (words.size() < 4 || ReadValueOf(words[3], "step=", event));
}

// "result step=3 fed=0"
bool ReadResult(Words words, Note note, Event& event) {
  if (words.size() != 2 || !words[1].starts_with("fed=")) return false;
  Says(note, event);
  return ReadValueOf(words[0], "step=", event) && IsNumber(words[1].substr(4), event.session);
}

bool ReadStep(Words words, Event& event) {
  if (words[0] == "requests_stop") return Says(Note::kStepRequestsStop, event);
  if (words.size() < 2) return false;
  if (words[0] == "result") return ReadResult(words.subspan(1), Note::kStepResult, event);
  if (words[0] == "raises") return Says(Note::kStepRaises, event) && ReadCode(words[1], event);
  Says(Note::kStep, event);
  return ReadValueOf(words[0], "call=", event) && ReadSession(words[1], event);
}

struct PlainNote {
  std::string_view line;
  Note note;
};
constexpr PlainNote kPlainNotes[] = {
    {"driver run", Note::kRun},
    {"driver close", Note::kClose},
    {"driver closed", Note::kClosed},
    {"driver run_step_fn", Note::kRunStepFn},
    {"driver run_step_fn done", Note::kRunStepFnDone},
    {"driver exit clean", Note::kExitClean},
    {"driver prepare", Note::kPrepare},
    {"driver stop", Note::kStop},
    {"driver stopped", Note::kStopped},
    {"signal SIGTERM", Note::kSigterm},
};
struct CodeNote {
  std::string_view before;
  Note note;
};
constexpr CodeNote kCodeNotes[] = {
    {"driver raises ", Note::kRaises},
    {"driver caught ", Note::kCaught},
    {"driver construct failed ", Note::kConstructFailed},
    {"driver exit failed ", Note::kExitFailed},
    {"driver after failed ", Note::kAfterFailed},
    {"hooks rejected ", Note::kHooksRejected},
};

bool ReadNote(std::string_view line, Words words, Event& event) {
  for (const PlainNote& known : kPlainNotes) {
    if (line == known.line) return Says(known.note, event);
  }
  for (const CodeNote& known : kCodeNotes) {
    if (line.starts_with(known.before))
      return Says(known.note, event) && ReadCode(line.substr(known.before.size()), event);
  }
  if (words.size() < 3) return false;
  if (words[0] == "service") {
    event.subject = words[1];
    return Says(words[2] == "loop" ? Note::kServiceLoop : Note::kServiceStart, event);
  }
  if (words[0] == "log") {
    const Severity severity = words[1] == "INFO"      ? Severity::kInfo
                              : words[1] == "WARNING" ? Severity::kWarning
                                                      : Severity::kError;
    event.index = static_cast<std::int32_t>(severity);
    event.subject = line.substr(words[0].size() + words[1].size() + 2);
    return Says(Note::kLog, event);
  }
  if (words[0] != "driver") return false;
  if (words[1] == "result") return ReadResult(words.subspan(2), Note::kResult, event);
  if (words[1] == "step") return ReadStep(words.subspan(2), event);
  event.has_value = words[1] == "clock" || words[1] == "should_stop";
  if (words[1] == "clock") return Says(Note::kClock, event) && IsNumber(words[2], event.value);
  if (words[1] == "should_stop" && words.size() == 4) {
    event.value = words[3] == "yes" ? 1 : 0;
    return Says(Note::kShouldStop, event);
  }
  if (words[1] == "services") {
    event.has_value = words[2] != "none";
    return Says(Note::kServices, event) && (!event.has_value || IsNumber(words[2], event.value));
  }
  return words[1].starts_with("session=") ? Says(Note::kSession, event) && ReadSession(words[1], event) : false;
}

bool ReadLine(std::string_view line, Event& event, std::string& bytes) {
  const std::vector<std::string_view> all = WordsOf(line);
  const Words words = all;
  if (words.size() < 2) return false;
  if (words[0] == "hook") return words.size() > 2 && ReadHook(words, event);
  if (words[0] == "session") return words.size() > 2 && ReadSessionCall(words, event);
  if (words[0] == "writer") return ReadWriter(words, event, bytes);
  if (words[0] == "listener") return ReadListener(words, event);
  if (words[0] == "graph") {
    event.kind = words[1] == "finalized" ? EventKind::kGraphFinalized : EventKind::kGraphUnfinalized;
    return true;
  }
  if (words[0] == "init_fn" || words[0] == "queue_runners") {
    event.kind = words[0] == "init_fn" ? EventKind::kInitFn : EventKind::kQueueRunners;
    if (words[1] == "failed") return ReadFailure(words.subspan(1), event);
    return words[1] == "started" || ReadSession(words[1], event);
  }
  if (words[0] == "coordinator") {
    event.kind = words[1] == "join" ? EventKind::kCoordinatorJoin : EventKind::kCoordinatorRequestStop;
    return words.size() < 3 || ReadCode(words[2], event);
  }
  if (words[0] == "sleep") {
    event.kind = EventKind::kSleep;
    return IsNumber(words[1], event.value);
  }
  if (words[0] == "driver" && words[1].starts_with("session="))
    return Says(Note::kSession, event) && ReadSession(words[1], event);
  return ReadNote(line, words, event);
}

}  // namespace

Event EventOfLine(std::string_view line, std::string& subject) {
  Event event{.kind = EventKind::kNote};
  std::string bytes;
  if (ReadLine(line, event, bytes) && TextOf(event) == line) {
    subject = std::string(event.subject);
    event.subject = subject;
    return event;
  }
  subject = std::string(line);
  return {.kind = EventKind::kNote, .call = static_cast<std::uint8_t>(Note::kText), .subject = subject};
}

}  // namespace vigil::replays
