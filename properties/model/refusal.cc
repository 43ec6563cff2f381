#include "vigil/properties/model/refusal.h"

#include <fmt/format.h>

#include <vector>

#include "vigil/properties/model/arguments.h"

namespace vigil::properties::model {
namespace {

using replays::Action;
using replays::FaultPoint;
using replays::HookSpec;
using replays::Scenario;
using replays::SessionKind;

std::string OfHooks(const std::vector<HookSpec>& hooks) {
  bool options = false;
  bool preempts = false;
  for (const HookSpec& hook : hooks) {
    for (const replays::PlanEntry& entry : hook.plan) {
      options = options || (entry.action == Action::kOptions && entry.calls.empty());
      preempts = preempts || (entry.method == "before_run" && entry.action == Action::kRaise &&
                              (entry.code == Code::kAborted || entry.code == Code::kUnavailable));
      // What is asked for again, when the run is repeated, is there twice.
      if (options && preempts) return "hooks that always ask for options with one whose before_run is preempted";
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
  }
  return "";
}

// A service that runs in a thread of its own races with the caller.
std::string OfSupervisor(const Scenario& scenario) {
  if (scenario.session.kind != SessionKind::kSupervisor) return "";
  const replays::Args& args = scenario.session.args;
  if (IsGivenArgument(args, "checkpoint_basename")) return "session.checkpoint_basename";
  if (!FlagArgument(args, "is_chief", true) || !FlagArgument(args, "logdir", false)) return "";
  for (const char* const period : {"save_model_secs", "save_summaries_secs"}) {
    if (NumberArgument(args, period).value_or(0) != 0) return fmt::format("session.{}", period);
  }
  return "";
}

}  // namespace

std::string WhatIsNotModelled(const Scenario& scenario) {
  if (scenario.unit.has_value()) return "unit";
  if (scenario.job.has_value()) return "cluster";
  if (scenario.trace != nullptr) return "a trace";
  if (scenario.behaviour.name != "tensorflow") return fmt::format("behaviour {}", scenario.behaviour.name);
  if (scenario.limits.virtual_s > 0) return "limits.virtual_s";
  const bool from_before = !scenario.checkpoint.preload.empty() || scenario.checkpoint.filename.has_value();
  if (scenario.model.fed_variable && from_before) return "model.fed_variable with checkpoint.preload";
  if (!scenario.model.fed_variable && scenario.init_feed.has_value())
    return "scaffold.init_feed without model.fed_variable";
  if (scenario.checkpoint.events) return "checkpoint.events";
  for (const std::string& what : {OfHooks(scenario.hooks), OfHooks(scenario.session.chief_only_hooks),
                                  OfFaults(scenario), OfSupervisor(scenario)}) {
    if (!what.empty()) return what;
  }
  return "";
}

}  // namespace vigil::properties::model
