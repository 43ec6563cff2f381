// The campaign behind `vigil explore --crash-every`: plays a small job once without faults, and then once for each
// fault that can fall at each point of its course (course_faults.h), or for all pairs of them; every play is held
// against the invariants of jobs and the rules of its nodes, and must come to an end.
//
// Of a pair the second fault falls at a point of the play that the first has changed, after it: a crash within the
// recovery from the first is among them. A shard i of n takes the (first) faults whose number leaves i - 1 when divided
// by n. What was played can be kept in a state file, as of a scope (explore.h).
// Thread safety: RunCrashEvery belongs to one thread. It plays in other processes; a crash there is a failure, too.
#ifndef VIGIL_PROPERTIES_EXPLORE_CRASH_EVERY_H_
#define VIGIL_PROPERTIES_EXPLORE_CRASH_EVERY_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/files.h"
#include "vigil/properties/explore/course_faults.h"
#include "vigil/properties/explore/explore.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::properties {

struct CrashEveryOptions {
  replays::Scenario scenario;  // of a job; what its plan says is left out, but for the links
  std::string source = {};     // the file that it comes from, which is not overwritten; "" = none
  bool pairs = false;
  std::uint64_t shard = 1;  // of `shards`, from 1
  std::uint64_t shards = 1;
  int jobs = 1;
  replays::PlayLimits limits = {};    // of each play
  std::string failures = "failures";  // folder, made when there is something to save
  std::string plant = {};             // the planted bug that is on: lines that replay a failure name it
  std::string version = {};           // of vigil: no state of another one is gone on from
  std::string state;                  // a file; "" = nothing is kept
};

struct CrashEverySummary {
  std::array<std::uint64_t, sim::kFaultPointKinds> points{};  // of the play without faults, by kind
  std::array<std::uint64_t, kCourseFaultKinds> faults{};      // at these points, by kind
  std::uint64_t planned = 0;                                  // faults in the shard; of pairs: first ones
  std::uint64_t resumed = 0;                                  // of these, done before
  bool stopped = false;
  bool given_up = false;  // after too many crashes
  // begun: of what is planned, what is done; all_fired: plays in which every fault changed something.
  ExploreCounts counts;
};

struct CrashEveryCallbacks {
  std::function<void(const CrashEverySummary&)> on_plan;  // before the first play with a fault
  std::function<void(const ExploreFailure&)> on_failure;  // up to three of each rule
  std::function<void(const std::string&)> on_error;       // what cannot be saved; one line
  std::function<void(const CrashEverySummary&)> on_tick;  // often
  std::function<Time()> now;
};

// A job that crashes without faults is a failure, and nothing else is played. USAGE: no job, a job that does not keep
// everything without faults, a shard that does not exist, a state file of another campaign. `stop` may be set at any
// time: what is being played is finished and kept.
absl::StatusOr<CrashEverySummary> RunCrashEvery(const CrashEveryOptions& options, Files& files,
                                                const CrashEveryCallbacks& callbacks, const std::atomic<bool>& stop);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_CRASH_EVERY_H_
