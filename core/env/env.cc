#include "vigil/core/env/env.h"

namespace vigil {

Time DeadlineAfter(const Env& env, Duration timeout) {
  if (timeout == Duration::max()) return kNever;
  return env.clock->Monotonic() + timeout;
}

}  // namespace vigil
