// What the session layer did, as a stream of small typed events: the one way in which it can be watched.
//
// The core emits each event at the moment of the thing itself, through the EventSink of its Env; a null sink costs one
// branch. Rules, traces and the conformance text are all derived from this stream. The core never makes text of it.
// Who receives an event adds node, task and time: the emitter does not know them.
#ifndef VIGIL_CORE_BASE_EVENT_H_
#define VIGIL_CORE_BASE_EVENT_H_

#include <cstdint>
#include <string_view>

#include "vigil/core/base/code.h"

namespace vigil {

// Numbers are part of the format of traces (core/io/trace.proto): new kinds, methods and calls go to the end.
enum class EventKind : std::uint8_t {
  // A hook's method is about to be called. subject = hook's name, index = place in the list, call = HookMethod,
  // session (0 = none) and closed = what the hook gets to see; AfterRun: value = its result, if that is a number
  // (has_value).
  kHookCall,
  // ... and has returned; code. Of a run: value 1 = it has asked the run context for a stop, whatever its code
  // (has_value).
  kHookReturn,
  kHookRequestsStop,  // a run context's RequestStop; subject/index = the hook
  // Only when the state changes; value 0/1 = whether the scaffold's saver has anything to save (has_value).
  kGraphFinalized,
  kGraphUnfinalized,
  kSessionCreated,       // session
  kSessionCreateFailed,  // code
  kSessionCall,          // a call on a raw session has returned: session, call = CallKind, code, value = answer
  kInitFn,               // the scaffold's init function returned: session, code
  kQueueRunners,         // start of the queue runners returned: session, code
  // Each call; code as passed (kOk = without an error); session = whose coordinator, 0 = not said.
  kCoordinatorRequestStop,
  kCoordinatorJoin,  // each call, at its start; session as above
  kSleep,            // somebody is about to sleep: value = seconds
  kRecovery,         // a session is given up and will be created anew: session (0 = was being created), code = why
  kRunStart,         // a caller's Run/RunStepFn enters the outermost layer; call = 0 run, 1 step function
  kRunEnd,           // ... and leaves it: code, call
  kShouldStop,       // should_stop answered: value 0/1 (code if it failed)
  // Close of the outermost session begins; code = the error that the scope was left with, subject = its origin.
  kCloseStart,
  kCloseEnd,  // ... ended: code
  // A call on a summary writer is made: call = WriterCall, value = its global step (has_value: one was given).
  // kSummary: subject = the serialized Summary; kSessionLog: index = its status; kRunMetadata: subject = the tag.
  kWriterCall,
  // A checkpoint saver's listener is about to be called: subject = its name, index = its place, call = ListenerMethod,
  // value = the step (has_value: not at its begin).
  kListenerCall,
  // Emitted by the program around the session layer (the scenario's caller and its probes); the core never does.
  // subject = a name of the note that the program has chosen, call/session/value = its arguments.
  kNote,
  kConstructed,  // the construction of a monitored session has ended: code
  // A step function is about to be called: session and closed = what it gets to see.
  kStepFnCall,
  // ... and has returned: code, subject = the origin of its error; value 1 = it has asked for a stop (has_value).
  kStepFnReturn,
  kInnerRunStart,  // a step function's run with hooks
  kInnerRunEnd,    // code
  kBareRunStart,   // a caller's RunWithoutHooks
  kBareRunEnd,     // code
  // A supervisor's method is called, by its user or by the supervisor itself: call = SupervisorMethod, index and value
  // = its arguments.
  kSupervisorCall,
  kSupervisorReturn,  // ... and has returned: code, call
  // From here on details (IsDetail): what the events above are made of. Only rules look at them: traces do not record
  // them, and no two runs differ by them alone.
  // A part of what a run with hooks is made of: call = RunPart, index = whose: a place in the list of hooks, kOfCaller,
  // or kMerged.
  kRunPart,
  // A hook says what it goes by, within its own call: call = HookDetail.
  kHookDetail,
  // A saver says what it does: call = SaverDetail.
  kSaverDetail,
  // What comes of requests to a coordinator: call = CoordinatorDetail, session = whose coordinator, 0 = not said.
  kCoordinatorDetail,
  // What a queue runner's tasks do: call = QueueDetail, session, subject = the queue.
  kQueueDetail,
};
// Those that traces hold.
inline constexpr int kEventKinds = static_cast<int>(EventKind::kSupervisorReturn) + 1;
constexpr bool IsDetail(EventKind kind) { return static_cast<int>(kind) >= kEventKinds; }

enum class HookMethod : std::uint8_t { kBegin, kAfterCreateSession, kBeforeRun, kAfterRun, kEnd };

// What a call on a raw session is for. kRun = a run with hooks; kRawRun = any run that is none of the others.
enum class CallKind : std::uint8_t {
  kCreate,
  kInit,
  kReadyForLocalInit,
  kLocalInit,
  kReady,
  kRestore,
  kSave,
  kRun,
  kReadStep,
  kRawRun,
  kSummary,
  kFinalOps,
  kClose,
};

enum class WriterCall : std::uint8_t {
  kGraph,
  kMetaGraph,
  kSummary,
  kSessionLog,
  kRunMetadata,
  kFlush,
  kClose,
  kReopen,
};

enum class SupervisorMethod : std::uint8_t {
  kPrepare,            // index = flags (below); value = the longest wait in seconds (has_value). Returns session.
  kManagedSession,     // the same
  kBody,               // what a managed session is for: session; of its return subject = the origin of its error
  kStop,               // index = flags. Of its return value 1 = tasks were left behind
  kStartServices,      // session, 0 = none
  kStartQueueRunners,  // session, 0 = none
  kSummaryComputed,    // session, 0 = none; value = the global step (has_value: one was given)
  // These have a return only:
  kShouldStop,  // value = the answer, 0 or 1
  kWriter,      // a call on the summary writer has failed: code
  kWriteGraph,  // the file of the graph could not be written: code
};
// Flags of a kSupervisorCall's index.
inline constexpr std::int32_t kSupervisorStartsServices = 1;
inline constexpr std::int32_t kSupervisorWaitsForCheckpoint = 2;
inline constexpr std::int32_t kSupervisorClosesWriter = 4;
inline constexpr std::int32_t kSupervisorIgnoresLiveTasks = 8;

enum class ListenerMethod : std::uint8_t { kBegin, kBeforeSave, kAfterSave, kEnd };

inline constexpr std::int32_t kOfCaller = -1;
inline constexpr std::int32_t kMerged = -2;  // what the session gets
enum class RunPart : std::uint8_t {
  kFetches,  // asked for: subject = names of tensors, each followed by a space
  kResults,  // handed to AfterRun: subject = the tensors whose values they are
  kFeed,     // subject = the tensor, value = what is fed, if that is a number, else its checksum (has_value)
  kOption,   // one that is not as by default: subject = its name, value
  kWatch,    // a debug watch: subject
};

enum class HookDetail : std::uint8_t {
  // Once, in begin or in after_create_session: what the hook is for.
  kStopsAfter,        // value = so many steps from the first session on
  kStopsAt,           // value = the last step
  kWatchesForNan,     // value 1 = NaN fails the run, 0 = it requests a stop
  kCountsSteps,       // value 1 = it writes to the writer of a directory, which has events
  kWritesSummaries,   // the same
  kProfiles,          // runs are traced now and then
  kLogs,              // value 1 = now and then, 0 = at the end only; index 1 = at the end, too, 0 = not there
  kWaitsForStep,      // value = the step
  kSavesCheckpoints,  // index = how many listeners it has
  kSavesInput,        // beside: of the input, which it restores or saves at the first run of a session
  kEverySteps,        // value = the period of its timer
  kEverySeconds,      // the same
  // At any time:
  kTimerAsked,    // value = step, index = the answer, 0 or 1
  kTimerSet,      // value = step: it triggers now
  kSaves,         // a save of the hook begins, listeners included: value = step
  kSaved,         // ... and has ended: code
  kSavedBefore,   // another hook has saved this step of this session already: value = step
  kKeepsNothing,  // the model has diverged: value = the step that is not saved
  // The save that has begun is written beside the training: value = step. A later call tells of its end:
  kSavesBeside,
  kTellsOfSave,  // ... this one. kSaved follows: value = step
};

enum class SaverDetail : std::uint8_t {
  kSaves,    // subject = the prefix that is going to be written
  kWritten,  // the save op has returned: code, subject = what it says that it wrote
  // The state file is going to be written: subject = the checkpoints that are kept, oldest first, each followed by a
  // line break; index = how many; value = the most that are kept (0: all, and none is listed but the newest).
  kLists,
  kListed,  // ... and was: code
  // A checkpoint is going to be deleted: subject = its prefix; value 1 = all that are too many are deleted at once.
  kDeletes,
  kWritesMeta,  // subject = the prefix
};

enum class CoordinatorDetail : std::uint8_t {
  kStored,   // an error was kept: code
  kCleared,  // forgets everything
  kJoins,    // a join begins: value = the grace period in seconds
  kJoined,   // a join ends: code = of the error that was kept, index = how many tasks still run
};

enum class QueueDetail : std::uint8_t {
  // index = how many tasks enqueue, closed = one more is there to cancel what they wait for, value 1 = there is a way
  // to close the queue.
  kStarted,
  // One of them has ended: code, index 0 = it was the last, closed = by a code that means the end of the input.
  kEnqueueEnded,
  kCloses,   // the queue is being closed
  kCancels,  // what waits for the queue is being cancelled
};

// "before_run", "ready_for_local_init", "session_log", ...: as traces and replays write them. Of static lifetime.
std::string_view HookMethodName(HookMethod method);
std::string_view WriterCallName(WriterCall call);
std::string_view ListenerMethodName(ListenerMethod method);
std::string_view CallKindName(CallKind kind);
std::string_view SupervisorMethodName(SupervisorMethod method);
// Of a detail: "fetches", "timer is asked", ...; "?" for a kind that is none. REQUIRES: `call` is one of the kind's.
std::string_view DetailName(EventKind kind, std::uint8_t call);
// How many names an event's `call` has, counted from 0; 0: it is a number.
std::uint8_t CallNames(EventKind kind);

struct Event {
  EventKind kind;
  Code code = Code::kOk;
  std::uint8_t call =
      0;  // HookMethod, CallKind, WriterCall, ListenerMethod, SupervisorMethod, one of a detail, or as the kind says
  bool closed = false;
  bool has_value = false;
  std::int32_t index = -1;
  std::int64_t session = 0;       // number of a raw session, from 1; 0 = none
  double value = 0;               // what it is says the kind; durations are seconds
  std::string_view subject = {};  // valid during Emit only
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  // Called at the moment of the thing itself, from any thread of the emitting process, maybe with its locks held. So it
  // must not call back into what emits, must not wait, and must not throw; what it wants to keep of `subject` it
  // copies.
  virtual void Emit(const Event& event) = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_EVENT_H_
