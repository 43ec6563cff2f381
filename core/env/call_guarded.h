// No exception crosses our interface: what a user's callback throws becomes a status of code OTHER, here and nowhere else.
#ifndef VIGIL_CORE_ENV_CALL_GUARDED_H_
#define VIGIL_CORE_ENV_CALL_GUARDED_H_

#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/tasks.h"

namespace vigil {

// Returns what `body` returns (absl::Status or absl::StatusOr). TaskKilled passes through: it ends the process, not the call.
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

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_CALL_GUARDED_H_
