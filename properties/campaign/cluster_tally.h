// What a campaign of jobs has met so far: which faults fired, which invariants had something to look at, what the runs
// were like.
//
// Thread safety: none; there is one for each job, and they are added up.
#ifndef VIGIL_PROPERTIES_CAMPAIGN_CLUSTER_TALLY_H_
#define VIGIL_PROPERTIES_CAMPAIGN_CLUSTER_TALLY_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/sim/cluster/job_facts.h"

namespace vigil::properties {

struct ClusterTally {
  struct FaultKind {
    std::uint64_t jobs = 0;  // in which one was effective
    std::uint64_t planned = 0;
    std::uint64_t fired = 0;
    std::uint64_t effective = 0;
  };

  void Add(const sim::JobFacts& facts);
  void Add(const ClusterTally& other);

  double VirtualSecondsAJob() const;
  double StepsAJob() const;
  double RecoveredShare() const;
  std::uint64_t MedianEffectiveFaults() const;

  // What never happened: kinds of faults that never fired or never changed anything, invariants that never had anything
  // to look at.
  std::vector<std::string> Incomplete() const;
  // Tables for people, each line with its newline.
  std::string Text() const;

  std::uint64_t jobs = 0;
  std::uint64_t recovered = 0;  // jobs with a recovery
  std::uint64_t steps = 0;      // runs of a caller that returned
  std::uint64_t messages = 0;
  std::uint64_t hash = 0;        // of all plays, added up: the same in whatever order and processes they are played
  std::uint64_t virtual_us = 0;  // microseconds: sums do not depend on their order
  std::map<std::string, FaultKind> faults;
  std::map<std::string, std::uint64_t> armed;               // of each invariant
  std::map<std::string, std::uint64_t> violated;            // jobs
  std::map<std::string, std::uint64_t> outcomes;            // of tasks
  std::map<std::uint64_t, std::uint64_t> effective_faults;  // how many jobs had so many
};

// From one process to another (replays/crew/packed.h).
template <typename Archive>
void PackFields(Archive& archive, ClusterTally::FaultKind& kind) {
  archive(kind.jobs, kind.planned, kind.fired, kind.effective);
}
template <typename Archive>
void PackFields(Archive& archive, ClusterTally& tally) {
  archive(tally.jobs, tally.recovered, tally.steps, tally.messages, tally.hash, tally.virtual_us, tally.faults,
          tally.armed, tally.violated, tally.outcomes, tally.effective_faults);
}

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_CAMPAIGN_CLUSTER_TALLY_H_
