// Nobody gets more memory in one piece than kMostBytesAtOnce: whoever asks for more on behalf of a few bytes ends in
// bad_alloc, which is a finding (or, where the library makes tensors, the error that it should be).
#include "vigil/fuzz/bounded_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

#include "vigil/fuzz/targets.h"

namespace {

std::atomic<std::size_t> most_bytes{vigil::fuzz::kMostBytesAtOnce};

void* Allocate(std::size_t size, std::size_t alignment) {
  if (size > most_bytes.load(std::memory_order_relaxed)) throw std::bad_alloc();
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* AllocateOrNull(std::size_t size, std::size_t alignment) {
  try {
    return Allocate(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

constexpr std::size_t kUsual = 16;

std::size_t BytesOf(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

// All forms that there are: a sanitizer has its own of those that are left out, and finds memory of the one returned by
// the other.
using Quiet = std::nothrow_t;
void* operator new(std::size_t size) { return Allocate(size, kUsual); }
void* operator new[](std::size_t size) { return Allocate(size, kUsual); }
void* operator new(std::size_t size, const Quiet&) noexcept { return AllocateOrNull(size, kUsual); }
void* operator new[](std::size_t size, const Quiet&) noexcept { return AllocateOrNull(size, kUsual); }
void* operator new(std::size_t size, std::align_val_t a) { return Allocate(size, BytesOf(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return Allocate(size, BytesOf(a)); }
void* operator new(std::size_t size, std::align_val_t a, const Quiet&) noexcept {
  return AllocateOrNull(size, BytesOf(a));
}
void* operator new[](std::size_t size, std::align_val_t a, const Quiet&) noexcept {
  return AllocateOrNull(size, BytesOf(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, const Quiet&) noexcept { std::free(p); }
void operator delete[](void* p, const Quiet&) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const Quiet&) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t, const Quiet&) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace vigil::fuzz {

BoundedNew::BoundedNew(std::size_t most) : before_(most_bytes.exchange(most, std::memory_order_relaxed)) {}
BoundedNew::~BoundedNew() { most_bytes.store(before_, std::memory_order_relaxed); }

}  // namespace vigil::fuzz
