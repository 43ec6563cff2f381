// Tasks on threads of the operating system. Contract: tasks.h.
#ifndef VIGIL_CORE_ENV_REAL_THREADS_H_
#define VIGIL_CORE_ENV_REAL_THREADS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "vigil/core/env/tasks.h"

namespace vigil {

class Threads final : public Tasks {
 public:
  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override;
  void SleepUntil(Time deadline) override;
  std::unique_ptr<Mutex> NewMutex(std::string_view name) override;
  std::unique_ptr<Condition> NewCondition(std::string_view name) override;
  std::uint64_t CurrentTask() override;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_REAL_THREADS_H_
