// What happened in a job, in order: what the checkers (sim/checkers) look at afterwards.
//
// Thread safety: data.
#ifndef VIGIL_SIM_CLUSTER_JOB_HISTORY_H_
#define VIGIL_SIM_CLUSTER_JOB_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/time.h"

namespace vigil::sim {

// What a server was asked to do with a queue of whole numbers.
struct QueueOp {
  enum class What : std::uint8_t {
    kPut,    // elements, all or none
    kRenew,  // what is in it is thrown away, it is open, elements are put in
    kTake,   // elements, none if it failed
    kClose,
    kSize,  // opens it first if `opens`; size
  };
  What what = What::kPut;
  std::string queue;
  std::string taker;                   // of kTake: the replica that says so of itself; "" = who it is is not said
  std::vector<std::int64_t> elements;  // put in or taken
  std::int64_t most = 1;               // of kTake: so many are asked for ...
  std::int64_t least = 1;              // ... and it fails with fewer than those
  std::int64_t capacity = -1;          // of the queue; below 0: without bound
  std::int64_t shuffled_above =
      -1;  // of the queue: any element, but it keeps so many until it is closed; -1 = in order
  bool opens = false;
  std::int64_t size = 0;
};

// What a server holds for sessions and processes that are gone, for as long as it was seen.
struct Overdue {
  std::string session;          // whose graphs: its master lives, and does not know it; "" = of none
  Duration session_for{0};      // ... so long
  Duration dead_for{0};         // ... who works or waits for a step of a process that is gone
  std::size_t stale_steps = 0;  // that its own master takes for running, beyond those that run
  bool operator==(const Overdue&) const = default;
};

// What a conversation (conversation.h) heard.
struct Answer {
  Duration took{0};
  Duration limit{0};            // it is given up after so long; 0 = never, or by the workload's timeout
  Duration session_for{0};      // so long ago its session was made; of creations and resets: 0
  Duration initialised_for{0};  // ... the variables that it asks about were initialised; 0 = they were not
  std::string text = {};        // of an error, and what was asked
  std::string wrong = {};       // "" = nothing
  bool operator==(const Answer&) const = default;
};

struct JobMoment {
  enum class Kind {
    kStarted,      // a life of the task begins
    kServing,      // its server is up
    kOpened,       // its program has an open session
    kSession,      // after_create_session: a new session of a monitored session
    kRunStarted,   // a caller's run
    kRunReturned,  // ... came back; step, ledger
    kRunFailed,    // ... came back with an error: code
    kAttempt,      // a raw run with hooks was made within a run: code
    kRecovery,     // a session is given up: code
    // A restore on a session came back: code; step = of the checkpoint, -1 = not known; subject = kDamagedData: in it a
    // server has met what a fault has damaged in the data since they were written
    kRestored,
    kInitialised,  // an init op came back: code
    kInitFnBegan,  // an init_fn, which follows it, begins ...
    kInitFnEnded,  // ... and has returned: code
    kSaved,  // a listener was told that a checkpoint of that step is complete: step; code = whether it is, on the disk
    kFound,  // of kStarted: the newest checkpoint that is whole then: step, -1 = there is none
    kFoundIncomplete,  // ... and each that has an index, but not all that this speaks of: step
    kLogged,           // the events file was told of a checkpoint: step
    kSavedInPlace,     // a worker's saver has written a checkpoint of that step, in the chief's place: step
    kToldToStop,       // by who looks after its process
    kHasStopped,       // of a parameter server: it has: subject = what it still holds ("" = nothing), but for graphs
    kDiverged,         // a chief saw that the loss is NaN
    kStopAsked,        // a hook asked its run for a stop
    // It is taken for dead: a new process of the same task, subject, is about to begin, and from now on it goes by the
    // name of task (ZombieOf).
    kReplaced,
    kLeaves,     // its session begins to be closed, and no error is why
    kEvaluated,  // a checkpoint of that step was evaluated: step
    kSawStep,    // a hook of the task saw that step before a run
    kEnded,      // the program returned: code (kOk: cleanly)
    kTaskLeft,   // at its end a task that the program had started still ran: subject
    // What its server still holds: subject ("" = nothing), step = how many graphs. Of a parameter server a minute after
    // the last training task has ended, when nothing is asked any more ...
    kAtRestSoon,
    kAtRest,  // ... and when it has had time to notice who is gone; of others just before the program returns
    // Of a parameter server, which counts the updates of each replica: one of subject was applied there, or the count
    // was restored or initialised; step = the count that it has now.
    kApplied,
    kAssigned,
    kWritten,  // ... or that count was written to the files of a checkpoint
    // A server's operation on a queue: queue; step = the place of the call in the history, also of its return: code.
    kQueueCalled,
    kQueueReturned,
    kHolds,     // once a minute after everything has healed, of a server: overdue
    kStepMade,  // a server has counted a global step: step
    kStepSet,   // ... or its global step was restored or initialised: step
    // A session beside the training was used again: code; step = after how many seconds, rounded up: since it was used
    // before, or, where it has given up a run, since it was made.
    kCameBack,
    kAnswered,  // a conversation heard: answer; code: kOk = what one process says, too, or something that is wrong
    // A file that a program writes for itself, on its own disk: so much was in it when the process began: step; code =
    // whether that is what was written ...
    kDiaryFound,
    kDiarySynced,  // ... so much is synced: step
    kBegin,        // the plan begins (task = "")
    kHealed,       // everything has healed (task = "")
  };
  Time at;  // the world's
  std::string task;
  int life = 0;
  Kind kind = Kind::kStarted;
  Code code = Code::kOk;
  std::int64_t step = 0;
  std::vector<float> ledger = {};  // of kRunReturned: how often each parameter server says this replica has updated it
  std::string subject = {};
  std::int64_t checkpoint = -1;  // of kWritten: its step
  std::int64_t attempt = 0;      // of kApplied: whose update it was, the same number on all servers; 0 = not known
  Duration began_before{0};      // of kApplied, kAssigned, kWritten, kStepMade, kStepSet: how long the operation took
  std::int64_t element = -1;     // of kRunReturned: what the run has taken from its input; -1 = it takes nothing
  std::shared_ptr<const QueueOp> queue = nullptr;
  std::shared_ptr<const Overdue> overdue = nullptr;
  std::shared_ptr<const Answer> answer = nullptr;
};

inline constexpr std::string_view kDamagedData = "damaged";

using JobHistory = std::vector<JobMoment>;

// Restores of checkpoints that were of the very step that the job had reached.
std::int64_t RestoresWithoutLoss(const JobHistory& history);

// A process that was taken for dead and lives on is told apart from those of its task that follow it: "zombie of
// chief:0", of life 2.
inline constexpr std::string_view kZombieOf = "zombie of ";
inline std::string ZombieOf(std::string_view task) { return std::string(kZombieOf).append(task); }
inline bool IsZombie(std::string_view task) { return task.starts_with(kZombieOf); }
// Whose process it is, or was.
inline std::string_view WithoutZombie(std::string_view task) {
  return IsZombie(task) ? task.substr(kZombieOf.size()) : task;
}

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_JOB_HISTORY_H_
