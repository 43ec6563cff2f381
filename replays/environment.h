// The environment's part in a scenario: counts every call that a fault can meet and says which one meets it.
//
// Counting is over the whole scenario and over the caller's own task only, failed calls included. If several faults match one
// call all of them act, and the last code wins.
// Thread safety: none; used by the caller's task.
#ifndef VIGIL_REPLAYS_ENVIRONMENT_H_
#define VIGIL_REPLAYS_ENVIRONMENT_H_

#include <array>
#include <cstdint>
#include <vector>

#include "vigil/core/base/event.h"
#include "vigil/replays/model.h"
#include "vigil/replays/scenario.h"
#include "vigil/sim/faulty_session.h"

namespace vigil::replays {

class Environment {
 public:
  Environment(const std::vector<Fault>& faults, const Model& model) : faults_(faults), model_(model) {}

  // The next call at that point. `session` (may be null) is what other workers' progress is applied to.
  sim::SessionFault Next(FaultPoint point, Session* session);
  sim::SessionFault Next(CallKind kind, Session* session);

 private:
  void AdvanceStep(Session* session, std::int64_t steps);

  const std::vector<Fault>& faults_;
  const Model& model_;
  std::array<std::int64_t, static_cast<std::size_t>(FaultPoint::kSleep) + 1> calls_ = {};
};

FaultPoint FaultPointOf(CallKind kind);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_ENVIRONMENT_H_
