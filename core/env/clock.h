// The clock seam.
// Thread safety: safe from any task. Errors: none.
#ifndef VIGIL_CORE_ENV_CLOCK_H_
#define VIGIL_CORE_ENV_CLOCK_H_

#include "vigil/core/base/time.h"

namespace vigil {

class Clock {
 public:
  virtual ~Clock() = default;
  // Wall time since the Unix epoch, for what is shown or stored: may jump, forth and back.
  virtual Time Now() = 0;
  // Never goes back; the origin means nothing. Every deadline of the task seam is a point of this clock.
  virtual Time Monotonic() = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_CLOCK_H_
