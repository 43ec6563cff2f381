// A lock for sections of a few nanoseconds that call no seam and no user's code.
//
// The task seam's Mutex is a scheduling point in the simulator and a call into the operating system when contended;
// state that is only looked at or swapped needs neither. Never hold it across anything that may block or switch tasks:
// whoever lets tasks take turns on one thread (turns.h) is told when it has been given back.
// Thread safety: that is what it is for.
#ifndef VIGIL_CORE_BASE_SPIN_LOCK_H_
#define VIGIL_CORE_BASE_SPIN_LOCK_H_

#include <atomic>

#include "vigil/core/base/turns.h"

namespace vigil {

class SpinLock {
 public:
  void Lock() {
    if (Turns::taker != nullptr) ++Turns::taker->spin_locks_held;
    while (busy_.test_and_set(std::memory_order_acquire)) {
      while (busy_.test(std::memory_order_relaxed)) {
      }
    }
  }
  void Unlock() {
    busy_.clear(std::memory_order_release);
    TurnTaker* const taker = Turns::taker;
    if (taker != nullptr && --taker->spin_locks_held == 0) taker->AfterShared();
  }

 private:
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

class SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) : lock_(lock) { lock_.Lock(); }
  ~SpinGuard() { lock_.Unlock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_SPIN_LOCK_H_
