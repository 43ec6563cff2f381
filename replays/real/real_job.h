// Plays a job with processes of this machine: every task of the cluster a process (the program vigil-task) with a
// server of gRPC, killed with SIGKILL, stopped with SIGSTOP, cut off by a relay, as the real clusters of the recordings
// were (replays/cluster/README.md). What their programs see is told by the same recorder as in the simulator.
//
//   RealJobOptions options{.program = "/usr/bin/vigil-task", .folder = "/tmp/x"};
//   VIGIL_ASSIGN_OR_RETURN(const RealJobRun run, PlayRealJob(scenario, options));
//
// Under TensorFlow's behaviour they are also as slow as TensorFlow's: in starting (boot_s), in dying (sim::kDying) and
// in making sessions (sim/cluster/client_costs.h). What a fault meets hangs on it.
// It takes as long as it says, in real time, and comes out another way each time: nothing of it is replayed by a seed.
// Thread safety: one thread; several may play at a time, in folders of their own.
#ifndef VIGIL_REPLAYS_REAL_REAL_JOB_H_
#define VIGIL_REPLAYS_REAL_REAL_JOB_H_

#include <atomic>
#include <string>

#include "absl/status/statusor.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/sim/cluster/job_facts.h"
#include "vigil/sim/cluster/job_history.h"

namespace vigil::replays {

struct RealJobOptions {
  std::string program;                           // vigil-task
  std::string folder;                            // that is there: of checkpoints, and of what processes say in vain
  std::string plant = {};                        // a planted bug that is on in its processes; "" = none
  const std::atomic<bool>* interrupt = nullptr;  // borrowed; may be null
};

struct RealJobRun {
  sim::JobFacts facts;
  sim::JobHistory history;  // of all processes, by their machine's clock
  bool interrupted = false;
};

// Why processes cannot play it: what of it only a simulated world can do. "" = they can.
std::string WhyNotReal(const sim::JobSpec& job);

// REQUIRES: scenario.job has a value, and WhyNotReal is "".
// Errors: UNAVAILABLE, of processes, ports and files that are not to be had; INTERNAL, of a process that ends without
// being told to: the message has the end of what it said.
absl::StatusOr<RealJobRun> PlayRealJob(const Scenario& scenario, const RealJobOptions& options);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_REAL_REAL_JOB_H_
