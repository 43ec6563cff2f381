// The processors seam: threads that share the work of one op (TensorFlow's intra-op parallelism).
//
// Absent (Env::intra_op is null) in the simulator and wherever nobody asked for it: then each op has the thread of its
// caller only. Not for anything that waits: that is what Tasks are for.
#ifndef VIGIL_CORE_ENV_THREAD_POOL_H_
#define VIGIL_CORE_ENV_THREAD_POOL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace vigil {

// Thread safety: safe from any thread; several callers share the threads.
class ThreadPool {
 public:
  using Work = absl::FunctionRef<void(std::int64_t begin, std::int64_t end)>;

  virtual ~ThreadPool() = default;
  // Calls `work` for ranges that together are [0, n), each number once, in any order, several at a time, the caller's
  // thread among them; returns when all calls have. Of one range it makes parts that take some time: `cost` is how many
  // nanoseconds one number takes. A std::exception of `work` comes out, when the calls that had begun have ended.
  // REQUIRES: n >= 0; `work` neither waits nor looks at what another call of it writes.
  virtual void ParallelFor(std::int64_t n, std::int64_t cost, Work work) = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_THREAD_POOL_H_
