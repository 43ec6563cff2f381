// The invariants of jobs (sim/checkers) held against a job that was played.
//
// Thread safety: a pure function.
#ifndef VIGIL_REPLAYS_JUDGE_JOB_INVARIANTS_H_
#define VIGIL_REPLAYS_JUDGE_JOB_INVARIANTS_H_

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/played.h"
#include "vigil/sim/cluster/job_facts.h"

namespace vigil::replays {

// What is violated and what was armed goes into the facts, in place of what was there. REQUIRES: scenario.job.
void CheckInvariants(const Scenario& scenario, const Played& played, sim::JobFacts& facts);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JUDGE_JOB_INVARIANTS_H_
