// Raw sessions that fail where a plan says so, around real ones. The core cannot tell: it only meets the errors.
//
// Every call on a decorated session is classified (core/session/classify.h) and put to the oracle; so are creations. A
// fault strikes before the call takes effect, or after it (lost_reply): then the call is made, and its own error wins
// over the fault's. A close with a fault closes all the same. A call on a closed session is put to the oracle too; a
// second close is not.
// Thread safety: as the oracle's; sessions are otherwise as safe as what they wrap.
#ifndef VIGIL_SIM_FAULTS_FAULTY_SESSION_H_
#define VIGIL_SIM_FAULTS_FAULTY_SESSION_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "vigil/core/base/event.h"
#include "vigil/core/session/session.h"

namespace vigil::sim {

struct SessionFault {
  absl::Status error;  // OK: nothing happens
  bool lost_reply = false;
};

struct SessionFaultPlan {
  // Asked once for every call of the faulty task. `session` is the real one (null for a creation), on which it may act
  // first (other workers' progress).
  std::function<SessionFault(CallKind kind, const std::shared_ptr<Session>& session)> next;
  // Whether the current task's calls are subject to the plan at all (service tasks of a queue are not); null: all are.
  std::function<bool()> applies;
  // Asked for every run of a queue runner (a target that enqueues) in a task that is not subject to it; null: such runs
  // are real.
  std::function<SessionFault()> next_elsewhere;
  // Called after each run with hooks, failed or not: virtual time passes. May be null.
  std::function<void()> after_run;
};

std::shared_ptr<SessionFactory> NewFaultyFactory(std::shared_ptr<SessionFactory> inner, SessionFaultPlan plan);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_FAULTS_FAULTY_SESSION_H_
