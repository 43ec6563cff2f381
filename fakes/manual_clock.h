// A clock that moves when it is told to. Contract: core/env/clock.h.
//
// Thread safety: none of its own; see fake_tasks.h.
#ifndef VIGIL_FAKES_MANUAL_CLOCK_H_
#define VIGIL_FAKES_MANUAL_CLOCK_H_

#include "vigil/core/base/check.h"
#include "vigil/core/env/clock.h"

namespace vigil::fakes {

class ManualClock final : public Clock {
 public:
  // Wall time at the beginning; monotonic time begins at 0.
  explicit ManualClock(Time start = {std::chrono::seconds(1000)}) : start_(start) {}

  Time Now() override { return start_ + elapsed_ + jump_; }
  Time Monotonic() override { return {elapsed_}; }

  // Both clocks move on. REQUIRES: by >= 0.
  void Advance(Duration by) {
    VIGIL_CHECK(by >= Duration::zero());
    elapsed_ += by;
  }
  // Only the wall clock jumps, forward or back.
  void JumpWall(Duration by) { jump_ += by; }

 private:
  const Time start_;
  Duration elapsed_{0};
  Duration jump_{0};
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_MANUAL_CLOCK_H_
