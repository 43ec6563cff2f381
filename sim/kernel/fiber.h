// Fibers: stacks to run on and the one place where the processor changes from one to another.
//
// Two calls of Boost.Context (make_fcontext, jump_fcontext) do the work. boost::context::fiber itself is not used: it
// jumps into each new fiber once unannounced, which the thread sanitizer cannot follow, and its destructor throws
// through the stack. Around each switch this file does what Boost leaves out:
//   - the state of C++ exceptions in flight belongs to a fiber, not to the thread: it is saved and restored, or
//     `throw;` would rethrow an exception of another fiber;
//   - the address and thread sanitizers are told.
//
// A fiber whose body has returned is parked in its pool, stack and all, and is given out again: a switch into it runs
// the next body. Stacks are mapped with a guard area below; TaskOfGuardPage() lets a signal handler (on a stack of its
// own) name the task that ran into it.
//
// Thread safety: none. A pool and the fibers made by it belong to one OS thread at a time.
#ifndef VIGIL_SIM_KERNEL_FIBER_H_
#define VIGIL_SIM_KERNEL_FIBER_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace vigil::sim {

// What the C++ runtime keeps about exceptions in flight, per thread (Itanium C++ ABI, 2.2.2 __cxa_eh_globals).
struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

class FiberThread;

class Fiber {
 public:
  // Runs on the fiber's stack; returns where to continue when it is over. Must not throw.
  using Body = Fiber& (*)(void* argument);

  // The context of the OS thread itself: what Switch() comes from the first time. Other fibers come from a StackPool.
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Shown by StackPool::TaskOfGuardPage; must stay valid while the fiber is in use.
  void set_owner(std::string_view owner) { owner_ = owner; }

 private:
  friend class StackPool;
  friend class FiberThread;
  friend struct FiberLoop;

  void* context_ = nullptr;  // where to continue; valid while suspended
  ExceptionState exceptions_;
  FiberThread* thread_ = nullptr;  // that switched to it
  Fiber* target_ = nullptr;        // of the last switch away
  Body body_ = nullptr;
  void* argument_ = nullptr;
  const void* stack_low_ = nullptr;
  std::size_t stack_size_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr;  // address sanitizer
  [[maybe_unused]] void* tsan_ = nullptr;        // thread sanitizer
  std::string_view owner_;
};

// The OS thread on which fibers take turns. Create it on that thread, once for many switches.
class FiberThread {
 public:
  FiberThread();
  // Suspends `from`, which must be the one that runs, and continues `to`. Returns when somebody switches to `from`.
  void Switch(Fiber& from, Fiber& to);
  // The fiber of the thread's own stack.
  Fiber& main() { return main_; }

 private:
  ExceptionState* live_;  // of the thread
  Fiber main_;
};

class StackPool {
 public:
  // 0 = 256 KiB, or 1 MiB under a sanitizer, whose frames are larger.
  explicit StackPool(std::size_t stack_size = 0);
  // REQUIRES: every fiber was parked (its body has returned).
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  // A fiber that runs body(argument) at the first switch to it.
  Fiber& Acquire(Fiber::Body body, void* argument);
  // Gives it back. Called last of all by its own body, or for a fiber that never ran.
  void Release(Fiber& fiber);

  // The owner of the stack whose guard area holds `address`; empty if there is none. Safe in a signal handler.
  std::string_view TaskOfGuardPage(const void* address) const;
  // Stacks mapped so far.
  std::size_t size() const { return fibers_.size(); }

 private:
  Fiber& Map();

  std::size_t stack_size_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> parked_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_KERNEL_FIBER_H_
