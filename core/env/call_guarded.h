// No exception crosses our interface: what a user's callback throws becomes a status of code OTHER, here and nowhere
// else.
#ifndef VIGIL_CORE_ENV_CALL_GUARDED_H_
#define VIGIL_CORE_ENV_CALL_GUARDED_H_

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/tasks.h"

namespace vigil {

// Returns what `body` returns (absl::Status or absl::StatusOr). TaskKilled passes through: it ends the process, not the
// call.
template <typename Body>
auto CallGuarded(Body&& body) -> decltype(std::forward<Body>(body)()) {
  try {
    return std::forward<Body>(body)();
  } catch (const TaskKilled&) {
    throw;
  } catch (const std::exception& error) {
    return MakeStatus(Code::kOther, error.what());
  } catch (...) {
    return MakeStatus(Code::kOther, "a callback threw something that is not a std::exception");
  }
}

// Tasks::Spawn for callers that can tell somebody: RESOURCE_EXHAUSTED, naming the task, where no thread can be made.
inline absl::StatusOr<std::unique_ptr<Task>> TrySpawn(Tasks& tasks, std::string_view name, std::function<void()> body) {
  absl::StatusOr<std::unique_ptr<Task>> task =
      CallGuarded([&]() -> absl::StatusOr<std::unique_ptr<Task>> { return tasks.Spawn(name, std::move(body)); });
  if (task.ok()) return task;
  return MakeStatus(Code::kResourceExhausted, "The task " + std::string(name) +
                                                  " could not be started: " + std::string(MessageOf(task.status())) +
                                                  ". Raise the limit of threads, or use fewer of them.");
}

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_CALL_GUARDED_H_
