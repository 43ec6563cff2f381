// How far a simulated play may lie from what real clusters did, and still be one that they could have made: the one
// table.
//
// The comparison (job_comparison.h) takes its numbers from here, and docs/judges.md is made from it. A factor is how
// far two plays of one scenario ever lay apart in the recordings (a test computes it from replays/cluster): real
// clusters differ that much from themselves. How far a job gets until a fault cuts it off hangs on the machine alone:
// there the factor is from the middle of all recorded plays of jobs that are the same up to their fault to the farthest
// of them.
// Thread safety: constants and pure functions.
#ifndef VIGIL_REPLAYS_JUDGE_TOLERANCES_H_
#define VIGIL_REPLAYS_JUDGE_TOLERANCES_H_

#include <span>
#include <string>
#include <string_view>

namespace vigil::replays {

struct Tolerance {
  std::string_view field;    // of a task, or of the job
  double least_factor = 1;   // the recorded least may be missed by that factor ...
  double most_factor = 1;    // ... and the recorded most
  double slack = 0;          // ... and both by so much in any case
  double saves = 0;          // ... or by so many save intervals
  std::string_view excuses;  // what passes that was not recorded
  std::string_view why;
};

// Of every field that is compared, in the order of TaskExpectation; those of the job come last.
std::span<const Tolerance> Tolerances();
// REQUIRES: one of them.
const Tolerance& ToleranceOf(std::string_view field);

// "exactly", "by a factor of 1.79", "by a factor of 0.5 below and 1.5 above, and by 2 in any case"
std::string ToleranceText(const Tolerance& tolerance);

// Whether what was recorded as least to most may have been that much. `save_steps`: of the job.
bool Tolerates(const Tolerance& tolerance, double least, double most, double save_steps, double seen);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JUDGE_TOLERANCES_H_
