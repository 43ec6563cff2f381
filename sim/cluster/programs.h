// The programs of a job, by workload, behind Train() of trainer.h; and what they share.
//
// Thread safety and ownership: as Train().
#ifndef VIGIL_SIM_CLUSTER_PROGRAMS_H_
#define VIGIL_SIM_CLUSTER_PROGRAMS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/session/session.h"
#include "vigil/core/tensor/tensor.h"
#include "vigil/core/train/fetches.h"
#include "vigil/core/train/session_run_hook.h"
#include "vigil/sim/cluster/trainer.h"
#include "vigil/sim/workloads/regression.h"
#include "vigil/sim/workloads/replica.h"

namespace vigil::sim {

// Linear regression by MonitoredTrainingSession, asynchronous or synchronous, until the last step.
absl::Status TrainRegression(const TrainerParts& parts);
// Each replica learns from a queue of its own, until its input ends.
absl::Status TrainOnInput(const TrainerParts& parts);
// Linear regression by Supervisor, which gives up at all errors but ABORTED, and saves from time to time only.
absl::Status TrainSupervised(const TrainerParts& parts);
// No trainer: evaluates the checkpoints that the others write, until one has the last step. DEADLINE_EXCEEDED once it
// has seen nothing new for long.
absl::Status Evaluate(const TrainerParts& parts);

// "worker:0".
std::string TaskOf(const TrainerParts& parts);
Replica ReplicaOf(const TrainerParts& parts);
// Chief and workers.
int ReplicasOf(const JobSpec& job);
// For what is no training, or beside it: no event tells of it.
Env WithoutEvents(Env env);
// Anything up to that.
Duration DrawnUpTo(const Env& env, std::string_view stream, Duration most);
SessionConfig ConfigOf(const TrainerParts& parts);
std::int64_t LastStepOf(const TrainerParts& parts);

// The training's examples of this replica.
RegressionData DataOf(const TrainerParts& parts);

// A replica's model as the loop sees it.
struct Program {
  explicit Program(const OpRegistry& ops) : graph(ops) {}
  Graph graph;
  Output global_step;
  Output train;                   // what the loop runs
  std::vector<Output> ledger;     // a count for each parameter server
  std::optional<Output> loss;     // for WorkloadSpec::validate_steps
  std::optional<Output> element;  // that a step takes from its input
  std::vector<HookPtr> hooks;     // the model's own
};

// Counters on every parameter server, one for each replica, updated in its steps by the same op as the model's
// variables: what was applied, and how often, can be seen. The graph of each replica has all of them: the chief
// initialises and saves them. Sets `train` to `train_op` and the counting.
void AddLedger(const TrainerParts& parts, Builder& b, Output train_op, Program& program);

// Linear regression with its ledger: sets `global_step` and `train`.
absl::StatusOr<Regression> AddRegression(const TrainerParts& parts, Builder& b, Program& program);

// What a step fetches: train, the global step, the ledger, the element; and the ledger of what it fetched.
Fetches FetchesOf(const Program& program);
std::vector<float> LedgerOf(const Program& program, const std::function<float(std::size_t)>& value);

// Trains in a MonitoredTrainingSession until it should stop; `feed` gives what each step is fed.
absl::Status TrainMonitored(const TrainerParts& parts, Program& program, const std::function<Feeds()>& feed);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_PROGRAMS_H_
