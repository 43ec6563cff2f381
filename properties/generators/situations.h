// Situations in which several things come together, as they do in real life now and then, and hardly ever at random:
// faults of one job that are aimed at one another.
//
// Thread safety: pure function.
#ifndef VIGIL_PROPERTIES_GENERATORS_SITUATIONS_H_
#define VIGIL_PROPERTIES_GENERATORS_SITUATIONS_H_

#include "vigil/core/base/time.h"
#include "vigil/properties/generators/draws.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::properties {

// A few jobs in a hundred get one, those that it suits. It is their whole plan then, but for the links: nothing else
// happens to them. Each is drawn from a stream of its own. `phase`: in which faults fall.
void DrawSituation(const Draws& draws, Duration phase, sim::JobSpec& job);

// A few jobs train nothing: their tasks ask whatever a session can be asked (sim/cluster/conversation.h). Whether it is
// one without any fault, as a third of them are.
bool DrawConversation(Draws draws, sim::JobSpec& job);

// Of an input pipeline: what its queues are like.
void DrawInput(Draws draws, sim::JobSpec& job);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_GENERATORS_SITUATIONS_H_
