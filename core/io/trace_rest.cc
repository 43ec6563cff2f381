#include "vigil/core/io/trace_rest.h"

namespace vigil {
namespace {

// The event at the beginning of what this one ends; itself: it ends nothing.
EventKind StartOf(EventKind end) {
  switch (end) {
    case EventKind::kHookReturn:
      return EventKind::kHookCall;
    case EventKind::kRunEnd:
      return EventKind::kRunStart;
    case EventKind::kStepFnReturn:
      return EventKind::kStepFnCall;
    case EventKind::kInnerRunEnd:
      return EventKind::kInnerRunStart;
    case EventKind::kBareRunEnd:
      return EventKind::kBareRunStart;
    case EventKind::kSupervisorReturn:
      return EventKind::kSupervisorCall;
    default:
      return end;
  }
}

bool IsStart(EventKind kind) {
  return kind == EventKind::kHookCall || kind == EventKind::kRunStart || kind == EventKind::kStepFnCall ||
         kind == EventKind::kInnerRunStart || kind == EventKind::kBareRunStart || kind == EventKind::kSupervisorCall;
}

// A return of a call that has no event of its own.
bool IsReturnOnly(const Event& event) {
  return event.kind == EventKind::kSupervisorReturn &&
         event.call >= static_cast<std::uint8_t>(SupervisorMethod::kShouldStop);
}

bool IsAnswer(const Event& event) {
  return event.kind == EventKind::kShouldStop ||
         (event.kind == EventKind::kSupervisorReturn &&
          event.call == static_cast<std::uint8_t>(SupervisorMethod::kShouldStop));
}

bool IsStopOfSupervisor(const Event& event) {
  return event.kind == EventKind::kSupervisorCall && event.call == static_cast<std::uint8_t>(SupervisorMethod::kStop);
}

}  // namespace

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

void TraceRest::See(const Event& event, std::uint64_t task) {
  if (IsOfTheUser(event)) {
    user_ = task;
    has_user_ = true;
  }
  SeeStop(event);
  if (has_user_ && task != user_) {
    at_rest_ = at_rest_ && !ends_ && !stopping_;
    return;
  }
  if (event.kind == EventKind::kSessionCreated) {
    session_ = event.session;
    stopping_ = false;
  }
  if (IsStart(event.kind)) Enter(event);
  if (!IsReturnOnly(event) && StartOf(event.kind) != event.kind) Leave(StartOf(event.kind), event);
  const bool run_is_over = event.kind == EventKind::kRunEnd || event.kind == EventKind::kBareRunEnd;
  at_rest_ = (run_is_over || IsAnswer(event)) && event.code == Code::kOk && session_ > 0 && !ends_ && !stopping_ &&
             InCallsOfSupervisorsOnly();
}

void TraceRest::Enter(const Event& event) {
  open_calls_.push_back({event.kind, event.call, event.index, event.has_value ? event.value : -1});
}

void TraceRest::Leave(EventKind start, const Event& event) {
  const bool matches =
      !open_calls_.empty() && open_calls_.back().kind == start && open_calls_.back().call == event.call;
  if (matches) {
    open_calls_.pop_back();
  } else {
    ends_ = true;  // nobody can tell any more where the user is
  }
}

void TraceRest::SeeStop(const Event& event) {
  switch (event.kind) {
    case EventKind::kHookRequestsStop:
    case EventKind::kCloseStart:
      ends_ = true;
      break;
    case EventKind::kHookReturn:
    case EventKind::kStepFnReturn:
      if (event.has_value && event.value != 0) ends_ = true;
      break;
    case EventKind::kCoordinatorRequestStop:
      if (event.session == 0) ends_ = true;  // a supervisor's, which is the same for all its sessions
      if (event.session == session_) stopping_ = true;
      break;
    default:
      if (IsStopOfSupervisor(event) || (IsAnswer(event) && event.value != 0)) ends_ = true;
  }
}

bool TraceRest::InCallsOfSupervisorsOnly() const {
  for (const OpenCall& each : open_calls_) {
    if (each.kind != EventKind::kSupervisorCall) return false;
  }
  return true;
}

}  // namespace vigil
