// What benchmarks of sessions have in common.
#ifndef VIGIL_BENCH_WORLD_H_
#define VIGIL_BENCH_WORLD_H_

#include <benchmark/benchmark.h>

#include <cstdint>

#include "vigil/bench/allocations.h"
#include "vigil/core/base/check.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/training_util.h"

namespace vigil::bench {

// A graph with a global step, a train op and an op that does nothing, on the real environment.
struct World {
  World() : graph(BuiltinOps()) {
    env = real.env();
    Builder b(graph);
    step = *GetOrCreateGlobalStep(env, b);
    const Output one = b.Const("one", Tensor::Scalar<std::int64_t>(1));
    train = ops::AssignAdd(b, "train", step, one);
    nothing = b.Group("nothing", {});
    VIGIL_CHECK(b.status().ok());
  }
  RealEnv real{RealEnvOptions{.log_to_stderr = false}};
  Env env;
  Graph graph;
  Output step;
  Output train;
  Output nothing;
};

inline void ReportAllocations(benchmark::State& state, std::uint64_t before) {
  state.counters["allocs"] =
      benchmark::Counter(static_cast<double>(Allocations() - before), benchmark::Counter::kAvgIterations);
}

}  // namespace vigil::bench

#endif  // VIGIL_BENCH_WORLD_H_
