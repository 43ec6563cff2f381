// What the simulator costs: fiber switches, timers, choices, worlds, and whole scenarios.
#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/replays/parse.h"
#include "vigil/replays/runner.h"
#include "vigil/sim/chooser.h"
#include "vigil/sim/fiber.h"
#include "vigil/sim/world.h"

namespace vigil::bench {
namespace {

// Two tasks hand a turn to each other: each iteration is two switches, two notifications, two choices of nobody else.
void BM_TaskSwitch(benchmark::State& state) {
  sim::StackPool stacks;
  sim::World world({.stacks = &stacks});
  sim::Node& node = world.AddNode("n");
  bool done = false;
  node.Spawn("other", [&] {
    while (!done) node.env().tasks->SleepUntil(node.env().clock->Monotonic());
  });
  node.Spawn("main", [&] {
    for (auto _ : state) node.env().tasks->SleepUntil(node.env().clock->Monotonic());
    done = true;
  });
  world.Run();
  state.SetItemsProcessed(static_cast<std::int64_t>(world.switches()));
}
BENCHMARK(BM_TaskSwitch);

// A timer: sleeping one virtual second beside `n` others who sleep for long.
void BM_Timer(benchmark::State& state) {
  sim::StackPool stacks;
  sim::World world({.stacks = &stacks});
  sim::Node& node = world.AddNode("n");
  for (int i = 0; i < state.range(0); ++i) {
    node.Spawn("sleeper " + std::to_string(i), [&node, i] {
      node.env().tasks->SleepUntil(node.env().clock->Monotonic() + std::chrono::hours(24 * 365 + i));
    });
  }
  node.Spawn("main", [&] {
    for (auto _ : state) node.env().tasks->SleepUntil(node.env().clock->Monotonic() + std::chrono::seconds(1));
    world.Stop();
  });
  world.Run();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Timer)->Arg(0)->Arg(15)->Arg(999);

void BM_Choice(benchmark::State& state) {
  sim::RandomChooser chooser(1);
  sim::World world({.chooser = &chooser});
  constexpr std::array<std::string_view, 3> kLabels = {"4ms", "5ms", "6ms"};
  for (auto _ : state) benchmark::DoNotOptimize(world.Choose("net", "link", "latency", kLabels));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Choice);

void BM_World(benchmark::State& state) {
  sim::StackPool stacks;
  for (auto _ : state) {
    sim::World world({.stacks = &stacks});
    world.AddNode("n").Spawn("main", [] {});
    world.Run();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_World);

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
