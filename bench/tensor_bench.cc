// What large values cost: making one (Fill), updating a variable in place (ApplyGradientDescent) and where somebody
// holds the value, which then gets new memory. Arguments: MiB. Measured before: Fill of 128 MiB 1,800 ms,
// ApplyGradientDescent 332 ms (68 in place).
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"

namespace vigil::bench {
namespace {

// A variable of so many MiB, a gradient and their update.
struct LargeVariable {
  explicit LargeVariable(std::int64_t mib) : graph(BuiltinOps()) {
    Builder b(graph);
    const std::int64_t size = mib * (1 << 20) / std::int64_t{sizeof(float)};
    const Output dims = b.Const("dims", Tensor::Vector<std::int64_t>({size}));
    const Output one = b.Const("one", Tensor::Scalar<float>(1));
    filled = b.Op("Fill", {dims, one}, {.name = "filled"});
    const ops::Variable v = ops::MakeVariable(b, "v", filled);
    variable = v.ref;
    gradient = ops::Placeholder(b, "gradient", DType::kFloat);
    update = b.Op("ApplyGradientDescent", {v.ref, one, gradient}, {.name = "update"});
    VIGIL_CHECK(b.status().ok());
    session = NewDirectSession(real.env(), graph);
    VIGIL_CHECK(RunTarget(*session, v.initializer).ok());
    given = *RunFetch(*session, filled);
  }

  RealEnv real{RealEnvOptions{.log_to_stderr = false}};
  Graph graph;
  Output filled;
  Output variable;
  Output gradient;
  Output update;
  std::unique_ptr<Session> session;
  Tensor given;
};

void BM_Fill(benchmark::State& state) {
  LargeVariable large(state.range(0));
  for (auto _ : state) VIGIL_CHECK(RunTarget(*large.session, large.filled.node).ok());
  state.SetBytesProcessed(state.iterations() * state.range(0) * (1 << 20));
}
BENCHMARK(BM_Fill)->Arg(1)->Arg(128)->Unit(benchmark::kMillisecond);

void Update(benchmark::State& state, bool held) {
  LargeVariable large(state.range(0));
  const RunSpec spec{.feeds = {large.gradient}, .targets = {large.update.node}};
  const std::vector<Tensor> fed{large.given};
  std::vector<Tensor> nothing;
  Tensor value;
  for (auto _ : state) {
    if (held) value = *RunFetch(*large.session, large.variable);
    VIGIL_CHECK(large.session->Run({.spec = spec, .feed_values = fed}, &nothing).ok());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * (1 << 20));
}

void BM_UpdateInPlace(benchmark::State& state) { Update(state, false); }
BENCHMARK(BM_UpdateInPlace)->Arg(1)->Arg(128)->Unit(benchmark::kMillisecond);

void BM_UpdateOfAValueThatIsHeld(benchmark::State& state) { Update(state, true); }
BENCHMARK(BM_UpdateOfAValueThatIsHeld)->Arg(1)->Arg(128)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vigil::bench
