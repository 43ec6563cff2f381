// The campaign behind `vigil explore`: plays every scenario of a scope with the core and with the reference model,
// compares them line by line, and holds every rule against it.
//
// A shard i of n plays the scenarios whose number leaves i - 1 when divided by n. What has been played can be kept in a
// state file: a later campaign of the same scope and shard goes on from there. Results do not depend on the number of
// jobs, nor on how often a campaign was interrupted.
//
// Thread safety: RunExplore belongs to one thread; it plays on others.
#ifndef VIGIL_PROPERTIES_EXPLORE_EXPLORE_H_
#define VIGIL_PROPERTIES_EXPLORE_EXPLORE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/files.h"
#include "vigil/properties/explore/scenario_space.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/player/player_client.h"
#include "vigil/replays/stage/outcome.h"
#include "vigil/sim/kernel/trace.h"

namespace vigil::properties {

struct ExploreOptions {
  ExploreScope scope;
  std::uint64_t shard = 1;  // of `shards`, from 1
  std::uint64_t shards = 1;
  int jobs = 1;
  replays::PlayLimits limits = {};     // of each scenario
  std::string failures = "failures";   // folder, made when there is something to save
  std::string plant = {};              // the planted bug that is on: lines that replay a failure name it
  std::string version = {};            // of vigil: no state of another one is gone on from
  std::string state;                   // a file; "" = nothing is kept
  replays::PlayerOptions player = {};  // who plays
};

// Everything that adds up.
struct ExploreCounts {
  std::uint64_t played = 0;
  std::uint64_t begun = 0;                        // of what takes several plays each; else 0
  std::uint64_t all_fired = 0;                    // scenarios in which each fault took place
  std::uint64_t disagreements = 0;                // of core and model
  std::uint64_t violations = 0;                   // scenarios that broke a rule
  std::uint64_t failed = 0;                       // scenarios that did one or the other
  std::map<std::string, std::uint64_t> ends;      // the last line: how many scenarios
  std::map<std::string, std::uint64_t> violated;  // rule: how many scenarios
  std::vector<std::uint64_t> armed;               // of each rule of AllRules()
  std::set<std::uint64_t> traces;                 // hashes of lists of events
};

// "exit clean", "construct failed INTERNAL", "runaway": how a scenario ended.
std::string EndOf(const replays::PlainOutcome& outcome);
// How ends of those begin that a player could not play; then ": " and why. They count as played.
inline constexpr std::string_view kNotPlayed = "not played";
// How many there are.
std::uint64_t NotPlayed(const ExploreCounts& counts);
// Whether each fault of a choice took place: its call was made.
bool AllFired(const std::vector<PlacedFault>& faults, const sim::Trace& trace);

struct ExploreSummary {
  std::string formula;
  std::uint64_t total = 0;    // in the scope
  std::uint64_t planned = 0;  // in the shard
  std::uint64_t resumed = 0;  // had been played before
  bool stopped = false;
  bool given_up = false;  // after too many crashes
  ExploreCounts counts;
};

struct ExploreFailure {
  std::string id;
  std::string rule;  // the first that it violates; "" = the model disagrees
  std::string text;  // lines, each with its newline; the last is the line that replays it
  std::string file;  // where it was saved; "" = nowhere
};

// From one process to another (replays/crew/packed.h).
template <typename Archive>
void PackFields(Archive& archive, ExploreCounts& counts) {
  archive(counts.played, counts.begun, counts.all_fired, counts.disagreements, counts.violations, counts.failed,
          counts.ends, counts.violated, counts.armed, counts.traces);
}
template <typename Archive>
void PackFields(Archive& archive, ExploreFailure& failure) {
  archive(failure.id, failure.rule, failure.text, failure.file);
}

struct ExploreCallbacks {
  std::function<void(const ExploreFailure&)> on_failure;  // the first kSavedFailures, in order of their numbers
  std::function<void(const std::string&)> on_error;       // what cannot be saved; one line
  std::function<void(const ExploreSummary&)> on_tick;     // a few times a second
  std::function<Time()> now;                              // for when to keep the state; not needed without one
  // Plays instead of the core, in any of the workers; null: the core. For tests: is a wrong core found?
  std::function<replays::Outcome(replays::Runner&, const replays::Scenario&)> play;
};

inline constexpr std::uint64_t kSavedFailures = 20;

// USAGE: a scope that cannot be explored, a shard that does not exist, a state file of another campaign. `stop` may be
// set at any time: what is being played is finished and kept.
absl::StatusOr<ExploreSummary> RunExplore(const ExploreOptions& options, Files& files,
                                          const ExploreCallbacks& callbacks, const std::atomic<bool>& stop);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_EXPLORE_H_
