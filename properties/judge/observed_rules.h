// The rules held against somebody's own program, as it was observed (replays/player/observed.h).
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_JUDGE_OBSERVED_RULES_H_
#define VIGIL_PROPERTIES_JUDGE_OBSERVED_RULES_H_

#include "vigil/properties/rules/rules.h"
#include "vigil/replays/player/observed.h"

namespace vigil::properties {

// What a rule may know of the job. Nobody tells of details but those of coordinators; where something cannot be known
// (a disk that fails, a model that others may have made), the rules take it for possible.
RunFacts FactsOf(const replays::ObservedJob& job);

// A job that did not end is judged by what it did.
Judgement JudgeObserved(const replays::ObservedJob& job);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_OBSERVED_RULES_H_
