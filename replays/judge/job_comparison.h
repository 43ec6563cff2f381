// Whether a play in the simulator is one that the recorded clusters could have made (job_expectation.h).
//
// Outcomes and codes are among those recorded, counts and amounts within the recorded range. What may differ all the
// same, by how much and why, stands in one table (tolerances.h; as a document docs/judges.md). Where the recordings
// show two ways, several plays together must show both (JobCoverage).
//
// Thread safety: data and pure functions. Source: replays/cluster/README.md.
#ifndef VIGIL_REPLAYS_JUDGE_JOB_COMPARISON_H_
#define VIGIL_REPLAYS_JUDGE_JOB_COMPARISON_H_

#include <set>
#include <string>
#include <vector>

#include "vigil/replays/format/job_expectation.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::replays {

// What does not hold, a line each: "worker:0 sessions: recorded 2 to 2, seen 3". Empty: it holds.
std::vector<std::string> Misses(const sim::JobSpec& job, const sim::JobFacts& seen, const JobExpectation& recorded);

// Which of the recorded ways several plays took: outcomes, and where a count is recorded as 0 and as more.
class JobCoverage {
 public:
  void Add(const sim::JobFacts& seen, const JobExpectation& recorded);
  // Recorded ways that no play took: "worker:0 step_back_recovered: recorded with and without, seen always without".
  std::vector<std::string> Missing(const JobExpectation& recorded) const;

 private:
  std::set<std::string> seen_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JUDGE_JOB_COMPARISON_H_
