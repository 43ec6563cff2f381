#include "vigil/properties/model/refusal.h"

#include <fmt/format.h>

#include <vector>

namespace vigil::properties::model {
namespace {

using replays::Action;
using replays::FaultPoint;
using replays::HookSpec;
using replays::Scenario;
using replays::SessionKind;

std::string OfHooks(const std::vector<HookSpec>& hooks, bool queue) {
  bool options = false;
  bool preempts = false;
  for (const HookSpec& hook : hooks) {
    for (const replays::PlanEntry& entry : hook.plan) {
      options = options || (entry.action == Action::kOptions && entry.calls.empty());
      preempts = preempts || (entry.method == "before_run" && entry.action == Action::kRaise &&
                              (entry.code == Code::kAborted || entry.code == Code::kUnavailable));
      // What is asked for again, when the run is repeated, is there twice.
      if (options && preempts) return "hooks that always ask for options with one whose before_run is preempted";
      // The thread that fills the queue races with the stop.
      if (queue && (entry.action == Action::kReport || entry.action == Action::kCoordinatorStop))
        return "model.input queue with a hook that stops the coordinator";
    }
  }
  return "";
}

std::string OfFaults(const Scenario& scenario) {
  for (const replays::Fault& fault : scenario.faults) {
    // The chief has nothing to feed.
    if (fault.chief_init.has_value() && !scenario.model.global_step)
      return "faults.chief_init with model.global_step false";
    if (fault.chief_init.has_value() && scenario.model.fed_variable) return "faults.chief_init with model.fed_variable";
    if (fault.at == FaultPoint::kWrite) return "faults.at write";
    if (fault.at == FaultPoint::kEnqueue) return "faults.at enqueue";
  }
  return "";
}

}  // namespace

std::string WhatIsNotModelled(const Scenario& scenario) {
  if (scenario.unit.has_value()) return "unit";
  if (scenario.job.has_value()) return "cluster";
  if (scenario.trace != nullptr) return "a trace";
  if (scenario.session.kind == SessionKind::kSupervisor) return "session.kind supervisor";
  if (scenario.behaviour.name != "tensorflow") return fmt::format("behaviour {}", scenario.behaviour.name);
  if (scenario.limits.virtual_s > 0) return "limits.virtual_s";
  const bool from_before = !scenario.checkpoint.preload.empty() || scenario.checkpoint.filename.has_value();
  if (scenario.model.fed_variable && from_before) return "model.fed_variable with checkpoint.preload";
  // Whether an iterator outlives a session that shares its state with others, TensorFlow's documents do not say.
  if (scenario.session.shared_state && scenario.model.batches.has_value())
    return "model.batches with session.shared_state";
  if (!scenario.model.fed_variable && scenario.init_feed.has_value())
    return "scaffold.init_feed without model.fed_variable";
  if (scenario.checkpoint.events) return "checkpoint.events";
  const bool queue = scenario.model.batches.has_value() && scenario.model.queue_input;
  for (const std::string& what :
       {OfHooks(scenario.hooks, queue), OfHooks(scenario.session.chief_only_hooks, queue), OfFaults(scenario)}) {
    if (!what.empty()) return what;
  }
  return "";
}

}  // namespace vigil::properties::model
