#include "vigil/core/env/grpc/message_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <utility>

#include "vigil/core/base/memory.h"

namespace vigil {
namespace {

constexpr std::size_t kAlignment = 64;
// What is smaller the C library keeps by itself.
constexpr std::size_t kLeastKept = std::size_t{4} << 20;

}  // namespace

MessageMemory::~MessageMemory() {
  for (const auto& [bytes, memory] : kept_) std::free(memory);
}

std::shared_ptr<char> MessageMemory::Take(std::size_t bytes) {
  char* memory = bytes < kLeastKept ? nullptr : TakeKept(&bytes);
  if (memory == nullptr) memory = static_cast<char*>(AllocateAligned(bytes, kAlignment));
  if (memory == nullptr) return nullptr;
  return {memory, [self = shared_from_this(), bytes](char* given) { self->Give(given, bytes); }};
}

// `bytes`: how many it has. Not much more than asked, or little would keep much.
char* MessageMemory::TakeKept(std::size_t* bytes) {
  std::lock_guard lock(mutex_);
  const auto it = kept_.lower_bound(*bytes);
  if (it == kept_.end() || it->first / 2 > *bytes) return nullptr;
  *bytes = it->first;
  kept_bytes_ -= it->first;
  return kept_.extract(it).mapped();
}

void MessageMemory::Give(char* memory, std::size_t bytes) {
  if (bytes < kLeastKept || bytes > most_kept_) return std::free(memory);
#ifdef MADV_FREE
  madvise(memory, bytes, MADV_FREE);  // no more than a wish
#endif
  std::lock_guard lock(mutex_);
  while (kept_bytes_ + bytes > most_kept_) {
    // The smallest first: they are the cheapest to have anew.
    const auto it = kept_.begin();
    kept_bytes_ -= it->first;
    std::free(kept_.extract(it).mapped());
  }
  kept_.emplace(bytes, memory);
  kept_bytes_ += bytes;
}

std::size_t MessageMemory::kept() {
  std::lock_guard lock(mutex_);
  return kept_bytes_;
}

}  // namespace vigil
