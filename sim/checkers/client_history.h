// What the replicas of a job have asked of its variables, and what they were told, as operations that overlap.
//
// Each attempt of a training step counts: the global step, and on each server the replica's own updates. It also reads
// what it counts, before or after. An attempt that failed, or was cut off with its process, may have counted or not, or
// may do so later.
// Thread safety: pure functions.
#ifndef VIGIL_SIM_CHECKERS_CLIENT_HISTORY_H_
#define VIGIL_SIM_CHECKERS_CLIENT_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vigil/sim/cluster/job_history.h"

namespace vigil::sim {

struct ClientOperation {
  std::string replica;
  std::size_t call = 0;  // places in the history of the job
  std::size_t end = 0;   // where it returned, or was lost
  bool adds = false;
  bool lost = false;                     // of one that adds
  std::vector<std::int64_t> steps;       // that it read, of the global step: one or none
  std::vector<std::int64_t> own_counts;  // that it read, of each server; or none
};

// By the place where they end.
std::vector<ClientOperation> ClientOperations(const JobHistory& history);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CHECKERS_CLIENT_HISTORY_H_
