// Where those who watch a job write what they see, and what they see of its world besides: a simulated world or, where
// a job is played by processes, this machine.
//
// Thread safety: none is asked of it; a recorder calls it by one task at a time.
#ifndef VIGIL_SIM_CLUSTER_CHRONICLE_H_
#define VIGIL_SIM_CLUSTER_CHRONICLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_history.h"

namespace vigil::sim {

// Checkpoints that have an index, by their steps, in order.
struct IndexedCheckpoints {
  std::vector<std::int64_t> whole;
  std::vector<std::int64_t> incomplete;  // not all is there that the index speaks of
};

class Chronicle {
 public:
  virtual ~Chronicle() = default;
  virtual Time Now() = 0;            // by one clock for all tasks
  virtual std::size_t Events() = 0;  // of the play's trace, so far
  // Those that are there at the moment. Only who looks at everything at one moment can tell which are incomplete.
  virtual IndexedCheckpoints Checkpoints() = 0;
  // How often servers have met what a fault has damaged in data of the checkpoint of that step. 0: or nobody knows.
  virtual std::int64_t DamageMet(std::int64_t step) = 0;
  virtual void Add(JobMoment moment) = 0;
  // What has become of a task so far; called after each change.
  virtual void Became(const TaskFacts& facts) = 0;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_CHRONICLE_H_
