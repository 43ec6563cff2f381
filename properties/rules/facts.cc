#include "vigil/properties/rules/facts.h"

namespace vigil::properties {

RunFacts FactsOf(const replays::Scenario& scenario) {
  using replays::SessionKind;
  const SessionKind kind = scenario.session.kind;
  const replays::CheckpointSpec& checkpoint = scenario.checkpoint;
  return {
      .judged = !scenario.unit.has_value() && (kind == SessionKind::kMonitored || kind == SessionKind::kSingular),
      .recovers = kind != SessionKind::kSingular,
      .tensorflow = scenario.behaviour.name == "tensorflow",
      .hooks = scenario.hooks.size(),
      .init_fn = scenario.init_fn,
      .queue = scenario.model.batches.has_value() && scenario.model.queue_input,
      .may_restore = checkpoint.dir || checkpoint.filename.has_value(),
      .saves_something = scenario.model.global_step,
      .has_checkpoint = scenario.model.global_step && checkpoint.dir && !checkpoint.filename.has_value() &&
                        !checkpoint.preload.empty() && checkpoint.damage == replays::Damage::kNone,
  };
}

}  // namespace vigil::properties
