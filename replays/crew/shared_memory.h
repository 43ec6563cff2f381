// Memory that a process and those that are forked from it share: what one writes the others see.
//
//   const SharedMemory<std::atomic<int>> count = NewSharedMemory<std::atomic<int>>();   // before the fork
//
// Thread safety: that of what lies there. Each process unmaps its own view.
#ifndef VIGIL_REPLAYS_CREW_SHARED_MEMORY_H_
#define VIGIL_REPLAYS_CREW_SHARED_MEMORY_H_

#include <sys/mman.h>

#include <memory>
#include <new>
#include <type_traits>

#include "vigil/core/base/check.h"

namespace vigil::replays {

struct UnmapMemory {
  template <typename T>
  void operator()(T* memory) const {
    munmap(memory, sizeof(T));
  }
};

template <typename T>
using SharedMemory = std::unique_ptr<T, UnmapMemory>;

// A T as default initialization makes it. What it leaves alone is zero, and takes no memory until it is written.
template <typename T>
SharedMemory<T> NewSharedMemory() {
  static_assert(std::is_trivially_destructible_v<T>, "each process would destroy it");
  void* const memory =
      mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  VIGIL_CHECK(memory != MAP_FAILED);
  return SharedMemory<T>(new (memory) T);
}

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_CREW_SHARED_MEMORY_H_
