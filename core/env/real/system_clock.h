// The clocks of the operating system. Contract: clock.h.
#ifndef VIGIL_CORE_ENV_REAL_SYSTEM_CLOCK_H_
#define VIGIL_CORE_ENV_REAL_SYSTEM_CLOCK_H_

#include <chrono>

#include "vigil/core/env/clock.h"

namespace vigil {

class SystemClock final : public Clock {
 public:
  Time Now() override { return {std::chrono::system_clock::now().time_since_epoch()}; }
  Time Monotonic() override { return {std::chrono::steady_clock::now().time_since_epoch()}; }
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_REAL_SYSTEM_CLOCK_H_
