// Whether two runs fail in the same way: what a shrinker keeps. Else it slips from one failure to another on its way
// down.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_JUDGE_SAME_FAILURE_H_
#define VIGIL_PROPERTIES_JUDGE_SAME_FAILURE_H_

#include <string>

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {

// A broken rule; or, where none is broken, how else it went wrong: it did not end, or the reference model says
// something else.
struct FailureKind {
  std::string rule;  // "" = none
  replays::Verdict verdict = replays::Verdict::kPlayed;
};

// A run that breaks rules never fails in the way of one that breaks none. Of a job, judges it
// first (node_rules.h).
bool FailsLike(const FailureKind& kind, replays::Outcome& outcome, const replays::Scenario& scenario);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_SAME_FAILURE_H_
