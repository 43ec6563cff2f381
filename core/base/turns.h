// Tasks that take turns on one thread: who runs them is told where another thread could come between.
//
// Where tasks are threads, as in production, nobody is: `Turns::taker` is null, and a look at that is all it costs.
// Spin locks (spin_lock.h) and what is shared without a lock (atomic.h) tell; the task seam's own calls need not.
// Thread safety: a taker belongs to its thread.
#ifndef VIGIL_CORE_BASE_TURNS_H_
#define VIGIL_CORE_BASE_TURNS_H_

namespace vigil {

class TurnTaker {
 public:
  TurnTaker() = default;
  TurnTaker(const TurnTaker&) = delete;
  TurnTaker& operator=(const TurnTaker&) = delete;

  // The task that runs has looked at, or changed, what it shares with others: they may run before it goes on. Never
  // called by one that holds a spin lock: whoever came between would wait for it for ever.
  virtual void AfterShared() noexcept = 0;

  int spin_locks_held = 0;  // by the task that runs

 protected:
  ~TurnTaker() = default;
};

struct Turns {
  // Of this thread; borrowed.
  static inline constinit thread_local TurnTaker* taker = nullptr;

  static void AfterShared() noexcept {
    if (taker != nullptr && taker->spin_locks_held == 0) taker->AfterShared();
  }
};

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_TURNS_H_
