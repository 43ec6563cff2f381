// The task seam: concurrency, blocking and sleeping. Threads in a real program, fibers in the simulator.
//
// Every blocking call takes a deadline on Clock::Monotonic (kNever = none). Names are for reports ("who waits for
// what"). Calls report no errors: they wait. A blocking call made by a task of a process that was killed (simulator
// only) throws TaskKilled, which unwinds the task: only CallGuarded (which rethrows it) and the task's root may catch
// it. Destructors never block.
#ifndef VIGIL_CORE_ENV_TASKS_H_
#define VIGIL_CORE_ENV_TASKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "vigil/core/base/time.h"

namespace vigil {

// Not a std::exception on purpose: what catches errors must not catch the end of the process.
struct TaskKilled {};

// A running task. Destroying the handle detaches the task.
class Task {
 public:
  virtual ~Task() = default;
  virtual const std::string& name() const = 0;
  // Once true, it stays so, and whatever its body held is gone.
  virtual bool done() const = 0;
  // Waits until the task has ended; false = not before the deadline. A task that joins itself waits for ever.
  virtual bool Join(Time deadline) = 0;
};

// Not recursive: a task that locks it twice waits for ever. Unlocked by the task that locked it, and by nobody else.
class Mutex {
 public:
  virtual ~Mutex() = default;
  // Throws nothing, so destructors may take it: a task of a killed process (simulator only) may go on without it, to
  // its next call that waits for anything else.
  virtual void Lock() = 0;
  virtual void Unlock() = 0;
};

class MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

class Condition {
 public:
  virtual ~Condition() = default;
  // Releases `mutex`, waits for a notification, takes `mutex` again (also when it throws TaskKilled).
  // False = the deadline passed. May wake up without cause. REQUIRES: the caller holds `mutex`.
  virtual bool Wait(Mutex& mutex, Time deadline) = 0;
  // Wakes all that wait. The mutex may be held, or not.
  virtual void NotifyAll() = 0;
};

class Tasks {
 public:
  virtual ~Tasks() = default;
  // Starts `body` as a task of this process. What escapes from `body` (but TaskKilled) ends the program. Throws
  // std::system_error where the system has no thread left: callers that answer to a program use TrySpawn
  // (call_guarded.h).
  virtual std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) = 0;
  // Returns at once for a time that has passed, never for kNever.
  virtual void SleepUntil(Time deadline) = 0;
  virtual std::unique_ptr<Mutex> NewMutex(std::string_view name) = 0;
  virtual std::unique_ptr<Condition> NewCondition(std::string_view name) = 0;
  // A number of the calling task that no other running task of this process has. Also outside of all spawned ones (the
  // thread that main() runs in).
  virtual std::uint64_t CurrentTask() = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_TASKS_H_
