// Where the faults of a plan can be felt.
//
// Thread safety: pure functions.
#ifndef VIGIL_SIM_CHECKERS_REACH_H_
#define VIGIL_SIM_CHECKERS_REACH_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/faults/fault_kinds.h"
#include "vigil/sim/faults/fault_plan.h"

namespace vigil::sim {

// A parameter server: it serves and does not train.
bool IsServer(std::string_view task);

// A session needs every task of the cluster, not the servers alone.
bool NeedsAll(const JobSpec& spec);

// Who makes a session finds what it needs. (Processes that start all at once, and sessions that need every task of the
// cluster, fail while they wait for one another.)
bool StartsInOrder(const JobSpec& spec);

// No task was taken away for good.
bool NobodyStaysAway(const JobFacts& facts);

// No fault has changed anything, and nobody was followed by another process.
bool IsCalm(const JobFacts& facts);

// A process that was taken for dead went on beside the one that followed it.
bool HasZombies(const JobRun& run);

// The plan has a fault of disks of that effect, whether it strikes or not.
bool PlansForDisks(const JobRun& run, DiskFault::Effect effect);

// Whether an entry of that list of the plan has happened. What changed nothing is told with it.
bool Fired(const JobRun& run, InertFault::List list, std::size_t index);

// Whether one that is planned for a time may have struck by then. Of others nobody knows when they do, and who is late
// is missing from the start.
bool MayHaveStruckBy(const JobRun& run, const TimedFault& fault, Time when);
bool MayHaveStruckBy(const JobRun& run, const DiskFault& fault, Time when);

// Whether what happens to `struck` ("": everybody) can be felt by `who`: itself, a server, or, if its sessions need
// all, anybody. Of a link: one of its ends is `who`, or both are servers.
bool Reaches(const JobRun& run, std::string_view struck, std::string_view who);
bool Reaches(const JobRun& run, const TimedFault& fault, std::string_view who);

// Whether one of that list of the plan that `is` such has happened.
template <typename Fault, typename Is>
bool AnyStruck(const JobRun& run, InertFault::List list, const std::vector<Fault>& faults, Is is) {
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (is(faults[i]) && Fired(run, list, i)) return true;
  }
  return false;
}

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CHECKERS_REACH_H_
