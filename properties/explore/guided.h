// The campaign behind `vigil explore --guided`: plays a small job with chains of faults at points of its course
// (course_space.h), and lengthens those that brought about something new.
//
// Something new is a pair of a fault and a state: what it fell on (the message or operation, and between whom), and the
// kind of the fault before it; what all tasks were doing when it fell; what one of them did next. A chain that reaches
// a pair that none before it has reached is kept; further chains are one of those and one fault more. Of the faults
// that can follow, one that makes a new pair with the last is preferred.
//
// Plays come in rounds of the same size whatever the number of jobs, and a round is added up in its order: a seed gives
// one campaign.
// Thread safety: RunGuided belongs to one thread. It plays in other processes; a crash there is a failure, too.
#ifndef VIGIL_PROPERTIES_EXPLORE_GUIDED_H_
#define VIGIL_PROPERTIES_EXPLORE_GUIDED_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/files.h"
#include "vigil/properties/explore/course_space.h"
#include "vigil/properties/explore/explore.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"

namespace vigil::properties {

struct GuidedOptions {
  replays::Scenario scenario;  // of a job; what its plan says is left out, but for the links
  std::string source = {};     // the file that it comes from, which is not overwritten; "" = none
  std::uint64_t plays = 1000;
  std::uint64_t seed = 1;
  int faults = 4;      // in a chain, at most
  bool blind = false;  // every chain is kept, and no fault is preferred: to see what guiding is worth
  int jobs = 1;
  replays::PlayLimits limits = {};    // of each play
  std::string failures = "failures";  // folder, made when there is something to save
  std::string plant = {};             // the planted bug that is on: lines that replay a failure name it
};

struct GuidedSummary {
  std::uint64_t pairs = 0;  // of a fault and a state
  std::uint64_t kept = 0;   // chains
  // Plays, and pairs that these had reached: at each doubling, and at the end.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> growth;
  std::vector<std::uint64_t> lengths;  // chains by the number of their faults, from 1
  std::uint64_t first_failure = 0;     // the play that showed it, from 1; 0 = none
  bool stopped = false;
  bool given_up = false;  // after too many crashes
  ExploreCounts counts;
};

struct GuidedCallbacks {
  std::function<void(const ExploreFailure&)> on_failure;  // up to three of each rule
  std::function<void(const std::string&)> on_error;       // what cannot be saved; one line
  std::function<void(const GuidedSummary&)> on_tick;      // often
  std::function<Time()> now;
};

// The pairs that the last fault of a chain makes in that play of it: hashes.
std::set<std::uint64_t> PairsOf(const FaultChain& chain, const replays::Outcome& outcome);

// A job that crashes without faults is a failure, and nothing else is played. USAGE: no job, or one that does not keep
// everything without faults. `stop` may be set at any time: the round that is being played is left out.
absl::StatusOr<GuidedSummary> RunGuided(const GuidedOptions& options, Files& files, const GuidedCallbacks& callbacks,
                                        const std::atomic<bool>& stop);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_GUIDED_H_
