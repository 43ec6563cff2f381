#include "vigil/core/base/event.h"

#include <array>

namespace vigil {

std::string_view HookMethodName(HookMethod method) {
  constexpr std::array<std::string_view, 5> kNames = {"begin", "after_create_session", "before_run", "after_run",
                                                      "end"};
  return kNames[static_cast<size_t>(method)];
}

std::string_view CallKindName(CallKind kind) {
  constexpr std::array<std::string_view, 13> kNames = {"create",     "init",    "ready_for_local_init",
                                                       "local_init", "ready",   "restore",
                                                       "save",       "run",     "read_step",
                                                       "raw_run",    "summary", "final_ops",
                                                       "close"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view WriterCallName(WriterCall call) {
  constexpr std::array<std::string_view, 8> kNames = {"graph",        "meta_graph", "summary", "session_log",
                                                      "run_metadata", "flush",      "close",   "reopen"};
  return kNames[static_cast<size_t>(call)];
}

std::string_view SupervisorMethodName(SupervisorMethod method) {
  constexpr std::array<std::string_view, 10> kNames = {"prepare",
                                                       "managed_session",
                                                       "body",
                                                       "stop",
                                                       "start_standard_services",
                                                       "start_queue_runners",
                                                       "summary_computed",
                                                       "should_stop",
                                                       "writer call",
                                                       "write of the graph"};
  return kNames[static_cast<size_t>(method)];
}

std::string_view ListenerMethodName(ListenerMethod method) {
  constexpr std::array<std::string_view, 4> kNames = {"begin", "before_save", "after_save", "end"};
  return kNames[static_cast<size_t>(method)];
}

std::string_view DetailName(EventKind kind, std::uint8_t call) {
  constexpr std::array<std::string_view, 5> kRunParts = {"fetches", "results", "feed", "option", "watch"};
  constexpr std::array<std::string_view, 20> kOfHooks = {"stops after",
                                                         "stops at",
                                                         "watches for NaN",
                                                         "counts steps",
                                                         "writes summaries",
                                                         "profiles",
                                                         "logs",
                                                         "waits for step",
                                                         "saves checkpoints",
                                                         "saves input",
                                                         "every so many steps",
                                                         "every so many seconds",
                                                         "timer is asked",
                                                         "timer triggers",
                                                         "saves",
                                                         "has saved",
                                                         "was saved before",
                                                         "keeps nothing",
                                                         "saves beside the training",
                                                         "tells of the save"};
  constexpr std::array<std::string_view, 6> kOfSavers = {"saves",      "has written", "lists",
                                                         "has listed", "deletes",     "writes the meta graph of"};
  constexpr std::array<std::string_view, 4> kOfCoordinators = {"keeps", "forgets", "joins", "has joined"};
  constexpr std::array<std::string_view, 4> kOfQueues = {"starts", "task ends", "closes", "cancels"};
  switch (kind) {
    case EventKind::kRunPart:
      return kRunParts[call];
    case EventKind::kHookDetail:
      return kOfHooks[call];
    case EventKind::kSaverDetail:
      return kOfSavers[call];
    case EventKind::kCoordinatorDetail:
      return kOfCoordinators[call];
    case EventKind::kQueueDetail:
      return kOfQueues[call];
    default:
      return "?";
  }
}

std::uint8_t CallNames(EventKind kind) {
  switch (kind) {
    case EventKind::kHookCall:
    case EventKind::kHookReturn:
      return static_cast<std::uint8_t>(HookMethod::kEnd) + 1;
    case EventKind::kSessionCall:
      return static_cast<std::uint8_t>(CallKind::kClose) + 1;
    case EventKind::kWriterCall:
      return static_cast<std::uint8_t>(WriterCall::kReopen) + 1;
    case EventKind::kListenerCall:
      return static_cast<std::uint8_t>(ListenerMethod::kEnd) + 1;
    case EventKind::kSupervisorCall:
    case EventKind::kSupervisorReturn:
      return static_cast<std::uint8_t>(SupervisorMethod::kWriteGraph) + 1;
    case EventKind::kRunPart:
      return static_cast<std::uint8_t>(RunPart::kWatch) + 1;
    case EventKind::kHookDetail:
      return static_cast<std::uint8_t>(HookDetail::kTellsOfSave) + 1;
    case EventKind::kSaverDetail:
      return static_cast<std::uint8_t>(SaverDetail::kWritesMeta) + 1;
    case EventKind::kCoordinatorDetail:
      return static_cast<std::uint8_t>(CoordinatorDetail::kJoined) + 1;
    case EventKind::kQueueDetail:
      return static_cast<std::uint8_t>(QueueDetail::kCancels) + 1;
    default:
      return 0;
  }
}

}  // namespace vigil
