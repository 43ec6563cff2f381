// Plays a job: every task of the cluster a node of one world, running the production code of its server and its
// training, under the faults of its plan.
//
// The order of events is that of the recordings (replays/cluster/README.md): parameter servers and the chief start
// first, the workers once the chief has opened its session, the plan once all that do not start late have one
// (`no_wait`: all at once). The world ends when no training task runs any more, or at the limit.
// Thread safety: none; a job belongs to its world.
#ifndef VIGIL_SIM_CLUSTER_JOB_H_
#define VIGIL_SIM_CLUSTER_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/behaviour.h"
#include "vigil/core/graph/op.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_history.h"
#include "vigil/sim/cluster/job_spec.h"
#include "vigil/sim/fault_applier.h"
#include "vigil/sim/node.h"
#include "vigil/sim/world.h"

namespace vigil::sim {

// On the file system that every node mounts.
inline constexpr char kCheckpoints[] = "/shared/checkpoints";

struct JobOptions {
  Behaviour behaviour = Behaviour::Default();
  std::uint64_t seed = 0;  // of the data
  bool ledger = true;  // counts the updates of each replica on each server: for invariants; costs a variable for each
  const OpRegistry* ops = nullptr;  // of all servers: for tests, one that is wrong; null: TensorFlow's
};

// What its world may take: until all have opened, its limit, and the rest afterwards in which it is looked at what
// servers still hold. Whatever takes longer never ends.
Duration LongestWorld(const JobSpec& spec);

class Job {
 public:
  // Adds the nodes to the world; world.Run() then plays. All borrowed; the job outlives the world's run.
  Job(World& world, const JobSpec& spec, const JobOptions& options);
  ~Job();

  // After world.Run().
  JobFacts Facts() const;
  const JobHistory& history() const;
  // REQUIRES: a task of the spec.
  const Node& node(std::string_view task) const;
  // What the timed faults of the plan did, in order.
  const std::vector<FaultApplier::Entry>& fault_history() const;
  std::vector<FaultApplier::DiskEntry> disk_fault_history() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_JOB_H_
