// A simulated world: nodes, their tasks, one virtual clock, one source of choices.
//
//   StackPool stacks;                                  // reused by consecutive worlds of one thread
//   RandomChooser chooser(seed);
//   World world({.chooser = &chooser, .seed = seed, .stacks = &stacks});
//   Node& chief = world.AddNode("chief");
//   chief.Spawn("main", [&] { Train(chief.env()); });
//   const WorldResult result = world.Run();            // and then world.trace(), world.hash(), world.ChoicesMade()
//
// Equal options, choices and code give an equal trace and an equal hash, on every machine.
//
// Thread safety: a world belongs to one OS thread at a time, with its chooser and its stacks. Any number of worlds may
// run on threads of their own.
#ifndef VIGIL_SIM_WORLD_H_
#define VIGIL_SIM_WORLD_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/event.h"
#include "vigil/core/base/time.h"
#include "vigil/sim/course.h"
#include "vigil/sim/kernel/choices.h"
#include "vigil/sim/kernel/fiber.h"
#include "vigil/sim/kernel/running_hash.h"
#include "vigil/sim/kernel/scheduler.h"
#include "vigil/sim/kernel/trace.h"
#include "vigil/sim/network.h"
#include "vigil/sim/node.h"
#include "vigil/sim/node_files.h"

namespace vigil::sim {

struct WorldOptions {
  Chooser* chooser = nullptr;              // borrowed; null: every choice is calm
  std::uint64_t seed = 0;                  // of the random streams of the nodes
  StackPool* stacks = nullptr;             // borrowed; null: the world has its own
  Time start{std::chrono::seconds(1000)};  // wall time at the beginning
  std::uint64_t max_events = 0;            // limits: 0 = none
  Duration max_virtual{0};
  std::uint64_t max_switches = 0;
  NetworkLimits network = {};  // what its network carries
  Preempt preempt = Preempt::kNowhere;
  double stalls = 0;  // the chance that who may lose the processor at a call stands still there; at spins half of it
  // Borrowed; may be null. Once it is set, which any thread may do at any time, the run ends at its next switch.
  const std::atomic<bool>* interrupt = nullptr;
  StepObserver* steps = nullptr;  // borrowed: is told what tasks do (kernel/dpor_chooser.h); may be null
};

enum class WorldVerdict {
  kDone,         // every task has ended
  kStopped,      // by Stop()
  kDeadlock,     // nobody can run and no timer is set
  kRunaway,      // a limit was reached
  kInterrupted,  // from outside (WorldOptions::interrupt): what happened until then says nothing
};

struct WorldResult {
  WorldVerdict verdict = WorldVerdict::kDone;
  std::string report;  // of a deadlock: who waits for what; of a runaway: which limit
};

class World {
 public:
  explicit World(WorldOptions options);
  // Unwinds what still runs.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Lives as long as the world. REQUIRES: no node of that name.
  Node& AddNode(std::string name);
  Node* FindNode(std::string_view name);  // null if there is none

  // Runs until every task has ended or one of the other verdicts is reached; then all nodes are dead. After kDone more
  // tasks can be started and Run() called again.
  WorldResult Run();

  // For the code inside.
  Time now() const { return options_.start + scheduler_.now(); }
  // "chief/main"; "" outside of all tasks.
  std::string_view CurrentTask() const;
  // Virtual time passes for the whole world; the current task sleeps.
  void AdvanceBy(Duration duration);
  void AdvanceTo(Time time);
  // Run() ends at the next blocking call.
  void Stop() { scheduler_.Stop(StopReason::kStopped); }
  // A choice of the current task, or of something else with a name. The index of a label; label 0 is the calm one.
  std::size_t Choose(std::string_view point, std::span<const std::string_view> labels);
  std::size_t Choose(std::string_view node, std::string_view task, std::string_view point,
                     std::span<const std::string_view> labels);

  // For whoever looks at it afterwards.
  const Trace& trace() const { return trace_; }
  Trace TakeTrace();
  std::uint64_t hash() const { return hash_.value(); }
  ChoiceMap ChoicesMade() const { return choices_.Made(); }
  std::uint64_t switches() const { return scheduler_.switches(); }

  // What the nodes talk through; made at the first use.
  SimNetwork& network();
  // What every node finds at "/shared"; made at the first use.
  SharedDisk& shared_disk();
  DiskFaults& disk_faults() { return disk_faults_; }
  // Its messages and operations on files, counted.
  Course& course() { return course_; }

  const WorldOptions& options() const { return options_; }
  Scheduler& scheduler() { return scheduler_; }

 private:
  friend class Node;
  friend struct NodeSeams;

  void Record(std::uint32_t node, const Event& event);
  std::uint32_t AddTask(std::string_view label);
  bool AnyTask() const;
  std::string DeadlockReport() const;
  void KillAll();

  const WorldOptions options_;
  std::optional<StackPool> own_stacks_;
  RunningHash hash_;
  Choices choices_;
  Scheduler scheduler_;
  Trace trace_;
  std::uint64_t events_ = 0;  // without details
  struct WorldClock final : Clock {
    explicit WorldClock(World& owner) : world(owner) {}
    Time Now() override { return world.now(); }
    Time Monotonic() override { return {world.scheduler_.now()}; }
    World& world;
  } clock_{*this};
  std::unique_ptr<SharedDisk> shared_disk_;
  DiskFaults disk_faults_;
  Course course_{scheduler_};
  std::unique_ptr<SimNetwork> network_;  // goes after the nodes, which use it to the end
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_WORLD_H_
