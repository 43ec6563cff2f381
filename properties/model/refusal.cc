#include "vigil/properties/model/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "vigil/properties/model/arguments.h"

namespace vigil::properties::model {
namespace {

using replays::FaultPoint;
using replays::HookSpec;
using replays::Scenario;
using replays::SessionKind;

bool IsEventsWriter(const HookSpec& hook) {
  return hook.hook == "checkpoint_saver" || hook.hook == "summary_saver" || hook.hook == "step_counter" ||
         hook.hook == "profiler";
}

// Whether anybody may have a summary writer.
bool WritesEvents(const Scenario& scenario) {
  const replays::SessionSpec& session = scenario.session;
  if (session.kind == SessionKind::kSupervisor) return FlagArgument(session.args, "logdir", false);
  return (session.kind == SessionKind::kTraining && scenario.checkpoint.dir) ||
         std::any_of(scenario.hooks.begin(), scenario.hooks.end(), IsEventsWriter) ||
         std::any_of(session.chief_only_hooks.begin(), session.chief_only_hooks.end(), IsEventsWriter);
}

std::string OfFaults(const Scenario& scenario) {
  for (const replays::Fault& fault : scenario.faults) {
    // The chief has nothing to feed.
    if (fault.chief_init.has_value() && !scenario.model.global_step)
      return "faults.chief_init with model.global_step false";
    if (fault.chief_init.has_value() && scenario.model.fed_variable) return "faults.chief_init with model.fed_variable";
    // Who adds an event hears of it at some later call: the writer has a thread of its own.
    if (fault.at != FaultPoint::kWrite) continue;
    if (fault.file.find("events") == std::string::npos || WritesEvents(scenario)) return "faults.at write";
  }
  return "";
}

// Who waits for a task that writes hears of its end at some later call.
bool SavesBeside(const replays::Args& args) { return FlagArgument(args, "async_saves", false); }

std::string OfAsyncSaves(const Scenario& scenario) {
  const auto beside = [](const HookSpec& hook) { return SavesBeside(hook.args); };
  if (SavesBeside(scenario.session.args)) return "session.async_saves";
  const bool any =
      std::any_of(scenario.hooks.begin(), scenario.hooks.end(), beside) ||
      std::any_of(scenario.session.chief_only_hooks.begin(), scenario.session.chief_only_hooks.end(), beside);
  return any ? "hooks.async_saves" : "";
}

// A service that runs in a thread of its own races with the caller.
std::string OfSupervisor(const Scenario& scenario) {
  if (scenario.session.kind != SessionKind::kSupervisor) return "";
  const replays::Args& args = scenario.session.args;
  if (FlagArgument(args, "stop_on_sigterm", false)) return "session.stop_on_sigterm";
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
  if (scenario.limits.virtual_s > 0) return "limits.virtual_s";
  if (!scenario.model.fed_variable && scenario.init_feed.has_value())
    return "scaffold.init_feed without model.fed_variable";
  for (const std::string& what : {OfFaults(scenario), OfSupervisor(scenario), OfAsyncSaves(scenario)}) {
    if (!what.empty()) return what;
  }
  return "";
}

}  // namespace vigil::properties::model
