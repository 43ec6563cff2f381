// The program that a chief or a worker of a simulated job runs: what a user would write, and no more.
//
// A model by its workload, MonitoredTrainingSession (or Supervisor) on its own server, a loop until it should stop.
// Thread safety: the task that trains. Ownership: everything in TrainerParts is borrowed and outlives the call.
#ifndef VIGIL_SIM_CLUSTER_TRAINER_H_
#define VIGIL_SIM_CLUSTER_TRAINER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/cluster/cluster_spec.h"
#include "vigil/core/env/env.h"
#include "vigil/core/session/session.h"
#include "vigil/sim/cluster/facts_recorder.h"
#include "vigil/sim/cluster/job_spec.h"

namespace vigil::sim {

struct TrainerParts {
  const Env& env;  // with the recorder as its event sink
  const JobSpec& job;
  const ClusterSpec& cluster;
  std::string job_name;  // "chief", "worker"
  int index = 0;
  std::string target;  // of the own server
  std::shared_ptr<SessionFactory> factory;
  Behaviour behaviour;
  std::uint64_t seed = 0;  // of the data
  std::string checkpoint_dir;
  Time started;                  // the process, monotonic
  std::function<void()> opened;  // the session is open
  FactsRecorder& recorder;
};

// Trains to the end of the workload; what it returns is what the program would exit with.
absl::Status Train(const TrainerParts& parts);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_TRAINER_H_
