#include "vigil/replays/traces/trace_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/session/classify.h"
#include "vigil/replays/traces/trace_user.h"

namespace vigil::replays {
namespace {

bool IsCall(const Event& event, CallKind kind) {
  return event.kind == EventKind::kSessionCall && event.call == static_cast<std::uint8_t>(kind);
}

// What a new session did first for its model.
enum class Start {
  kInitialised,
  kRestored,         // by `restores` calls, the last of which may have failed
  kRestoredNothing,  // there was a checkpoint, and nothing to restore from it
  kFailed,           // without a call
  kWaits,            // for a checkpoint
  kUnknown,          // the trace ends, or this is a worker
};
struct FirstCalls {
  Start start = Start::kUnknown;
  int restores = 0;
};

// `from`: the event after that which created it, or a later one.
FirstCalls FirstCallsOf(const TraceSpec& trace, std::size_t from, std::int64_t session) {
  FirstCalls out;
  for (std::size_t i = from; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i].event;
    // Only a supervisor may wait for a checkpoint; whatever else sleeps now has failed before.
    if (trace.supervisor.has_value() && event.kind == EventKind::kSleep && i == from) return {.start = Start::kWaits};
    if (event.session == session && IsCall(event, CallKind::kRestore)) {
      out.start = Start::kRestored;
      ++out.restores;
      continue;
    }
    if (out.start == Start::kRestored) return out;
    if (event.session == session && (IsCall(event, CallKind::kInit) || event.kind == EventKind::kInitFn)) {
      return {.start = Start::kInitialised};
    }
    const bool next_step = IsCall(event, CallKind::kReadyForLocalInit) || IsCall(event, CallKind::kLocalInit) ||
                           IsCall(event, CallKind::kReady);
    return {.start = event.session == session && next_step ? Start::kRestoredNothing : Start::kFailed};
  }
  return out;
}

class RecordedSession : public Session {
 public:
  RecordedSession(TraceScript& script, const Graph& graph, std::int64_t number)
      : script_(script), graph_(graph), number_(number) {}

  std::int64_t number() const override { return number_; }
  const Graph& graph() const override { return graph_; }
  bool closed() const override { return closed_; }

  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    const CallKind kind = ClassifyCall(call, graph_);
    const Event* const answer = Answer(kind);
    const bool readiness = kind == CallKind::kReady || kind == CallKind::kReadyForLocalInit;
    const bool no = answer != nullptr && answer->has_value && answer->value == 0;
    if (fetched != nullptr) {
      const Tensor value = readiness ? Tensor::Vector(std::vector<std::string>(no ? 1 : 0, "recorded"))
                                     : Tensor::Scalar<std::int64_t>(0);
      fetched->assign(call.spec.fetches.size(), value);
    }
    if (answer == nullptr || answer->code == Code::kOk) return absl::OkStatus();
    // The one text that the layer reads.
    return MakeStatus(answer->code, readiness && no ? "recorded: uninitialized" : "recorded");
  }

  absl::Status Close() override {
    if (std::exchange(closed_, true)) return absl::OkStatus();
    const Event* const answer = Answer(CallKind::kClose);
    return answer == nullptr ? absl::OkStatus() : RecordedStatus(answer->code);
  }

 private:
  // Null: the recording has another event next. What is done instead will be seen to differ.
  const Event* Answer(CallKind kind) {
    const TracedEvent* const next = script_.Next();
    if (next == nullptr || !IsCall(next->event, kind) || next->event.session != number_) return nullptr;
    return &next->event;
  }

  TraceScript& script_;
  const Graph& graph_;
  const std::int64_t number_;
  bool closed_ = false;
};

}  // namespace

std::string TraceCheckpoint(int number) { return JoinPath(kTraceDirectory, fmt::format("model.ckpt-{}", number)); }

absl::StatusOr<std::unique_ptr<Session>> RecordedFactory::Create(const Graph& graph, const std::string&,
                                                                 const SessionConfig&) {
  const TracedEvent* const next = script_.Next();
  if (next != nullptr && next->event.kind == EventKind::kSessionCreateFailed) return RecordedStatus(next->event.code);
  if (next != nullptr && next->event.kind == EventKind::kSessionCreated) {
    last_ = next->event.session;
    VIGIL_RETURN_IF_ERROR(Prepare(script_.position() + 1));
  } else {
    ++last_;
  }
  return std::unique_ptr<Session>(new RecordedSession(script_, graph, last_));
}

absl::Status RecordedFactory::Slept() {
  if (!waits_for_checkpoint_ || script_.parted()) return absl::OkStatus();
  return Prepare(script_.position());
}

absl::Status RecordedFactory::Prepare(std::size_t from) {
  const FirstCalls first = FirstCallsOf(trace_, from, last_);
  waits_for_checkpoint_ = first.start == Start::kWaits;
  Files& files = *env_.files;
  VIGIL_RETURN_IF_ERROR(files.MakeDirectory(kTraceDirectory));
  VIGIL_ASSIGN_OR_RETURN(const std::vector<std::string> names, files.List(kTraceDirectory));
  for (const std::string& name : names) VIGIL_RETURN_IF_ERROR(files.Remove(JoinPath(kTraceDirectory, name)));
  if (waits_for_checkpoint_ || first.start == Start::kInitialised || first.start == Start::kUnknown) {
    return absl::OkStatus();
  }
  CheckpointState state;
  const int count = std::max(first.restores, 1);
  for (int i = count; i >= 1; --i) {
    const std::string checkpoint = TraceCheckpoint(i);
    state.all_model_checkpoint_paths.push_back(checkpoint);
    if (first.start == Start::kFailed) continue;
    VIGIL_RETURN_IF_ERROR(WriteAtomically(files, IndexFileName(checkpoint), ""));
  }
  state.model_checkpoint_path = TraceCheckpoint();
  return UpdateCheckpointState(env_, kTraceDirectory, std::move(state));
}

bool HasNothingToSave(const TraceSpec& trace) {
  if (trace.supervisor.has_value()) return trace.supervisor->saver == SupervisorSpec::SaverKind::kEmpty;
  if (!trace.is_chief) return false;
  for (const TracedEvent& each : trace.events) {
    if (each.event.kind == EventKind::kGraphFinalized) return each.event.has_value && each.event.value == 0;
  }
  // The graph was finalized by a session before this one.
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].event.kind != EventKind::kSessionCreated) continue;
    if (FirstCallsOf(trace, i + 1, trace.events[i].event.session).start == Start::kRestoredNothing) return true;
  }
  return false;
}

}  // namespace vigil::replays
