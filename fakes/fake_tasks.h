// Tasks that take turns: real threads of which exactly one runs at a time, in a fixed order, under a manual clock.
// Contract: core/env/tasks.h.
//
// The thread that made the FakeTasks (the test) is a task like the others: when it blocks, they run, first come first
// served. When all are blocked, the clock moves to the earliest deadline; if there is none, the process ends with a
// message that says who waits for what. So a test with tasks needs no real time and always takes the same course.
//
//   FakeEnv fake;
//   auto task = fake.env().tasks->Spawn("q", [&] { ... });   // has not begun yet
//   fake.tasks.RunReady();                                    // runs until it is done or blocked; time stands still
//   fake.clock.Advance(10s);                                  // sleeps that are over now end at the next turn
//
// For schedules other than this one use sim::World. Every call comes from the test's thread or from a task.
#ifndef VIGIL_FAKES_FAKE_TASKS_H_
#define VIGIL_FAKES_FAKE_TASKS_H_

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/tasks.h"
#include "vigil/fakes/manual_clock.h"

namespace vigil::fakes {

class FakeTasks final : public Tasks {
 public:
  // `threads` starts the threads. Both are borrowed.
  FakeTasks(Tasks& threads, ManualClock& clock);
  ~FakeTasks() override;  // EndAll()

  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override;
  void SleepUntil(Time deadline) override;
  std::unique_ptr<Mutex> NewMutex(std::string_view name) override;
  std::unique_ptr<Condition> NewCondition(std::string_view name) override;
  std::uint64_t CurrentTask() override;

  // Lets the other tasks run until each is done or blocked. The clock does not move.
  void RunReady();
  // Ends what still runs by TaskKilled, newest first; nothing starts any more. Call it before what the tasks borrow
  // goes.
  // REQUIRES: called by the test's thread.
  void EndAll();

 private:
  friend class FakeMutex;
  friend class FakeCondition;
  friend class FakeTask;

  struct Job;
  using Queue = std::list<Job*>;

  // Waits in `queue` (may be null). False = the deadline passed. Throws TaskKilled.
  bool Block(const std::string& what, Queue* queue, Time deadline);
  // True: killed, and the call must return at once. Throws TaskKilled where that is possible.
  bool KilledCall() const;
  void Wake(Job& job);
  void WakeAll(Queue& queue);
  void WakeDue();
  Job& PickNext();
  void GiveTurnTo(Job& next);
  void WaitForTurn(Job& self);
  void RunJob(const std::shared_ptr<Job>& job);
  void Kill(Job& job);
  [[noreturn]] void Deadlock() const;

  Tasks& threads_;
  ManualClock& clock_;
  std::unique_ptr<Mutex> mutex_;            // real; orders the turns
  std::vector<std::shared_ptr<Job>> jobs_;  // the test first, then by age; ended ones are taken out by the next spawn
  Queue ready_;
  std::uint64_t spawned_ = 0;
  Job* running_;  // guarded by *mutex_ where turns change
  bool ending_ = false;
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_FAKE_TASKS_H_
