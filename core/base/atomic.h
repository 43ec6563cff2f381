// A value that tasks share without a lock: std::atomic, of which whoever lets tasks take turns knows (turns.h).
//
// The names are std::atomic's, and what they mean. Counters of references and caches, of which nobody can tell who was
// first, are std::atomic itself.
// Thread safety: that is what it is for.
#ifndef VIGIL_CORE_BASE_ATOMIC_H_
#define VIGIL_CORE_BASE_ATOMIC_H_

#include <atomic>

#include "vigil/core/base/turns.h"

namespace vigil {

template <typename T>
class Atomic {
 public:
  constexpr Atomic(T value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor): as std::atomic
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const noexcept { return Shared(value_.load(order)); }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    value_.store(value, order);
    Turns::AfterShared();
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return Shared(value_.exchange(value, order));
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return Shared(value_.fetch_add(value, order));
  }
  T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return Shared(value_.fetch_sub(value, order));
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return Shared(value_.compare_exchange_weak(expected, value, order));
  }

 private:
  template <typename V>
  static V Shared(V value) noexcept {
    Turns::AfterShared();
    return value;
  }

  std::atomic<T> value_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_ATOMIC_H_
