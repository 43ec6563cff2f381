// A fiber is a stack with a place to go on from. Switching saves that place and the exceptions that pass there (the C++
// runtime has one set of them a thread), and tells the sanitizers, which think of stacks by themselves. A stack is
// mapped once and runs one body after the other; below it lies a guard, so that an overflow is a fault and not
// another's data.
#include "vigil/sim/kernel/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>

#include "vigil/core/base/check.h"

#if defined(VIGIL_SANITIZES_ADDRESS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(VIGIL_SANITIZES_THREAD)
#include <sanitizer/tsan_interface.h>
#endif

// A function in whose middle the stack changes may not be instrumented: its entry would be counted on one stack and its
// exit on another.
#define VIGIL_SWITCHES_STACK __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

namespace vigil::sim {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

#if defined(VIGIL_SANITIZES_ADDRESS) || defined(VIGIL_SANITIZES_THREAD)
constexpr std::size_t kDefaultStackSize = std::size_t{1} << 20;
#else
constexpr std::size_t kDefaultStackSize = std::size_t{256} << 10;
#endif
// Wider than a page: a frame with a large array may step over one.
constexpr std::size_t kGuardSize = std::size_t{64} << 10;

}  // namespace

FiberThread::FiberThread() {
  static_assert(sizeof(ExceptionState) == 2 * sizeof(void*));
  live_ = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
#if defined(VIGIL_SANITIZES_THREAD)
  main_.tsan_ = __tsan_get_current_fiber();
#endif
}

VIGIL_SWITCHES_STACK void FiberThread::Switch(Fiber& from, Fiber& to) {
  from.exceptions_ = *live_;
  *live_ = to.exceptions_;
  from.target_ = &to;
  to.thread_ = this;
#if defined(VIGIL_SANITIZES_ADDRESS)
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_low_, to.stack_size_);
#endif
#if defined(VIGIL_SANITIZES_THREAD)
  __tsan_switch_to_fiber(to.tsan_, 0);
#endif
  const transfer_t arrived = jump_fcontext(to.context_, &from);
  // Somebody switched back to `from`.
  Fiber& left = *static_cast<Fiber*>(arrived.data);
  left.context_ = arrived.fctx;
#if defined(VIGIL_SANITIZES_ADDRESS)
  __sanitizer_finish_switch_fiber(from.fake_stack_, &left.stack_low_, &left.stack_size_);
#endif
}

struct FiberLoop {
  // Where a new stack begins: one body after the other, for as long as the pool lives.
  VIGIL_SWITCHES_STACK static void Enter(transfer_t arrived) {
    Fiber& left = *static_cast<Fiber*>(arrived.data);
    left.context_ = arrived.fctx;
    Fiber& self = *left.target_;
#if defined(VIGIL_SANITIZES_ADDRESS)
    __sanitizer_finish_switch_fiber(nullptr, &left.stack_low_, &left.stack_size_);
#endif
    while (true) {
      Fiber& next = self.body_(self.argument_);
      // The pool may have given this very fiber to the task that goes on.
      if (&next != &self) self.thread_->Switch(self, next);
    }
  }
};

StackPool::StackPool(std::size_t stack_size) : stack_size_(stack_size == 0 ? kDefaultStackSize : stack_size) {}

StackPool::~StackPool() {
  VIGIL_CHECK(parked_.size() == fibers_.size());
  for (const auto& fiber : fibers_) {
    char* const mapping = const_cast<char*>(static_cast<const char*>(fiber->stack_low_)) - kGuardSize;
#if defined(VIGIL_SANITIZES_ADDRESS)
    ASAN_UNPOISON_MEMORY_REGION(fiber->stack_low_, fiber->stack_size_);
#endif
#if defined(VIGIL_SANITIZES_THREAD)
    __tsan_destroy_fiber(fiber->tsan_);
#endif
    munmap(mapping, kGuardSize + fiber->stack_size_);
  }
}

Fiber& StackPool::Acquire(Fiber::Body body, void* argument) {
  if (parked_.empty()) parked_.push_back(&Map());
  VIGIL_CHECK(body != nullptr);
  Fiber& fiber = *parked_.back();
  parked_.pop_back();
  fiber.body_ = body;
  fiber.argument_ = argument;
  return fiber;
}

void StackPool::Release(Fiber& fiber) {
  VIGIL_CHECK(parked_.size() < fibers_.size());  // given back twice
  fiber.owner_ = {};
  parked_.push_back(&fiber);
}

Fiber& StackPool::Map() {
  void* const mapping = mmap(nullptr, kGuardSize + stack_size_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  VIGIL_CHECK(mapping != MAP_FAILED);
  VIGIL_CHECK(mprotect(mapping, kGuardSize, PROT_NONE) == 0);
  Fiber& fiber = *fibers_.emplace_back(std::make_unique<Fiber>());
  char* const low = static_cast<char*>(mapping) + kGuardSize;
  fiber.stack_low_ = low;
  fiber.stack_size_ = stack_size_;
  fiber.context_ = make_fcontext(low + stack_size_, stack_size_, &FiberLoop::Enter);
#if defined(VIGIL_SANITIZES_THREAD)
  fiber.tsan_ = __tsan_create_fiber(0);
#endif
  return fiber;
}

std::string_view StackPool::TaskOfGuardPage(const void* address) const {
  for (const auto& fiber : fibers_) {
    const char* const low = static_cast<const char*>(fiber->stack_low_);
    const char* const at = static_cast<const char*>(address);
    if (at >= low - kGuardSize && at < low) return fiber->owner_;
  }
  return {};
}

}  // namespace vigil::sim
