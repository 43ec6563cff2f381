// Numbers of requests and steps, which no other process gives out: counted from a random one.
// Thread safety: safe from any task.
#ifndef VIGIL_CORE_CLUSTER_REQUEST_IDS_H_
#define VIGIL_CORE_CLUSTER_REQUEST_IDS_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "vigil/core/env/env.h"

namespace vigil {

class RequestIds {
 public:
  // `who`: the name of the task, if it has one.
  RequestIds(const Env& env, std::string_view who) : next_(env.random->Unique("request ids") ^ HashOf(who)) {}
  // Positive.
  std::int64_t Next() {
    const std::uint64_t id = next_.fetch_add(1, std::memory_order_relaxed);
    return static_cast<std::int64_t>((id & ~(std::uint64_t{3} << 62)) | std::uint64_t{1} << 62);
  }

 private:
  // FNV-1a.
  static std::uint64_t HashOf(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
  }

  std::atomic<std::uint64_t> next_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_REQUEST_IDS_H_
