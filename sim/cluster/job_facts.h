// What became of a job: for each training task what its caller and its sessions met, over all lives of the task.
//
// The fields are those of the recordings of real clusters (replays/cluster/README.md).
// Thread safety: data.
#ifndef VIGIL_SIM_CLUSTER_JOB_FACTS_H_
#define VIGIL_SIM_CLUSTER_JOB_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/time.h"
#include "vigil/sim/faults/fault_kinds.h"

namespace vigil::sim {

struct TaskFacts {
  std::string outcome = "running";                // how the last life ended: clean, a code, killed, running
  std::string text;                               // of the error it ended with
  std::int64_t sessions = 0;                      // calls of after_create_session
  std::vector<Code> run_failed;                   // runs that failed below the recovery
  std::vector<Code> create_failed;                // creations of a session that failed
  std::vector<std::int64_t> step_back_silent;     // by how much the step went back without a new session of this task
  std::vector<std::int64_t> step_back_recovered;  // ... right after one
  std::int64_t step_kept_recovered = 0;           // new sessions after which the step was not lower
  Duration longest_run{0};
  Duration machine_still{0};             // within that: so long the machine itself stood still (real processes only)
  std::optional<Duration> opened_after;  // of its first life, from the start of the process to the open session
  std::int64_t last_step = 0;            // the greatest that a run came back with
  std::int64_t hook_end = 0;             // calls of end
  std::int64_t runs = 0;                 // that came back with a value
  std::int64_t recoveries = 0;           // sessions given up, also while they were created
  int lives = 0;
  std::vector<std::size_t> first_events;  // of each life: how many events the world had seen when it began
  std::vector<std::string> nodes;         // ... and the node that it was on
};

// Of one kind of fault (fault_kinds.h).
struct FaultCount {
  std::string kind;
  std::int64_t planned = 0;
  std::int64_t fired = 0;
  std::int64_t effective = 0;  // changed something
};

// What an invariant found (sim/checkers).
struct JobViolation {
  std::string rule;
  std::string text;  // who, when, expected, seen
  // For those who look for what led there; known only where it was judged.
  std::string task = {};                            // or what else it is about
  std::optional<Time> at = std::nullopt;            // nullopt: at the end
  std::optional<std::size_t> event = std::nullopt;  // of the play's trace: the last that proves it, if one does
};

// A request that no handler ever got (network.h), sent at that time of the world.
struct UnheardCall {
  std::string sender;
  std::vector<int> lives;  // of the sender, on the machine that sent it: one of them did
  std::string server;
  std::string method;  // "/service/Method"
  Time sent;
};

struct JobFacts {
  std::map<std::string, TaskFacts, std::less<>> tasks;  // all but the parameter servers
  std::optional<std::int64_t> newest_checkpoint;
  std::int64_t restores_without_loss = 0;  // of checkpoints that were of the very step that the job had reached
  std::optional<double>
      final_loss;  // of the regression's parameters in that checkpoint, on examples nobody trained with
  std::vector<FaultCount> faults;
  std::vector<InertFault> inert;                           // faults of the plan that changed nothing
  std::vector<JobViolation> violations;                    // filled in by whoever checks
  std::map<std::string, std::int64_t, std::less<>> armed;  // how often each invariant had something to look at
  Duration virtual_time{0};
  std::uint64_t messages = 0;
  std::vector<std::int64_t> checkpoints;   // the steps of those that are whole at the end, in order
  std::vector<UnheardCall> unheard;        // in the order in which it was clear; for checkers, not for reports
  std::vector<std::int64_t> incomplete;    // the steps of which there is an index at the end, but not all it speaks of
  std::vector<std::int64_t> half_deleted;  // the steps of which there is data at the end, but no index, in order
  std::set<std::int64_t> rotten;           // the steps of checkpoints in which a bit has flipped by a fault
  bool state_file_rotten = false;          // the same of the file that says which checkpoints there are
  std::set<std::int64_t> rotten_state_file_names;  // what that called the newest since, right or wrong
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_JOB_FACTS_H_
