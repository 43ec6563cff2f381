// A recording of a cluster, a play that is like it, and plays of which one field is forged: the comparison must see
// each. What the comparison, and the table of all judges, are tested with.
//
// Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_JUDGE_COMPARISON_CASES_H_
#define VIGIL_REPLAYS_JUDGE_COMPARISON_CASES_H_

#include <string_view>
#include <vector>

#include "vigil/replays/format/job_expectation.h"
#include "vigil/sim/cluster/job_facts.h"

namespace vigil::replays {

struct ComparisonCase {
  std::string_view field;  // a tolerance (tolerances.h)
  JobExpectation recorded;
  sim::JobFacts like;
  sim::JobFacts forged;  // in that field
};

// The one task of all cases.
inline constexpr std::string_view kComparedTask = "worker:0";

std::vector<ComparisonCase> ComparisonCases();

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_JUDGE_COMPARISON_CASES_H_
