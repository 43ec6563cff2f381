// Plays the scenario of a cluster (scenario.job).
//
// Thread safety: as Runner.
#ifndef VIGIL_REPLAYS_PLAY_JOB_PLAYER_H_
#define VIGIL_REPLAYS_PLAY_JOB_PLAYER_H_

#include <cstdint>

#include "vigil/replays/play/runner.h"
#include "vigil/sim/kernel/fiber.h"

namespace vigil::replays {

// REQUIRES: scenario.job has a value.
Outcome PlayJob(const Scenario& scenario, const RunnerOptions& options, sim::StackPool& stacks);

struct JobPlays {
  std::uint64_t first = 1;  // seed
  int seeds = 1;
  bool once = false;                             // for the first seed only: one play, to be told
  bool log_messages = false;                     // as RunnerOptions::log_messages
  const std::atomic<bool>* interrupt = nullptr;  // as RunnerOptions::interrupt
};

// Plays it for each of so many seeds (what has choices: once, by these), and notes in the last outcome's `misses` where
// a play is not one that the recorded clusters could have made, and (not of few plays, or of one that is told) which of
// their ways no play took, and which were taken too often or too seldom where the recorded plays say how often.
Outcome PlayJobLikeRecorded(Runner& runner, const Scenario& scenario, const JobExpectation& recorded,
                            const JobPlays& plays);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_JOB_PLAYER_H_
