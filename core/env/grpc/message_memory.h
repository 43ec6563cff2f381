// Memory for what is large in messages that arrive, kept for the next one when its last user is gone: to take pages
// from the system anew, and to have them cleared, costs about as much as to receive what they are for. What is kept is
// the system's for the asking: it takes such pages first when it needs some.
// Thread safety: all of it. Ownership: what was given lives as long as it is held, also beyond this object's owner.
#ifndef VIGIL_CORE_ENV_GRPC_MESSAGE_MEMORY_H_
#define VIGIL_CORE_ENV_GRPC_MESSAGE_MEMORY_H_

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace vigil {

class MessageMemory : public std::enable_shared_from_this<MessageMemory> {
 public:
  // Keeps as many bytes at most. REQUIRES: a shared_ptr owns it.
  explicit MessageMemory(std::size_t most_kept) : most_kept_(most_kept) {}
  ~MessageMemory();

  // Aligned for any tensor, its contents anything. Null: there is no memory.
  std::shared_ptr<char> Take(std::size_t bytes);
  std::size_t kept();  // bytes

 private:
  char* TakeKept(std::size_t* bytes);
  void Give(char* memory, std::size_t bytes);

  const std::size_t most_kept_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::multimap<std::size_t, char*> kept_;  // by size
  std::size_t kept_bytes_ = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_GRPC_MESSAGE_MEMORY_H_
