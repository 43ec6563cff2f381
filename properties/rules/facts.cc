#include "vigil/properties/rules/facts.h"

#include <string_view>

namespace vigil::properties {

namespace {

bool IsFalse(const replays::Args& args, std::string_view name) {
  const auto found = args.find(name);
  return found != args.end() && found->second == replays::ArgValue(false);
}

// Whether one of ours is on.
bool IsOn(const replays::BehaviourSpec& behaviour, std::string_view name) {
  const auto found = behaviour.switches.find(name);
  return behaviour.name == "default" || (found != behaviour.switches.end() && found->second);
}

}  // namespace

RunFacts FactsOf(const replays::Scenario& scenario) {
  using replays::SessionKind;
  const SessionKind kind = scenario.session.kind;
  const replays::CheckpointSpec& checkpoint = scenario.checkpoint;
  return {
      .judged = !scenario.unit.has_value() && !scenario.job.has_value() && scenario.trace == nullptr,
      .recovers = kind == SessionKind::kMonitored || kind == SessionKind::kTraining,
      .tensorflow = scenario.behaviour.name == "tensorflow",
      .by_default = scenario.behaviour.name == "default",
      .any_clean_end = !IsOn(scenario.behaviour, "clean_end_from_run_only"),
      .supervisor = kind == SessionKind::kSupervisor,
      .by_hand = kind == SessionKind::kSupervisor && !scenario.scope_with,
      .worker = IsFalse(scenario.session.args, "is_chief"),
      .hooks = kind == SessionKind::kTraining ? kAsSeen : scenario.hooks.size(),
      .init_fn = scenario.init_fn,
      .queue = scenario.model.batches.has_value() && scenario.model.queue_input,
      .may_restore = checkpoint.dir || checkpoint.filename.has_value(),
      .saves_something = scenario.model.global_step,
      .has_checkpoint = scenario.model.global_step && checkpoint.dir && !checkpoint.filename.has_value() &&
                        !checkpoint.preload.empty() && checkpoint.damage == replays::Damage::kNone,
  };
}

}  // namespace vigil::properties
