// The seam for the wish, from outside of the program, that it ends (SIGTERM).
//
// The first signal is a request: whoever watches is told and winds up. The next one ends the program at once, as if
// nobody watched.
// Thread safety: safe from any task. Errors: those of the system, if it cannot be watched for a signal.
#ifndef VIGIL_CORE_ENV_STOP_SIGNALS_H_
#define VIGIL_CORE_ENV_STOP_SIGNALS_H_

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"

namespace vigil {

// Destroying it ends the watch: its callback is then not called any more, nor still running.
class SignalWatch {
 public:
  virtual ~SignalWatch() = default;
};

class StopSignals {
 public:
  virtual ~StopSignals() = default;
  // Calls `told` with the signal's name ("SIGTERM") when one comes, at most once. From a thread of the seam's, never
  // from a signal handler: it may lock, but must neither wait for long, nor throw, nor end a watch.
  // ALREADY_EXISTS: somebody else of the process watches. RESOURCE_EXHAUSTED, INTERNAL: no thread, no pipe.
  virtual absl::StatusOr<std::unique_ptr<SignalWatch>> Watch(std::function<void(std::string_view)> told) = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_STOP_SIGNALS_H_
