// A node: one simulated process with its own env, memory and disk.
//
// Its files survive a kill and a restart, its Process and its tasks do not. After Kill() whatever still holds the Env
// can use it without harm: calls do nothing (files fail), blocking ones throw TaskKilled.
//
// Thread safety: none; a node belongs to its world.
#ifndef VIGIL_SIM_NODE_H_
#define VIGIL_SIM_NODE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/env.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/sim/faults/fault_plan.h"
#include "vigil/sim/kernel/task_state.h"

namespace vigil::sim {

class SimNetwork;
class World;
struct NetworkHost;
struct NodeSeams;

struct LogLine {
  Time time;  // the world's
  Severity severity = Severity::kInfo;
  std::string text;
};

class Node {
 public:
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const std::string& name() const { return name_; }
  // Whose process it is, also on another machine: by that faults name it. As the name if nothing else is said.
  const std::string& task() const { return task_; }
  // REQUIRES: nobody has heard of it yet.
  void set_task(std::string task);
  // The seams of the life that the node leads now: take it anew after Restart().
  const Env& env() const { return env_; }

  // Starts a task nobody joins. Nothing happens if the node was killed.
  void Spawn(std::string_view name, std::function<void()> body);

  // The process ends here and now: its tasks are unwound, newest first. From a task of this node it does not return.
  void Kill();
  // The same in the middle of something: for the world it is gone at once, and the call returns. Its tasks are unwound
  // when the current one gives way. REQUIRES: a task or a timer's callback runs.
  void KillSoon();
  bool killed() const { return killed_; }
  // A new process over the same files. REQUIRES: killed(), and called from outside of this node's tasks.
  void Restart();
  // How many processes there were before this one.
  int restarts() const { return restarts_; }
  // What a process of this node does first, outside of all tasks: it spawns its tasks.
  void set_boot(std::function<void(Node&)> boot) { boot_ = std::move(boot); }
  // Starts a process: the first, or a new one after a kill. REQUIRES: as Restart() where the node was killed.
  void Boot();
  // Whether any task of it runs.
  bool running() const { return !tasks_.empty(); }
  // Those that have not ended, oldest first.
  std::vector<std::string> TaskNames() const;

  // The process stands still: its tasks do not run and its messages wait, its connections stay open, time goes on.
  void Pause();
  void Resume();
  bool paused() const { return tasks_.paused; }
  // Tasks that could run and messages that came, had the node not been paused; so far, over all pauses.
  std::int64_t held_by_pauses() const;
  // Those that wait now.
  std::int64_t held_now() const;

  // Its own files, as processes see them.
  fakes::MemoryFiles& disk();
  // How many files its process has open.
  std::int64_t open_files() const;
  // What a crash does to the own disk and to what this node wrote to the shared one: how many files and names changed.
  std::int64_t LoseDisk(DiskLoss loss);
  const std::vector<LogLine>& log() const { return log_; }
  // What the wall clock of this node shows beyond the world's time: a jump. Monotonic time knows nothing of it.
  void set_clock_offset(Duration offset) { clock_offset_ = offset; }
  Duration clock_offset() const;
  void JumpClock(Duration by) { clock_offset_ += by; }
  // From now on the wall clock runs `rate` times as fast as the world's time.
  void set_clock_rate(double rate);
  // From now on an operation on a file takes about so long, and each 4 KB that it reads or writes once more; 0 (as it
  // begins): no time.
  void set_disk_time(Duration typical) { disk_time_ = typical; }
  // From now on an op, and a request or an answer that is read or written, takes about so long here, and each 4 KB of
  // it once more; 0 (as it begins): no time.
  void set_cpu_time(Duration typical) { cpu_time_ = typical; }
  // From now on so many tasks work at a time, and the others wait for their turn, in order; 0 (as it begins): all.
  void set_processors(std::size_t number) { free_from_.assign(number, Duration(0)); }
  // Takes the time of one of so many bytes. REQUIRES: a task of this node runs.
  void Work(std::uint64_t bytes);
  // From now on work takes `factor` times as long.
  void set_slowness(double factor) { slowness_ = factor; }
  // How long work takes here that takes so long on a machine with nothing else to do.
  Duration Takes(Duration work);
  // How often that was longer.
  std::int64_t slowed() const { return slowed_; }
  // Calls that it has started, and that others have started to it: so far, over all lives.
  std::int64_t asks() const;
  std::int64_t asked() const;
  // How often anybody looked at the wall clock.
  std::int64_t clock_reads() const { return clock_reads_; }

 private:
  friend class World;
  friend class NodeFiles;
  friend class SimNetwork;
  friend struct NodeSeams;

  Node(World& world, std::string name, std::uint32_t id);
  TaskIdentity& IdentityFor(std::string_view name);
  // Null if the node was killed. The caller makes its handle, if any, and then a preemption point.
  TaskState* SpawnTask(std::string_view name, std::function<void()> body);
  TaskState* SpawnTask(TaskIdentity& identity, std::function<void()> body);
  // Calls of the node's env have no effect: it was killed, or the task that makes the call.
  bool Dead() const;
  // The node's place in the world's network, from the first use on.
  NetworkHost& host();
  // The end without tasks to unwind.
  void EndIdle();

  World& world_;
  const std::string name_;
  std::string task_ = name_;
  const std::uint32_t id_;
  bool killed_ = false;
  int restarts_ = 0;
  Duration clock_offset_{0};
  double clock_rate_ = 1;
  Duration clock_rate_since_{0};  // the world's time
  std::int64_t clock_reads_ = 0;
  Duration disk_time_{0};
  Duration cpu_time_{0};
  std::vector<Duration> free_from_;  // of each processor; empty: there are as many as tasks
  double slowness_ = 1;
  std::int64_t slowed_ = 0;
  std::int64_t tasks_held_ = 0;
  std::function<void(Node&)> boot_;
  std::vector<LogLine> log_;
  std::map<std::string, TaskIdentity, std::less<>> identities_;
  TaskGroup tasks_;
  NetworkHost* host_ = nullptr;
  std::unique_ptr<NodeSeams> seams_;
  Env env_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_NODE_H_
