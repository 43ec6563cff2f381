// What a hook costs: runs of monitored sessions with 0 to 16 hooks, beside the raw run and beside the floor, a loop of
// two virtual calls for each hook. Compare within one run of this program only; "allocs" are allocations for each run.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "vigil/bench/world.h"
#include "vigil/core/base/check.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"

namespace vigil::bench {
namespace {

// A hook that does nothing: the session's default one.
class NoOpHook : public SessionRunHook {};

class FetchingHook : public SessionRunHook {
 public:
  explicit FetchingHook(Output what) : what_(what) {}
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = what_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    benchmark::DoNotOptimize(values.results.scalar<std::int64_t>());
    return absl::OkStatus();
  }

 private:
  Fetches what_;
};

void BM_RawRun(benchmark::State& state) {
  World world;
  const std::unique_ptr<Session> session = NewDirectSession(world.env, world.graph);
  const RunSpec spec{.feeds = {}, .fetches = {}, .targets = {world.nothing.node}, .unresolved = {}};
  MeasureRaw(state, *session, spec);
}
BENCHMARK(BM_RawRun);

void RunMonitored(benchmark::State& state, World& world, std::vector<HookPtr> hooks, const Fetches& fetches) {
  auto session = MonitoredSession::Create(world.env, world.graph, {.hooks = std::move(hooks)});
  VIGIL_CHECK(session.ok());
  RunResult result;
  VIGIL_CHECK((*session)->RunInto(&result, fetches).ok());
  Measure(state, [&] { return (*session)->RunInto(&result, fetches); });
  VIGIL_CHECK((*session)->Close().ok());
}

void BM_NoOpHooks(benchmark::State& state) {
  World world;
  std::vector<HookPtr> hooks;
  for (int i = 0; i < state.range(0); ++i) hooks.push_back(std::make_shared<NoOpHook>());
  RunMonitored(state, world, std::move(hooks), Fetches::Op(world.nothing.node));
}
BENCHMARK(BM_NoOpHooks)->Arg(0)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16);

void BM_FetchingHooks(benchmark::State& state) {
  World world;
  Builder b(world.graph);
  const Output read = **GetOrCreateGlobalStepRead(world.env, b);
  std::vector<HookPtr> hooks;
  for (int i = 0; i < state.range(0); ++i) hooks.push_back(std::make_shared<FetchingHook>(read));
  RunMonitored(state, world, std::move(hooks), world.train);
}
BENCHMARK(BM_FetchingHooks)->Arg(0)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16);

// The floor: two virtual calls for each hook, called through the list as a session holds it, their results checked.
void BM_TwoVirtualCalls(benchmark::State& state) {
  World world;
  const std::unique_ptr<Session> session = NewDirectSession(world.env, world.graph);
  std::vector<HookPtr> hooks;
  for (int i = 0; i < state.range(0); ++i) hooks.push_back(std::make_shared<NoOpHook>());
  const Fetches fetches;
  const Feeds feeds;
  RunArgs args;
  const RunOptions options;
  const RunMetadata metadata;
  const RunValues values{{}, options, metadata};
  for (auto _ : state) {
    RunContext context(fetches, feeds, *session);
    for (const HookPtr& hook : hooks) VIGIL_CHECK(hook->BeforeRun(context, args).ok());
    for (const HookPtr& hook : hooks) VIGIL_CHECK(hook->AfterRun(context, values).ok());
    benchmark::DoNotOptimize(context.stop_requested());
  }
}
BENCHMARK(BM_TwoVirtualCalls)->Arg(0)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16);

// Create, five runs, close, on a prepared graph.
void BM_SessionLife(benchmark::State& state) {
  World world;
  Builder b(world.graph);
  auto scaffold = std::make_shared<Scaffold>(world.env, world.graph);
  VIGIL_CHECK(scaffold->Finalize().ok());
  RunResult result;
  for (auto _ : state) {
    auto creator =
        std::make_shared<ChiefSessionCreator>(world.env, world.graph, ChiefSessionCreatorOptions{.scaffold = scaffold});
    auto session = MonitoredSession::Create(world.env, world.graph, {.session_creator = std::move(creator)});
    VIGIL_CHECK(session.ok());
    for (int i = 0; i < 5; ++i) VIGIL_CHECK((*session)->RunInto(&result, world.train).ok());
    VIGIL_CHECK((*session)->Close().ok());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_SessionLife);

// The same, with building the graph.
void BM_SessionLifeWithGraph(benchmark::State& state) {
  RunResult result;
  for (auto _ : state) {
    World world;
    auto session = MonitoredSession::Create(world.env, world.graph, {});
    VIGIL_CHECK(session.ok());
    for (int i = 0; i < 5; ++i) VIGIL_CHECK((*session)->RunInto(&result, world.train).ok());
    VIGIL_CHECK((*session)->Close().ok());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_SessionLifeWithGraph);

}  // namespace
}  // namespace vigil::bench
