// SIGTERM as a stop request. Contract: stop_signals.h.
//
// While somebody watches, the first SIGTERM is written into a pipe, which a thread reads; the system's own disposition
// is back before the second one can come. Without a watch the signal means what it meant before. A process has one
// disposition for each signal: one object of a process watches at a time, the others get ALREADY_EXISTS.
#ifndef VIGIL_CORE_ENV_REAL_POSIX_STOP_SIGNALS_H_
#define VIGIL_CORE_ENV_REAL_POSIX_STOP_SIGNALS_H_

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "vigil/core/env/stop_signals.h"

namespace vigil {

class PosixStopSignals final : public StopSignals {
 public:
  PosixStopSignals();
  ~PosixStopSignals() override;
  absl::StatusOr<std::unique_ptr<SignalWatch>> Watch(std::function<void(std::string_view)> told) override;

 private:
  class State;
  class Watching;
  const std::shared_ptr<State> state_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_REAL_POSIX_STOP_SIGNALS_H_
