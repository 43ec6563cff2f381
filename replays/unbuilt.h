// What a scenario asks for that this program cannot play yet: such a scenario fails and says so; it never passes, it is never
// skipped.
#ifndef VIGIL_REPLAYS_UNBUILT_H_
#define VIGIL_REPLAYS_UNBUILT_H_

#include <string>

#include "vigil/replays/scenario.h"

namespace vigil::replays {

// "hook \"stop_at_step\" is not built yet"; "" if everything is there.
std::string WhatIsUnbuilt(const Scenario& scenario);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_UNBUILT_H_
