// A pool without threads that makes as many parts as there can be, and calls for the last one first: what depends on
// how work is shared out, or in which order, comes out.
// Thread safety: none.
#ifndef VIGIL_FAKES_CUT_UP_H_
#define VIGIL_FAKES_CUT_UP_H_

#include <cstdint>

#include "vigil/core/env/thread_pool.h"

namespace vigil::fakes {

class CutUp final : public ThreadPool {
 public:
  void ParallelFor(std::int64_t n, std::int64_t /*cost*/, Work work) override {
    for (std::int64_t i = n; i-- > 0;) {
      work(i, i + 1);
      ++parts;
    }
  }

  std::int64_t parts = 0;
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_CUT_UP_H_
