#include "vigil/sim/faults/session_call_faults.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "vigil/core/base/code.h"

namespace vigil::sim {

SessionCallFaults::SessionCallFaults(const std::vector<SessionCallFault>& faults) {
  for (const SessionCallFault& fault : faults) states_.push_back({.fault = fault});
}

SessionFault SessionCallFaults::Next(std::string_view task, CallKind kind) {
  SessionFault hit;
  if (off_) return hit;
  for (State& state : states_) {
    const SessionCallFault& fault = state.fault;
    if ((!fault.task.empty() && fault.task != task) || fault.at != kind) continue;
    ++state.matched;
    if (!hit.error.ok() || (fault.call != 0 && fault.call != state.matched)) continue;
    ++state.fired;
    hit.error = MakeStatus(fault.code, fmt::format("{} failed by plan", CallKindName(kind)));
    hit.lost_reply = fault.lost_reply;
  }
  return hit;
}

std::shared_ptr<SessionFactory> DecorateWith(std::shared_ptr<SessionCallFaults> faults, std::string_view task,
                                             std::shared_ptr<SessionFactory> inner) {
  SessionFaultPlan plan;
  plan.next = [faults = std::move(faults), name = std::string(task)](CallKind kind, const std::shared_ptr<Session>&) {
    return faults->Next(name, kind);
  };
  return NewFaultyFactory(std::move(inner), std::move(plan));
}

}  // namespace vigil::sim
