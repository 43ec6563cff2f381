#include "vigil/properties/rules/stream.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>
#include <optional>
#include <sstream>

#include "vigil/core/base/check.h"
#include "vigil/core/summary/summary_writer.h"
#include "vigil/replays/stage/notes.h"

namespace vigil::properties {
namespace {

using replays::Note;

const std::map<std::string, std::string, std::less<>> kShort = {
    {"open", "begin0 begin1 finalized new constructed"},
    {"worker", "begin0 begin1 finalized created rfl local ready acs0 acs1 constructed"},
    {"new", "made acs0 acs1"},
    {"made", "created init rfl local ready"},
    {"round", "before0 before1 run after0 after1"},
    {"go", "run( round run)"},
    {"ends", "end0 end1"},
    {"giveup", "cstop join close"},
    {"exit", "close( ends giveup unfinalized close)"},
};
const std::map<std::string, HookMethod, std::less<>> kHooks = {{"begin", HookMethod::kBegin},
                                                               {"acs", HookMethod::kAfterCreateSession},
                                                               {"before", HookMethod::kBeforeRun},
                                                               {"after", HookMethod::kAfterRun},
                                                               {"end", HookMethod::kEnd}};
const std::map<std::string, CallKind, std::less<>> kCalls = {
    {"init", CallKind::kInit},       {"restore", CallKind::kRestore}, {"rfl", CallKind::kReadyForLocalInit},
    {"local", CallKind::kLocalInit}, {"ready", CallKind::kReady},     {"run", CallKind::kRun},
    {"raw", CallKind::kRawRun},      {"read", CallKind::kReadStep},   {"close", CallKind::kClose},
    {"save", CallKind::kSave},       {"final", CallKind::kFinalOps}};
const std::map<std::string, WriterCall, std::less<>> kWriterCalls = {
    {"flush", WriterCall::kFlush},          {"wclose", WriterCall::kClose},
    {"reopen", WriterCall::kReopen},        {"summary", WriterCall::kSummary},
    {"metadata", WriterCall::kRunMetadata}, {"log:start", WriterCall::kSessionLog},
    {"log:stop", WriterCall::kSessionLog},  {"log:checkpoint", WriterCall::kSessionLog}};
const std::map<std::string, SessionLogStatus, std::less<>> kLogs = {{"log:start", SessionLogStatus::kStart},
                                                                    {"log:stop", SessionLogStatus::kStop},
                                                                    {"log:checkpoint", SessionLogStatus::kCheckpoint}};
const std::map<std::string, ListenerMethod, std::less<>> kListeners = {{"listener:begin", ListenerMethod::kBegin},
                                                                       {"listener:before", ListenerMethod::kBeforeSave},
                                                                       {"listener:after", ListenerMethod::kAfterSave},
                                                                       {"listener:end", ListenerMethod::kEnd}};
const std::map<std::string, EventKind, std::less<>> kPlain = {{"stopreq", EventKind::kHookRequestsStop},
                                                              {"finalized", EventKind::kGraphFinalized},
                                                              {"unfinalized", EventKind::kGraphUnfinalized},
                                                              {"init_fn", EventKind::kInitFn},
                                                              {"queues", EventKind::kQueueRunners},
                                                              {"cstop", EventKind::kCoordinatorRequestStop},
                                                              {"join", EventKind::kCoordinatorJoin},
                                                              {"sleep", EventKind::kSleep},
                                                              {"recovery", EventKind::kRecovery},
                                                              {"run(", EventKind::kRunStart},
                                                              {"run)", EventKind::kRunEnd},
                                                              {"step(", EventKind::kRunStart},
                                                              {"step)", EventKind::kRunEnd},
                                                              {"stop", EventKind::kShouldStop},
                                                              {"constructed", EventKind::kConstructed},
                                                              {"fn(", EventKind::kStepFnCall},
                                                              {"fn)", EventKind::kStepFnReturn},
                                                              {"inner(", EventKind::kInnerRunStart},
                                                              {"inner)", EventKind::kInnerRunEnd},
                                                              {"close(", EventKind::kCloseStart},
                                                              {"close)", EventKind::kCloseEnd}};
const std::map<std::string, Note, std::less<>> kNotes = {{"note:construct_failed", Note::kConstructFailed},
                                                         {"note:should_stop", Note::kShouldStop},
                                                         {"note:step_requests_stop", Note::kStepRequestsStop},
                                                         {"note:step_raises", Note::kStepRaises},
                                                         {"note:run", Note::kRun},
                                                         {"note:session", Note::kSession},
                                                         {"note:prepare", Note::kPrepare},
                                                         {"note:stop", Note::kStop},
                                                         {"note:close", Note::kClose},
                                                         {"note:listener_requests_stop", Note::kListenerRequestsStop},
                                                         {"note:exit_clean", Note::kExitClean},
                                                         {"note:exit_failed", Note::kExitFailed},
                                                         {"note:sigterm", Note::kSigterm}};

// Kind and call.
using Detail = std::pair<EventKind, std::uint8_t>;
template <typename Call>
Detail Of(EventKind kind, Call call) {
  return {kind, static_cast<std::uint8_t>(call)};
}
Detail OfHook(HookDetail call) { return Of(EventKind::kHookDetail, call); }
Detail OfRun(RunPart call) { return Of(EventKind::kRunPart, call); }
Detail OfSaver(SaverDetail call) { return Of(EventKind::kSaverDetail, call); }
Detail OfCoordinator(CoordinatorDetail call) { return Of(EventKind::kCoordinatorDetail, call); }
Detail OfQueue(QueueDetail call) { return Of(EventKind::kQueueDetail, call); }

const std::map<std::string, Detail, std::less<>> kDetails = {
    {"fetches", OfRun(RunPart::kFetches)},
    {"results", OfRun(RunPart::kResults)},
    {"feed", OfRun(RunPart::kFeed)},
    {"option", OfRun(RunPart::kOption)},
    {"watch", OfRun(RunPart::kWatch)},
    {"is:stops_after", OfHook(HookDetail::kStopsAfter)},
    {"is:stops_at", OfHook(HookDetail::kStopsAt)},
    {"is:watches_for_nan", OfHook(HookDetail::kWatchesForNan)},
    {"is:counts_steps", OfHook(HookDetail::kCountsSteps)},
    {"is:writes_summaries", OfHook(HookDetail::kWritesSummaries)},
    {"is:profiles", OfHook(HookDetail::kProfiles)},
    {"is:logs", OfHook(HookDetail::kLogs)},
    {"is:waits_for_step", OfHook(HookDetail::kWaitsForStep)},
    {"is:saves_checkpoints", OfHook(HookDetail::kSavesCheckpoints)},
    {"is:saves_input", OfHook(HookDetail::kSavesInput)},
    {"is:every_steps", OfHook(HookDetail::kEverySteps)},
    {"is:every_seconds", OfHook(HookDetail::kEverySeconds)},
    {"asked", OfHook(HookDetail::kTimerAsked)},
    {"set", OfHook(HookDetail::kTimerSet)},
    {"saves", OfHook(HookDetail::kSaves)},
    {"saved", OfHook(HookDetail::kSaved)},
    {"saved_before", OfHook(HookDetail::kSavedBefore)},
    {"keeps_nothing", OfHook(HookDetail::kKeepsNothing)},
    {"beside", OfHook(HookDetail::kSavesBeside)},
    {"tells", OfHook(HookDetail::kTellsOfSave)},
    {"saver:saves", OfSaver(SaverDetail::kSaves)},
    {"saver:written", OfSaver(SaverDetail::kWritten)},
    {"saver:lists", OfSaver(SaverDetail::kLists)},
    {"saver:listed", OfSaver(SaverDetail::kListed)},
    {"saver:deletes", OfSaver(SaverDetail::kDeletes)},
    {"saver:meta", OfSaver(SaverDetail::kWritesMeta)},
    {"coord:stored", OfCoordinator(CoordinatorDetail::kStored)},
    {"coord:cleared", OfCoordinator(CoordinatorDetail::kCleared)},
    {"coord:joins", OfCoordinator(CoordinatorDetail::kJoins)},
    {"coord:joined", OfCoordinator(CoordinatorDetail::kJoined)},
    {"queue:started", OfQueue(QueueDetail::kStarted)},
    {"queue:ended", OfQueue(QueueDetail::kEnqueueEnded)},
    {"queue:closes", OfQueue(QueueDetail::kCloses)},
    {"queue:cancels", OfQueue(QueueDetail::kCancels)}};

// "yes", "no" or a number.
double ValueOf(const std::string& text) {
  if (text == "yes" || text == "no") return text == "yes" ? 1 : 0;
  return std::stod(text);
}

// Cuts what follows `mark` off the word (up to the next mark).
std::optional<std::string> Cut(std::string& word, char mark) {
  const std::size_t at = word.find(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t end = std::min(word.find_first_of("!@=~", at + 1), word.size());
  std::string found = word.substr(at + 1, end - at - 1);
  word.erase(at, end - at);
  return found;
}

class Builder {
 public:
  Builder() : node_(stream_.trace.AddNode("chief")), main_(stream_.trace.AddTask("chief/main")) {
    other_ = stream_.trace.AddTask("chief/queue");
  }
  void Words(std::string_view text) {
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
      const auto shorthand = kShort.find(word);
      shorthand != kShort.end() ? Words(shorthand->second) : Word(word);
    }
  }
  Stream Take() { return std::move(stream_); }

 private:
  void Word(const std::string& word) {
    word_ = rest_ = word;
    if (rest_.starts_with("+")) {
      now_ = now_ + std::chrono::seconds(std::stoll(rest_.substr(1)));
      return;
    }
    task_ = main_;
    if (rest_.starts_with("q:")) {
      task_ = other_;
      rest_.erase(0, 2);
    }
    Event event{};
    event.code = CodeFromName(Cut(rest_, '!').value_or("OK")).value();
    if (const auto value = Cut(rest_, '=')) {
      event.has_value = true;
      event.value = ValueOf(*value);
    }
    session_ = Cut(rest_, '@');
    subject_ = Cut(rest_, '~').value_or("");
    std::replace(subject_.begin(), subject_.end(), ';', '\n');
    std::replace(subject_.begin(), subject_.end(), ',', ' ');
    if (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.back())) != 0) {
      event.index = rest_.back() - '0';
      rest_.pop_back();
    }
    VIGIL_CHECK(Detailed(event) || Written(event) || Hook(event) || Call(event) || Other(event));
  }

  bool Detailed(Event event) {
    if (rest_.ends_with("C") || rest_.ends_with("M")) {
      event.index = rest_.ends_with("C") ? kOfCaller : kMerged;
      rest_.pop_back();
    }
    const auto detail = kDetails.find(rest_);
    if (detail == kDetails.end()) return false;
    event.kind = detail->second.first;
    event.call = detail->second.second;
    event.subject = subject_;
    if (event.kind == EventKind::kCoordinatorDetail || event.kind == EventKind::kQueueDetail) SetSession(event);
    // All that a queue runner can have; a task that ends by what means the end of the input.
    if (rest_ == "queue:started") event.value = 1;
    if (event.kind == EventKind::kQueueDetail)
      event.closed = rest_ == "queue:started" || event.code == Code::kOutOfRange;
    Add(event);
    return true;
  }

  bool Hook(Event event) {
    const bool call = !rest_.starts_with("return:");
    const bool returned = !rest_.starts_with("call:");
    const std::size_t colon = rest_.find(':');
    const auto method = kHooks.find(colon == std::string::npos ? rest_ : rest_.substr(colon + 1));
    if (method == kHooks.end()) return false;
    event.call = static_cast<std::uint8_t>(method->second);
    if (method->second != HookMethod::kBegin) SetSession(event);
    const Code code = event.code;
    event.code = Code::kOk;
    event.kind = EventKind::kHookCall;
    if (call) Add(event);
    event.code = code;
    event.kind = EventKind::kHookReturn;
    if (returned) Add(event);
    return true;
  }

  bool Call(Event event) {
    const auto kind = kCalls.find(rest_);
    if (kind == kCalls.end()) return false;
    event.kind = EventKind::kSessionCall;
    event.call = static_cast<std::uint8_t>(kind->second);
    SetSession(event);
    if (!event.has_value) event.value = 1;  // a readiness that is not "no"
    Add(event);
    return true;
  }

  bool Written(Event event) {
    if (const auto writer = kWriterCalls.find(rest_); writer != kWriterCalls.end()) {
      event.kind = EventKind::kWriterCall;
      event.call = static_cast<std::uint8_t>(writer->second);
      event.subject = subject_;
      if (const auto log = kLogs.find(rest_); log != kLogs.end()) event.index = static_cast<std::int32_t>(log->second);
    } else if (const auto listener = kListeners.find(rest_); listener != kListeners.end()) {
      event.kind = EventKind::kListenerCall;
      event.index = std::max(event.index, 0);
      event.call = static_cast<std::uint8_t>(listener->second);
    } else {
      return false;
    }
    Add(event);
    return true;
  }

  bool Other(Event event) {
    if (rest_ == "created") {
      event.kind = event.code == Code::kOk ? EventKind::kSessionCreated : EventKind::kSessionCreateFailed;
      if (event.code == Code::kOk) newest_ = session_.has_value() ? std::stoll(*session_) : newest_ + 1;
      event.session = event.code == Code::kOk ? newest_ : 0;
    } else if (const auto note = kNotes.find(rest_); note != kNotes.end()) {
      event.kind = EventKind::kNote;
      event.call = static_cast<std::uint8_t>(note->second);
      if (note->second == Note::kSession) SetSession(event);
    } else if (const auto plain = kPlain.find(rest_); plain != kPlain.end()) {
      event.kind = plain->second;
      event.call = rest_.starts_with("step") ? 1 : 0;
      if (rest_ == "init_fn" || rest_ == "queues" || rest_ == "fn(") SetSession(event);
      const bool may_name_one = rest_ == "recovery" || rest_ == "cstop" || rest_ == "join";
      if (may_name_one && session_.has_value()) SetSession(event);
    } else {
      return false;
    }
    Add(event);
    return true;
  }

  void SetSession(Event& event) const {
    event.session = newest_;
    if (!session_.has_value()) return;
    event.closed = session_->ends_with("c");
    event.session = *session_ == "none" ? 0 : std::stoll(*session_);
  }

  void Add(const Event& event) {
    stream_.trace.Append(node_, task_, now_, event);
    stream_.words.push_back(word_);
  }

  Stream stream_;
  std::uint32_t node_, main_, other_ = 0;
  std::uint32_t task_ = 0;
  Time now_;
  std::int64_t newest_ = 0;
  std::string word_, rest_, subject_;
  std::optional<std::string> session_;
};

}  // namespace

Stream ParseStream(std::string_view text) {
  Builder builder;
  builder.Words(text);
  return builder.Take();
}

}  // namespace vigil::properties
