#include "vigil/core/base/memory.h"

#include <sys/mman.h>

#include <cstdlib>

namespace vigil {

void* AllocateAligned(std::size_t bytes, std::size_t alignment) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  const bool large = bytes >= 2 * kLargePage;
  if (large) alignment = kLargePage;
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
#ifdef MADV_HUGEPAGE
  if (large && memory != nullptr) madvise(memory, bytes, MADV_HUGEPAGE);  // no more than a wish
#endif
  return memory;
}

}  // namespace vigil
