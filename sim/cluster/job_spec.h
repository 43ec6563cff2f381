// A distributed training job under faults, as data: which tasks there are, what they train, what happens to them.
//
// Thread safety: data.
#ifndef VIGIL_SIM_CLUSTER_JOB_SPEC_H_
#define VIGIL_SIM_CLUSTER_JOB_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/sim/faults/fault_plan.h"

namespace vigil::sim {

// How a job is trained. The fields are those of the recordings of real clusters, where these have them.
enum class WorkloadKind {
  kAsyncRegression,  // linear regression, each replica for itself
  kSyncRegression,   // ... with SyncReplicasOptimizer over all replicas
  kInputPipeline,    // queues feed the replicas; their end (OUT_OF_RANGE) ends the training, last_step does not
  kEvaluation,       // asynchronous, and a reader of the checkpoints beside it: task "evaluator:0"
  kShortJob,         // asynchronous; the chief may be done before a worker has looked twice
  kSupervisor,       // asynchronous, by Supervisor instead of MonitoredTrainingSession
  kConversation,     // nothing is trained: each asks whatever a session can be asked, last_step times (conversation.h)
};
inline constexpr int kWorkloadKinds = static_cast<int>(WorkloadKind::kConversation) + 1;
std::string_view WorkloadName(WorkloadKind kind);  // "async_regression", ...

struct WorkloadSpec {
  WorkloadKind kind = WorkloadKind::kAsyncRegression;
  std::int64_t last_step = 600;
  std::map<std::string, std::int64_t, std::less<>> last_steps;  // of single tasks
  std::int64_t save_steps = 20;
  Duration before_save{0};   // the chief stands so long before it writes a checkpoint, in a listener of its saver
  bool async_saves = false;  // checkpoints are written beside the training
  std::int64_t validate_steps =
      0;                 // of a regression: so often a task looks at its loss in the session, without training
  Duration visits{0};    // the pause between two sessions beside the training (visits.h); 0 = none
  Duration diary{0};     // how often a task writes into a file of its own (diary.h); 0 = never
  bool init_fn = false;  // of what has a MonitoredTrainingSession: its model has one, which takes a few seconds
  // Of kAsyncRegression and kShortJob: worker:0's batch of that number, in its first life, makes the loss NaN, and what
  // the variables are from then on; the chief watches for that, and stops. 0 = none.
  std::int64_t nan_batch = 0;
  std::int64_t sync = 0;      // of kSyncRegression: replicas to aggregate; 0 = all
  bool shared_input = false;  // of kInputPipeline: a queue at a server, which the chief fills, feeds all that train
  // Of kInputPipeline, too:
  std::int64_t input_batch = 1;  // so many elements a step takes
  bool input_rest = false;       // ... and the last one takes what is left
  bool shuffled_input = false;   // the queue gives its elements in random order
  bool staged_input = false;     // a queue before that one, which a second queue runner empties into it
  bool filters = true;           // each task sees the parameter servers and itself only
  std::string master;            // "ps:0": its master makes the sessions of all that train; "" = each its own
  // Those that train are clients and no more: they serve nobody, and are no part of the cluster. With a master alone.
  // What each has of its own would have to stand there, so no inputs and no synchronous replicas.
  bool clients = false;
  std::int64_t timeout_ms = 0;       // operation_timeout_in_ms; 0 = none
  std::optional<double> max_wait_s;  // of MonitoredTrainingSession; none: its default
  Duration disk{0};                  // what a file operation takes, typically; 0 = no time
  Duration cpu{0};  // what an op, a request and an answer take, typically, and each 4 KB of them once more; 0 = no time
  std::int64_t processors = 0;  // so many ops, requests and answers of a node take theirs at a time; 0 = all
  Duration step = std::chrono::milliseconds(50);  // pause between two steps of a task
  Duration least_boot = std::chrono::seconds(2);  // from the start of a process to its server
  Duration most_boot = std::chrono::seconds(4);
  // Measured ones in place of these two: each as likely. They increase, by enough to be told apart in whole
  // milliseconds, as all such lists here do.
  std::vector<Duration> boots;
  // What a client spends on a new session, once its tasks are found, and on each run like which there was none in it
  // (client_costs.h).
  Duration least_session = std::chrono::milliseconds(80);
  Duration most_session = std::chrono::milliseconds(180);
  std::vector<Duration> sessions;  // measured ones in place of these two
  Duration signature = std::chrono::milliseconds(40);
  std::vector<Duration> signatures;  // measured ones in its place
  friend bool operator==(const WorkloadSpec&, const WorkloadSpec&) = default;
};

struct JobSpec {
  std::map<std::string, int, std::less<>> tasks = {{"chief", 1}, {"ps", 1}, {"worker", 1}};  // of each job how many
  WorkloadSpec workload;
  FaultPlan plan;
  // The plan's times count from the moment when every task that does not start late has an open session; true: from the
  // start of the processes, which then start all at once.
  bool no_wait = false;
  // From that moment, too: every fault ends, and every task that was down starts again, unless the plan keeps it away.
  // From then on the job must get on. Absent: never.
  std::optional<Duration> heal_after;
  Duration limit = std::chrono::seconds(3600);  // from that moment; what then still runs is `running`
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// The job of what reads checkpoints beside a training: a process like the others, but no task of the cluster.
inline constexpr std::string_view kEvaluatorJob = "evaluator";

// "chief:0", "ps:0", "ps:1", "worker:0": by job, then by number.
std::vector<std::string> TaskNames(const JobSpec& job);

// What the slowest start of a process takes.
Duration LongestBoot(const WorkloadSpec& workload);

// Of that task: its own, or that of all.
std::int64_t LastStepOf(const WorkloadSpec& workload, std::string_view task);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_JOB_SPEC_H_
