// How many scenarios a second the runner plays.
#include <benchmark/benchmark.h>

#include "vigil/core/base/check.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/play/runner.h"

namespace vigil::bench {
namespace {

// A session life of two hooks, three runs and a recovery, as recorded scenarios have it; without reading it.
void BM_Scenario(benchmark::State& state) {
  const auto recording = replays::ParseRecording(
      R"({"id":"s","hooks":[{"hook":"probe","name":"a","plan":[]},{"hook":"probe","name":"b","plan":[]}],)"
      R"("faults":[{"at":"run","call":2,"code":"ABORTED"}],"drive":[{"op":"loop","max":3,"body":[{"op":"run"}]}]})");
  VIGIL_CHECK(recording.ok());
  replays::Runner runner;
  for (auto _ : state) benchmark::DoNotOptimize(runner.Run(recording->scenario).hash);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Scenario);

}  // namespace
}  // namespace vigil::bench
