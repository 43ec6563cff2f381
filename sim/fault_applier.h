// Makes a FaultPlan happen to the tasks of a world, and keeps count of what came of it.
//
//   FaultApplier faults(world, nodes, plan, boot);      // links are as the plan says from here on
//   factory = faults.Decorate("chief:0", factory);      // raw sessions of that task
//   ...                                                 // start all tasks that do not StartLate()
//   faults.Begin();                                     // timed faults: their times count from here
//   world.Run();
//
// Faults of requests, session calls and disks (but those with a time), and those at a point of the course, are on from
// the construction; their calls are counted over all lives of a task. Faults of one kind on one task or link may
// overlap. What strikes a task that is not there (it has ended, or is down already) has no effect, and only what the
// plan itself crashed is started again.
//
// Effective is what changed something:
//   crash          the process ran                        power cut, torn write, lost disk   a file or a name changed
//   silent death   a message waited, or a keepalive gave up
//   rack, rolling restart, partition                      another part of the same was effective, too
//   pause          a task or a message waited             late start   the task was not there before
//   cut            a call broke or was refused            silent       a message waited, or a keepalive gave up
//   slow link      a message took longer                  clock        somebody looked at it meanwhile
//   slow node      work or a request took longer
//   new address    somebody asked at the old one          zombie       it asked for something beside its successor
//   links, requests, disks                                what it struck went otherwise than without it
// Thread safety: none; belongs to its world, which must outlive it.
#ifndef VIGIL_SIM_FAULT_APPLIER_H_
#define VIGIL_SIM_FAULT_APPLIER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/session/session.h"
#include "vigil/sim/faults/fault_kinds.h"
#include "vigil/sim/faults/fault_plan.h"
#include "vigil/sim/faults/session_call_faults.h"
#include "vigil/sim/world.h"

namespace vigil::sim {

// A process of TensorFlow that is killed stops at once; its memory is taken back before its connections break.
// Recorded: whoever works with it is in the middle of a call by then.
inline constexpr std::chrono::milliseconds kDying{80};

class FaultApplier {
 public:
  using Boot = std::function<void(Node&)>;
  using Stop = std::function<bool(Node&)>;
  using Tasks = std::map<std::string, Node*, std::less<>>;
  // Of each task the machines that it may still come to, in order: one for each fault that brings it to another one.
  using Spares = std::map<std::string, std::vector<Node*>, std::less<>>;

  // `boot` starts what runs in a fresh process of a node; it is called outside of all tasks, or by who calls HealAll().
  // `stop` tells the process of a node to end in good order, and returns at once; false: it cannot, and is killed.
  // REQUIRES: each node has the name of its task; the plan names tasks of `tasks` only.
  FaultApplier(World& world, Tasks tasks, const FaultPlan& plan, Boot boot, Spares spares = {}, Stop stop = {});
  ~FaultApplier();
  FaultApplier(const FaultApplier&) = delete;
  FaultApplier& operator=(const FaultApplier&) = delete;

  // Whether the plan starts that task: nobody else is to.
  bool StartsLate(std::string_view task) const;
  // Sessions of that task, with its faults of session calls.
  std::shared_ptr<SessionFactory> Decorate(std::string_view task, std::shared_ptr<SessionFactory> inner);

  void Begin();
  // Since Begin(): when the plan starts the last task that it starts or starts again; 0 if none.
  Duration LastStart() const;
  // Since Begin(): when the last timed fault has begun, and ended if it ends.
  Duration LastChange() const;

  // All faults are over, and none begins any more: what is cut, silent, paused or slow no longer is; tasks that are
  // down start again unless the plan keeps them away; those that were to start late start. What is hung for ever by a
  // fault fails.
  void HealAll();
  bool healed() const { return healed_; }
  // A fault at a point of the course crashed that task and is yet to start it again. LastStart() knows nothing of it.
  bool ComesBack(std::string_view task) const;
  // The plan crashed that task and never starts it again.
  bool StaysAway(std::string_view task) const;

  // So far.
  FaultTallies Tallies() const;
  // The faults of the plan that changed nothing so far, in its order; links are none.
  std::vector<InertFault> Inert() const;
  // What the timed faults did, for reports: "crash ps:0", "ps:0 starts again", ...
  struct Entry {
    enum class What { kMoment, kBegins, kEnds, kCrash, kStarts };  // kStarts: a process of the task begins
    Duration at;                                                   // the world's, since its start
    std::string text;
    What what = What::kMoment;
    std::string task = {};     // whom it strikes; "" = everybody
    std::string peer = {};     // of a link: the other end; else ""
    bool takes_files = false;  // of a crash: what was not synced of any file is gone
    std::string machine = {};  // of kStarts: where
    // But of kMoment and kStarts: which fault of the plan's timed ones it is about.
    std::size_t fault = 0;
    TimedFault::Kind kind = TimedFault::Kind::kCrash;
    // Whether what that one began is over with this.
    bool Ends(const Entry& begun) const;
  };
  const std::vector<Entry>& history() const { return history_; }
  // Which operations on files the plan's faults of disks struck, by time; of those that strike for ever the first.
  struct DiskEntry {
    Duration at{0};  // the world's, since its start
    std::string task;
    std::size_t fault = 0;   // its place among the plan's
    std::size_t events = 0;  // of the world's trace, until then
  };
  std::vector<DiskEntry> DiskHistory() const;

 private:
  struct Timed;
  struct TimedDisk;

  void Start(Timed& timed);
  void Start(TimedDisk& timed);
  void End(TimedDisk& timed);
  void Crash(Timed& timed);
  void Die(Timed& timed);
  void Silence(Timed& timed);
  void EndSilence(Timed& timed);
  void TakeForDead(Timed& timed);
  void Follow(Timed& timed);
  void Move(Timed& timed);
  void StartLink(Timed& timed);
  void End(Timed& timed);
  void Resume(Timed& timed, std::string text);
  void LimitHandlers(Entry::What what, const Timed& changed);
  static bool HoldsStill(const Timed& timed);
  // Whether the process that was struck is there.
  static bool LivesOn(const Timed& timed);
  void SlowDown(Timed& timed);
  // By all that is under way.
  double SlownessOf(const Node& node) const;
  void BootNode(Node& node, const std::string& task, std::string_view why);
  void Tell(Entry::What what, const TimedFault& fault, std::string text);
  void Tell(std::string text, std::string task);
  Node& NodeOf(const std::string& task) const;
  // What shows whether a pause or a clock's fault had any effect.
  std::int64_t CountOf(const Timed& timed) const;
  bool Effective(const Timed& timed) const;
  bool EffectiveAs(FaultKind kind, const Timed& timed) const;

  World& world_;
  Tasks tasks_;  // each where it is now
  Spares spares_;
  std::vector<Node*> machines_;  // all of them
  const Boot boot_;
  const Stop stop_;
  bool begun_ = false;
  bool healed_ = false;
  std::vector<std::unique_ptr<Timed>> timed_;
  std::vector<LinkSpec> links_;
  std::vector<RpcFaultState*> rpcs_;
  std::vector<DiskFaultState*> disks_;
  std::vector<std::unique_ptr<TimedDisk>> timed_disks_;  // those that have a time
  std::shared_ptr<SessionCallFaults> calls_;             // sessions may outlive this
  std::vector<Entry> history_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_FAULT_APPLIER_H_
