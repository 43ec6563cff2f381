// Plays the scenario of a cluster (scenario.job).
//
// Thread safety: as Runner.
#ifndef VIGIL_REPLAYS_JOB_PLAYER_H_
#define VIGIL_REPLAYS_JOB_PLAYER_H_

#include "vigil/replays/runner.h"
#include "vigil/sim/fiber.h"

namespace vigil::replays {

// REQUIRES: scenario.job has a value.
Outcome PlayJob(const Scenario& scenario, const RunnerOptions& options, sim::StackPool& stacks);

// Plays it for each of the seeds 1 to `seeds`, and notes in the last outcome's `misses` where a play is not one that the
// recorded clusters could have made, and which of their ways no play took.
Outcome PlayJobLikeRecorded(Runner& runner, const Scenario& scenario, const JobExpectation& recorded, int seeds);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JOB_PLAYER_H_
