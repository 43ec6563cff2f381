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
using replays::Statement;

std::string OfStatements(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) {
    if (statement.fetch.has_value()) return "drive.fetch";
    if (statement.options.has_value()) return "drive.options";
    if (statement.metadata) return "drive.metadata";
    if (std::string what = OfStatements(statement.body); !what.empty()) return what;
  }
  return "";
}

std::string OfHooks(const std::vector<HookSpec>& hooks, bool queue) {
  for (const HookSpec& hook : hooks) {
    for (const replays::PlanEntry& entry : hook.plan) {
      if (entry.nested.has_value()) return "hooks.plan.what with several names";
      if (entry.action == Action::kOptions) return "hooks.plan.do options";
      if (entry.action == Action::kShow) return "hooks.plan.do show";
      if (entry.action == Action::kStartThread) return "hooks.plan.do start_thread";
      // The thread that fills the queue races with the stop.
      if (queue && (entry.action == Action::kReport || entry.action == Action::kCoordinatorStop))
        return "model.input queue with a hook that stops the coordinator";
    }
  }
  return "";
}

std::string OfFaults(const std::vector<replays::Fault>& faults) {
  for (const replays::Fault& fault : faults) {
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
  if (scenario.model.fed_variable || scenario.init_feed.has_value()) return "model.fed_variable";
  if (scenario.checkpoint.events) return "checkpoint.events";
  const bool queue = scenario.model.batches.has_value() && scenario.model.queue_input;
  for (const std::string& what :
       {OfHooks(scenario.hooks, queue), OfHooks(scenario.session.chief_only_hooks, queue), OfFaults(scenario.faults),
        OfStatements(scenario.drive), OfStatements(scenario.after)}) {
    if (!what.empty()) return what;
  }
  return "";
}

}  // namespace vigil::properties::model
