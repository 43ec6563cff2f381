// In a file of its own, which no other is compiled with: where GCC sees malloc and a delete in one place, it takes them
// for a mismatch. The array forms of the standard library call these.
#include "vigil/fakes/allocations/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> allocations{0};
std::atomic<std::uint64_t> largest{0};

void Count(std::size_t size) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  std::uint64_t before = largest.load(std::memory_order_relaxed);
  while (before < size && !largest.compare_exchange_weak(before, size, std::memory_order_relaxed)) {
  }
}

void* Allocate(std::size_t size) noexcept {
  Count(size);
  return std::malloc(size == 0 ? 1 : size);
}

void* Allocate(std::size_t size, std::align_val_t alignment) noexcept {
  Count(size);
  const auto align = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(align, (size + align - 1) / align * align + (size == 0 ? align : 0));
}

void* OrThrow(void* p) {
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t size) { return OrThrow(Allocate(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return OrThrow(Allocate(size, alignment)); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(size, alignment);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { std::free(p); }

namespace vigil::fakes {

std::uint64_t Allocations() { return allocations.load(std::memory_order_relaxed); }
std::uint64_t TakeLargestAllocation() { return largest.exchange(0, std::memory_order_relaxed); }

}  // namespace vigil::fakes
