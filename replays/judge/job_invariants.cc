#include "vigil/replays/judge/job_invariants.h"

#include <utility>

#include "vigil/core/base/behaviour.h"
#include "vigil/replays/stage/behaviour.h"
#include "vigil/sim/checkers/checker.h"

namespace vigil::replays {

void CheckInvariants(const Scenario& scenario, const Played& played, sim::JobFacts& facts) {
  const Behaviour behaviour = BehaviourOf(scenario.behaviour);
  sim::JobJudgement judgement = sim::CheckJob({.spec = *scenario.job,
                                               .history = played.history,
                                               .facts = facts,
                                               .behaviour = behaviour,
                                               .quiet = played.quiet.has_value() ? &*played.quiet : nullptr,
                                               .real = played.real,
                                               .start = played.start});
  facts.violations = std::move(judgement.violations);
  facts.armed = std::move(judgement.armed);
}

}  // namespace vigil::replays
