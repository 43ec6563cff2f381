// The program that a chief, a worker or an evaluator of a simulated job runs: what a user would write, and no more.
//
// A model by its workload, MonitoredTrainingSession (or Supervisor) on its own server, a loop until it should stop; the
// evaluator has a direct session and looks for checkpoints. A conversation (conversation.h) trains nothing.
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

// What a job's regression learns from. Its noise is so large, its batches and its rate are such that at 100 steps the
// loss has come down to that of the noise and stays within 2 % of it, whichever examples a replica has had: so the
// losses of two runs can be compared. The excess over the noise's own loss is on average (sum of the Hessian's
// diagonal) rate / (4 batch) = 0.2 % of it.
inline constexpr float kJobNoise = 0.5F;
inline constexpr float kJobRate = 0.03F;
inline constexpr int kJobBatch = 32;
inline constexpr int kJobTestExamples = 1024;

struct TrainerParts {
  const Env& env;  // with the recorder as its event sink
  const JobSpec& job;
  const ClusterSpec& cluster;
  std::string job_name;  // "chief", "worker", "evaluator"
  int index = 0;
  const OpRegistry& ops;  // of its graph: for what it runs by itself, as a save beside the training does
  std::string target;     // of the own server; "" for the evaluator
  std::shared_ptr<SessionFactory> factory;
  Behaviour behaviour;
  std::uint64_t seed = 0;  // of the data
  bool ledger = true;      // JobOptions::ledger
  std::string checkpoint_dir;
  Time started;                  // the process, monotonic
  std::function<void()> opened;  // the session is open
  FactsRecorder& recorder;
  std::function<Duration(Duration)> takes;  // how long work takes on this task's machine
};

// Trains to the end of the workload; what it returns is what the program would exit with.
absl::Status Train(const TrainerParts& parts);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_TRAINER_H_
