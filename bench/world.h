// What benchmarks of sessions have in common.
#ifndef VIGIL_BENCH_WORLD_H_
#define VIGIL_BENCH_WORLD_H_

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/allocations/allocations.h"

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

// Measures `run`, which has run before, with its allocations: of all threads, so nothing else may be at work.
template <typename Run>
void Measure(benchmark::State& state, Run run) {
  const std::uint64_t before = fakes::Allocations();
  for (auto _ : state) VIGIL_CHECK(run().ok());
  state.counters["allocs"] =
      benchmark::Counter(static_cast<double>(fakes::Allocations() - before), benchmark::Counter::kAvgIterations);
}

// The same of a raw run.
inline void MeasureRaw(benchmark::State& state, Session& session, const RunSpec& spec) {
  std::vector<Tensor> fetched;
  const auto run = [&] { return session.Run({.spec = spec}, &fetched); };
  VIGIL_CHECK(run().ok());
  Measure(state, run);
}

}  // namespace vigil::bench

#endif  // VIGIL_BENCH_WORLD_H_
