// Memory for what may be large: from 4 MiB on in large pages, where the system has such. The first touch of each small
// page costs more than to copy into it what it is for.
// Thread safety: a pure function. Ownership: the caller's, who gives it back by std::free.
#ifndef VIGIL_CORE_BASE_MEMORY_H_
#define VIGIL_CORE_BASE_MEMORY_H_

#include <cstddef>

namespace vigil {

// Null: there is no memory. REQUIRES: a power of two.
void* AllocateAligned(std::size_t bytes, std::size_t alignment);

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_MEMORY_H_
