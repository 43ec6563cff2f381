// Plays the scenario of a cluster (scenario.job) with processes of this machine (replays/real).
//
// Thread safety: as Runner.
#ifndef VIGIL_REPLAYS_PLAY_REAL_PLAYER_H_
#define VIGIL_REPLAYS_PLAY_REAL_PLAYER_H_

#include "vigil/replays/play/runner.h"

namespace vigil::replays {

// `player`: its task_program (vigil-task), plant and keep, the folder in which each play leaves a folder of its own,
// named after the scenario, with the checkpoints and what the processes said.
// kCannot: it is of no cluster, or only a simulated world can do what it says. kNotSetUp: what PlayRealJob says. Of the
// outcome there are what became of the job and its history, no events.
Outcome PlayForReal(const Scenario& scenario, const PlayerOptions& player, const RunnerOptions& options);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_REAL_PLAYER_H_
