// What a run has broken, with its proof, put into the timeline of that run.
//
// Thread safety: a pure function.
#ifndef VIGIL_PROPERTIES_JUDGE_TIMELINE_FINDINGS_H_
#define VIGIL_PROPERTIES_JUDGE_TIMELINE_FINDINGS_H_

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/show/timeline.h"

namespace vigil::properties {

// Also its id, its title and how it went. `timeline` is that of the outcome. Of what no rule speaks of (units,
// production runs) it looks for none.
void TellTimeline(const replays::Scenario& scenario, const replays::Outcome& outcome, replays::Timeline& timeline);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_JUDGE_TIMELINE_FINDINGS_H_
