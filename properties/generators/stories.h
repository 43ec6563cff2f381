// Mixtures that would hardly come about by themselves: a few things at once, each in its place, put into a scenario
// of a monitored session that has been drawn.
//
// Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_GENERATORS_STORIES_H_
#define VIGIL_PROPERTIES_GENERATORS_STORIES_H_

#include "vigil/properties/generators/draws.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

void AddStopStory(Draws draws, replays::Scenario& scenario);
void AddWaiter(Draws draws, replays::Scenario& scenario);
void AddFeedConflict(Draws draws, replays::Scenario& scenario);
void AddOwnFetches(Draws draws, replays::Scenario& scenario);
void AddResumedCount(Draws draws, replays::Scenario& scenario);
void AddDivergence(Draws draws, replays::Scenario& scenario);
void AddStillStep(Draws draws, replays::Scenario& scenario);
void AddFinalEvaluation(Draws draws, replays::Scenario& scenario);
void AddVainWaiter(Draws draws, replays::Scenario& scenario);

// A second signal would end the process; and waits that a signal ends are no sleeps in which a fault could strike.
bool MayBeToldToEnd(const replays::Scenario& scenario);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_STORIES_H_
