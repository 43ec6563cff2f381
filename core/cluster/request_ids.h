// Numbers of requests and steps, which no other process gives out: counted from a random one.
// Thread safety: safe from any task.
#ifndef VIGIL_CORE_CLUSTER_REQUEST_IDS_H_
#define VIGIL_CORE_CLUSTER_REQUEST_IDS_H_

#include <cstdint>
#include <string_view>

#include "vigil/core/base/atomic.h"
#include "vigil/core/base/fnv.h"
#include "vigil/core/env/env.h"

namespace vigil {

class RequestIds {
 public:
  // `who`: the name of the task, if it has one.
  RequestIds(const Env& env, std::string_view who) : next_(env.random->Unique("request ids") ^ Fnv1a(who)) {}
  // Positive.
  std::int64_t Next() {
    const std::uint64_t id = next_.fetch_add(1, std::memory_order_relaxed);
    return static_cast<std::int64_t>((id & ~(std::uint64_t{3} << 62)) | std::uint64_t{1} << 62);
  }

 private:
  Atomic<std::uint64_t> next_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_REQUEST_IDS_H_
