// What the default hooks of MonitoredTrainingSession cost while none of them triggers: a step of training with all of
// them, beside the same step of a monitored session without hooks and of a raw session. Compare within one run of this
// program only.
#include <benchmark/benchmark.h>

#include <limits>
#include <memory>
#include <vector>

#include "vigil/bench/world.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/summary/summary_writer_cache.h"
#include "vigil/core/train/training/monitored_training_session.h"
#include "vigil/fakes/memory_files.h"

namespace vigil::bench {
namespace {

constexpr std::int64_t kNeverAgain = std::numeric_limits<std::int64_t>::max() / 2;

void BM_RawTrainStep(benchmark::State& state) {
  World world;
  const std::unique_ptr<Session> session = NewDirectSession(world.env, world.graph);
  Builder b(world.graph);
  const Output init = ops::VariablesInitializer(b, "init", world.graph.Collection(kGlobalVariables));
  VIGIL_CHECK(b.status().ok() && RunTarget(*session, init.node).ok());
  const RunSpec spec{.feeds = {}, .fetches = {world.train}, .targets = {}, .unresolved = {}};
  MeasureRaw(state, *session, spec);
}
BENCHMARK(BM_RawTrainStep);

// Argument: 0 without hooks, 1 with the step counter, the summary saver and the checkpoint saver.
void BM_TrainingSession(benchmark::State& state) {
  RealEnv outer;  // the files outlive the process of `world`, which keeps summary writers
  fakes::MemoryFiles files(*outer.env().clock);
  World world;
  world.env.files = &files;
  Builder b(world.graph);
  const Output loss = b.Const("loss", Tensor::Scalar<float>(1));
  ops::ScalarSummary(b, "loss_summary", "loss", loss);
  VIGIL_CHECK(b.status().ok());
  MonitoredTrainingSessionOptions options{.checkpoint_dir = state.range(0) == 0 ? "" : "/model"};
  options.save_checkpoint_secs = Duration(std::chrono::hours(24));
  options.save_summaries_steps = kNeverAgain;
  options.log_step_count_steps = state.range(0) == 0 ? std::nullopt : std::optional<std::int64_t>(kNeverAgain);
  auto session = MonitoredTrainingSession(world.env, world.graph, options);
  VIGIL_CHECK(session.ok());
  const Fetches train = world.train;
  RunResult result;
  // The first run is one in which they trigger.
  for (int i = 0; i < 3; ++i) VIGIL_CHECK((*session)->RunInto(&result, train).ok());
  // A thread still writes what they had to say, and would be counted with the first of the runs that are measured.
  if (state.range(0) != 0) VIGIL_CHECK(GetCachedWriter(world.env, "/model", &world.graph)->Flush().ok());
  Measure(state, [&] { return (*session)->RunInto(&result, train); });
  VIGIL_CHECK((*session)->Close().ok());
}
BENCHMARK(BM_TrainingSession)->Arg(0)->Arg(1);

}  // namespace
}  // namespace vigil::bench
