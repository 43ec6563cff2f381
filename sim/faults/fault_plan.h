// The faults of a simulated cluster, as data: what a scenario's "plan" and "links" say, and what the swarm draws.
//
// Tasks are named "ps:0", "chief:0", "worker:1". Times count from the moment when the plan begins (see cluster runner).
// Thread safety: data.
#ifndef VIGIL_SIM_FAULTS_FAULT_PLAN_H_
#define VIGIL_SIM_FAULTS_FAULT_PLAN_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/event.h"
#include "vigil/core/base/time.h"

namespace vigil::sim {

// What a crash does to the disk of its node (and to what the node has written to the shared file system).
enum class DiskLoss {
  kNothing,   // the process is killed: what was written stays
  kUnsynced,  // the power goes: what was not synced is lost, renames that were not made durable too
  kTorn,      // ... or only partly lost
  kAll,       // the disk is gone (not the shared one)
};

// A point in the course of a job (sim/course.h): the n-th of its kind since the start of the world, from 1.
struct FaultPoint {
  enum class Kind : std::uint8_t {
    kSent,       // a message between two tasks is on its way
    kDelivered,  // ... has arrived
    kFileOp,     // an operation on a file is about to be made
  };
  Kind kind = Kind::kSent;
  std::int64_t n = 1;
  friend auto operator<=>(const FaultPoint&, const FaultPoint&) = default;
};
inline constexpr std::size_t kFaultPointKinds = static_cast<std::size_t>(FaultPoint::Kind::kFileOp) + 1;

// Something that happens to a task or between two tasks at a time, or at a point of the job's course.
struct TimedFault {
  enum class Kind {
    kCrash,       // task; restart_after: absent = stays away; disk; silently; elsewhere; in_order
    kPause,       // task, lasts: stands still, its connections stay open
    kStart,       // task starts only now
    kCut,         // task and peer, lasts: connections are reset and refused
    kSilent,      // task and peer, lasts: nothing passes, nothing is closed
    kClockJump,   // task: its wall clock jumps by `by`
    kClockDrift,  // task: its wall clock runs `rate` times as fast, lasts
    kSlowLink,    // task and peer, lasts: every message takes `by` longer
    kSlowNode,    // task, lasts: its own work and every request to it take `rate` times as long
    kOverload,    // task, at_once, lasts: it handles so many requests at a time, the others wait for their turn
    kZombie,  // task stands still (silently: is cut off from all), lasts; restart_after: a process that is to be the
              // only one of that task starts on another machine; elsewhere
  };
  // What is one event in real life and several entries of a plan.
  enum class Whole {
    kAlone,
    kPartition,       // of cut, silent: tasks of one side and those of another, by pairs
    kRack,            // of crash: several machines lose their power at one moment
    kRollingRestart,  // of crash: one task after the other
  };
  Kind kind = Kind::kCrash;
  Duration at{0};
  std::optional<FaultPoint> point = {};  // in place of `at`; a process that crashes there is gone at once
  std::string task;
  std::string peer;               // of cut, silent, slow link
  bool one_way = false;           // of cut, silent, slow link: only from task to peer
  std::optional<Duration> lasts;  // absent: for ever
  std::optional<Duration> restart_after;
  DiskLoss disk = DiskLoss::kNothing;
  // Of a crash of a parameter server: it is told to stop, and its process ends when it has. Until then nobody starts
  // it again.
  bool in_order = false;
  bool silently = false;  // of a crash: the machine goes with it, and nobody is left to end its connections
  // The new process is on another machine, to which the task's name leads only so long after it has started; absent, of
  // a crash: on the same one.
  std::optional<Duration> elsewhere = {};
  Duration by{0};
  double rate = 1;
  std::int64_t at_once = 1;  // of overload
  Whole part_of = Whole::kAlone;
  friend bool operator==(const TimedFault&, const TimedFault&) = default;
};

// What happens to one request between two tasks.
struct RpcFault {
  enum class Effect {
    kError,          // refused with `code` before it takes effect
    kLostRequest,    // the connection breaks before it arrives: UNAVAILABLE (or `code`)
    kLostReply,      // it takes effect, then the connection breaks: UNAVAILABLE (or `code`)
    kNeverAnswered,  // it takes effect and no answer comes
    kDuplicated,     // it arrives twice
    kDelayed,        // it arrives `by` later; others overtake it
    kDamaged,        // a bit of it, or of its answer, is another one when it arrives
    kReset,          // every connection between the two breaks
  };
  Effect effect = Effect::kError;
  std::string method;     // "RunStep", "RunGraph", ...: the last part; "" = any
  std::string from;       // "" = any
  std::string to;         // "" = any
  std::int64_t call = 1;  // of those that match, from 1; 0 = every one
  Code code = Code::kUnavailable;
  Duration by{0};
  friend bool operator==(const RpcFault&, const RpcFault&) = default;
};

// What happens to one operation on a node's own disk, or on the shared file system as that node sees it.
struct DiskFault {
  enum class Effect {
    kNoSpace,
    kIoError,
    kSlow,
    kStale,   // of a listing of the shared file system: it shows what others did only `by` later
    kBitRot,  // before the operation, a bit of its file that the seed draws has flipped, for good
    kGone,    // before the operation, its file is gone, for good
  };
  Effect effect = Effect::kIoError;
  std::string task;       // "" = any
  std::string op;         // open, append, read, sync, close, rename, remove, stat, list, make_directory; "" = any
  std::string path;       // part of it; "" = any
  std::int64_t call = 1;  // 0 = every one
  Duration by{0};         // of kSlow, kStale
  // The calls that count: from the begin of the plan on, so late and for so long; absent: all, to the end.
  std::optional<Duration> at = {};
  std::optional<Duration> lasts = {};
  friend bool operator==(const DiskFault&, const DiskFault&) = default;
};

// What a call on a raw session of a task comes to (core/session/classify.h).
struct SessionCallFault {
  std::string task;
  CallKind at = CallKind::kRun;
  std::int64_t call = 1;
  Code code = Code::kAborted;
  bool lost_reply = false;  // fails after it took effect
  friend bool operator==(const SessionCallFault&, const SessionCallFault&) = default;
};

// How messages travel from one task to another. Drawn for each message at the point "net/<from>><to>/...".
struct LinkSpec {
  // As between processes on one machine that were recorded.
  Duration least_latency = std::chrono::milliseconds(1);
  Duration most_latency = std::chrono::milliseconds(3);
  double loss = 0;         // chance that a message is lost: its connection breaks after a while
  double duplication = 0;  // chance that a request arrives twice
  double reordering = 0;   // chance that a message is held up while others overtake it
  double bytes_per_s = 0;  // 0 = as fast as it likes
  // Of requests on their way; those beyond wait for their turn (sim/network.h). 0 = as many as the network allows.
  std::int64_t bytes_in_flight = 0;
  friend bool operator==(const LinkSpec&, const LinkSpec&) = default;
};

struct FaultPlan {
  std::vector<TimedFault> timed;
  std::vector<RpcFault> rpcs;
  std::vector<DiskFault> disks;
  std::vector<SessionCallFault> session_calls;
  LinkSpec default_link;
  std::map<std::string, LinkSpec> links;  // by "chief:0>ps:0"
  friend bool operator==(const FaultPlan&, const FaultPlan&) = default;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_FAULTS_FAULT_PLAN_H_
