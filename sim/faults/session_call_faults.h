// The faults of calls on raw sessions that a plan has, for all tasks of a world.
//
// Calls are counted for each fault by itself, over all sessions and lives of its task. Of several that strike one call
// the first wins.
// Thread safety: none; tasks of a world take turns.
#ifndef VIGIL_SIM_FAULTS_SESSION_CALL_FAULTS_H_
#define VIGIL_SIM_FAULTS_SESSION_CALL_FAULTS_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "vigil/core/session/session.h"
#include "vigil/sim/faults/fault_plan.h"
#include "vigil/sim/faults/faulty_session.h"

namespace vigil::sim {

class SessionCallFaults {
 public:
  struct State {
    SessionCallFault fault;  // task "" = any, call 0 = every one
    std::int64_t matched = 0;
    std::int64_t fired = 0;
  };
  explicit SessionCallFaults(const std::vector<SessionCallFault>& faults);

  // What happens to a call of that task.
  SessionFault Next(std::string_view task, CallKind kind);
  // All are off.
  void Clear() { off_ = true; }
  const std::vector<State>& states() const { return states_; }

 private:
  std::vector<State> states_;
  bool off_ = false;
};

// Sessions of `inner` with the faults of that task.
std::shared_ptr<SessionFactory> DecorateWith(std::shared_ptr<SessionCallFaults> faults, std::string_view task,
                                             std::shared_ptr<SessionFactory> inner);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_FAULTS_SESSION_CALL_FAULTS_H_
