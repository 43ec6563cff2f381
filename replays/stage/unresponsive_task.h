// A task that hears of no stop for a while, as a coordinator meets it: what joins it waits out its grace period.
#ifndef VIGIL_REPLAYS_STAGE_UNRESPONSIVE_TASK_H_
#define VIGIL_REPLAYS_STAGE_UNRESPONSIVE_TASK_H_

#include "vigil/core/coord/coordinator.h"
#include "vigil/core/env/env.h"

namespace vigil::replays {

// Spawns it and registers it with the coordinator. It ends after `secs`, or with its process.
void StartUnresponsiveTask(const Env& env, Coordinator& coord, Duration secs);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_UNRESPONSIVE_TASK_H_
