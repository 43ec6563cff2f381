// Tasks on threads of the operating system. Contract: tasks.h.
//
// A task may outlive whoever started it: what all tasks use can be given to KeepAlive. A thread whose task has ended
// waits up to a second for another one. A process that is forked off while no task begins or ends may have its own.
#ifndef VIGIL_CORE_ENV_REAL_THREADS_H_
#define VIGIL_CORE_ENV_REAL_THREADS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/tasks.h"

namespace vigil {

class Threads final : public Tasks {
 public:
  Threads();
  ~Threads() override;

  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override;
  void SleepUntil(Time deadline) override;
  std::unique_ptr<Mutex> NewMutex(std::string_view name) override;
  std::unique_ptr<Condition> NewCondition(std::string_view name) override;
  std::uint64_t CurrentTask() override;

  // Every task started from now on holds `owner`, as long as somebody else does when it starts.
  void KeepAlive(std::weak_ptr<void> owner) { kept_ = std::move(owner); }
  // Waits until all have ended, for that long at most; the names of those that have not.
  std::vector<std::string> WaitForAll(Duration patience);

 private:
  struct Completion;
  class Handle;
  class Roster;
  class Work;
  class Idle;
  const std::shared_ptr<Roster> running_;
  const std::shared_ptr<Idle> idle_;
  std::weak_ptr<void> kept_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_REAL_THREADS_H_
