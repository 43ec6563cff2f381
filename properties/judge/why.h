// What led to a rule that was broken: the violation at the end of its chain of causes.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_JUDGE_WHY_H_
#define VIGIL_PROPERTIES_JUDGE_WHY_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "vigil/core/base/time.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/show/causes.h"

namespace vigil::properties {

// The number of the cause that is added: what a rule of sessions, or an invariant of a job, found in the play that the
// graph was made of. `start` is that of the play's world.
std::size_t AddToCauses(const Violation& violation, replays::CauseGraph& graph);
std::size_t AddToCauses(const sim::JobViolation& violation, Time start, replays::CauseGraph& graph);

// Of the first violation of that rule; nullopt: it is kept, or speaks of no such play (units, production runs).
// REQUIRES: a job was judged.
std::optional<replays::CauseChain> WhyBroken(const replays::Scenario& scenario, const replays::Outcome& outcome,
                                             std::string_view rule);

// For reports: indented lines, each ending in a newline.
std::string WhyText(const replays::CauseChain& chain);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_WHY_H_
