// What several plays of one job had in common, as the recordings say it: sets and ranges (job_expectation.h).
//
//   JobSummary summary;
//   for (...) summary.Add(PlayOf(*outcome.job));
//   PrintJobExpectation(summary.expectation());
//
// Thread safety: belongs to one thread.
#ifndef VIGIL_REPLAYS_JUDGE_JOB_SUMMARY_H_
#define VIGIL_REPLAYS_JUDGE_JOB_SUMMARY_H_

#include "vigil/replays/format/job_expectation.h"
#include "vigil/sim/cluster/job_facts.h"

namespace vigil::replays {

// What the recordings keep of a play.
JobPlay PlayOf(const sim::JobFacts& facts);

class JobSummary {
 public:
  void Add(const JobPlay& play);
  const JobExpectation& expectation() const { return expectation_; }

 private:
  JobExpectation expectation_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JUDGE_JOB_SUMMARY_H_
