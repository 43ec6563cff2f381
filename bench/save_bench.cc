// How long a checkpoint keeps the training waiting: a step that changes 16 MB of variables, the same step with a save
// in place, and with a save beside the training (whose writing is waited for outside of what is measured). Compare
// within one run of this program only.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "vigil/bench/world.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/memory_files.h"

namespace vigil::bench {
namespace {

constexpr std::int32_t kWeights = 4 << 20;

// Argument: 0 no save, 1 in place, 2 beside.
void BM_StepThatSaves(benchmark::State& state) {
  World world;
  fakes::MemoryFiles files(*world.env.clock);
  world.env.files = &files;
  VIGIL_CHECK(files.MakeDirectory("/model").ok());
  Builder b(world.graph);
  const Output size = b.Const("size", Tensor::Vector<std::int32_t>({kWeights}));
  const Output ones = b.Op("Fill", {size, b.Const("one_weight", Tensor::Scalar<float>(1))});
  const ops::Variable weights = ops::MakeVariable(b, "weights", ones);
  const Output update = ops::AssignAdd(b, "update", weights.ref, ones);
  const Output init = ops::VariablesInitializer(b, "init", world.graph.Collection(kGlobalVariables));
  VIGIL_CHECK(b.status().ok());
  const auto saver = std::make_shared<Saver>(world.env, SaverOptions{.max_to_keep = 1});
  VIGIL_CHECK(saver->Build(world.graph).ok());
  const std::unique_ptr<Session> session = NewDirectSession(world.env, world.graph);
  VIGIL_CHECK(RunTarget(*session, init.node).ok());
  std::int64_t step = 0;
  for (auto _ : state) {
    VIGIL_CHECK(RunTarget(*session, update.node).ok());
    ++step;
    if (state.range(0) == 1) VIGIL_CHECK(saver->Save(*session, "/model/m", step).ok());
    if (state.range(0) == 2) VIGIL_CHECK(saver->SaveBeside(*session, "/model/m", step).ok());
    state.PauseTiming();
    saver->WaitForSaves();
    state.ResumeTiming();
  }
}
BENCHMARK(BM_StepThatSaves)->Arg(0)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace vigil::bench
