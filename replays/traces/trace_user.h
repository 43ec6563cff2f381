// The user's side of a traced session: the caller, its step functions, its hooks, its callbacks. All of it is code that
// nobody has any more; what it did is in the recording, and is done again, in order, until the recording says that it
// returned.
//
// Thread safety: none; one task of one world.
#ifndef VIGIL_REPLAYS_TRACES_TRACE_USER_H_
#define VIGIL_REPLAYS_TRACES_TRACE_USER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/session_run_hook.h"
#include "vigil/replays/traces/trace_script.h"

namespace vigil::replays {

// The error that was recorded with that code; OK for kOk.
absl::Status RecordedStatus(Code code, std::string_view origin = "");

class TraceUser {
 public:
  TraceUser(const Env& env, TraceScript& script) : env_(env), script_(script) {}

  // What is fed by every run of the caller, and what by the first hook in every run: whoever feeds one of them again is
  // in conflict, which is how a run ends that fails before it is made.
  struct Fed {
    Output by_caller;
    Output by_hook;
  };
  void Feed(const Fed& fed) { fed_ = fed; }
  const Fed& fed() const { return fed_; }
  // From its construction on.
  void Use(MonitoredSessionBase& session) { session_ = &session; }
  // Of a supervisor: does what leads to that event, a call or a return. False: nothing does.
  void UseSupervisor(std::function<bool(const Event&)> act) { act_on_supervisor_ = std::move(act); }
  // The caller holds this session from now on.
  void Hold(const SessionPtr& session) { held_[session->number()] = session; }
  SessionPtr FindHeld(std::int64_t number) const;
  // What the caller does, to the end of the recording.
  void Drive();
  // What a piece of the user's code does until the layer is to emit an `end` event, which tells what it returned.
  // `raw`: the raw session it sees, may be null; `step`: the context of a step function, else null.
  absl::Status Call(EventKind end, Session* raw, const StepContext* step = nullptr);

  std::vector<HookPtr> MakeHooks(const std::vector<std::string>& names);
  TraceScript& script() { return script_; }

 private:
  // Null: the recording was left.
  const TracedEvent* ActUntil(std::optional<EventKind> end, Session* raw, const StepContext* step);
  // False: nothing the user could do leads to that event.
  bool Act(const Event& next, Session* raw, const StepContext* step);
  bool UseSession(const Event& next);
  bool UseRaw(const Event& next, Session* raw);
  bool UseCoordinator(const Event& next);
  absl::Status Step(StepContext& context);

  const Env env_;
  TraceScript& script_;
  Feeds CallerFeeds() const { return {{fed_.by_caller, Tensor::Scalar<std::int64_t>(0)}}; }

  MonitoredSessionBase* session_ = nullptr;
  std::function<bool(const Event&)> act_on_supervisor_;  // null: there is none
  std::map<std::int64_t, SessionPtr> held_;
  Fed fed_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TRACES_TRACE_USER_H_
