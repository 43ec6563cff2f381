// What the simulator itself costs: a world's life, a switch, a timer, an event. "items" are switches (or events, spawns).
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "vigil/sim/world.h"

namespace vigil::bench {
namespace {

// A world with one node and one task that does nothing, on stacks that were used before.
void WorldLife(benchmark::State& state) {
  sim::StackPool stacks;
  for (auto _ : state) {
    sim::World world({.stacks = &stacks});
    world.AddNode("chief").Spawn("main", [] {});
    benchmark::DoNotOptimize(world.Run().verdict);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(WorldLife);

// The floor: there and back between two stacks, without a scheduler.
void FiberSwitch(benchmark::State& state) {
  struct Ball {
    sim::FiberThread thread;
    sim::Fiber* fiber = nullptr;
    bool stop = false;
  } ball;
  sim::StackPool stacks;
  ball.fiber = &stacks.Acquire(
      [](void* argument) -> sim::Fiber& {
        Ball& b = *static_cast<Ball*>(argument);
        while (!b.stop) b.thread.Switch(*b.fiber, b.thread.main());
        return b.thread.main();
      },
      &ball);
  for (auto _ : state) ball.thread.Switch(ball.thread.main(), *ball.fiber);
  state.SetItemsProcessed(2 * state.iterations());
  ball.stop = true;
  ball.thread.Switch(ball.thread.main(), *ball.fiber);
  stacks.Release(*ball.fiber);
}
BENCHMARK(FiberSwitch);

// state.range(0) tasks besides the measuring one sleep for `nap` each time; 0 = they only give way to each other.
void Naps(benchmark::State& state, Duration nap) {
  sim::World world({});
  sim::Node& node = world.AddNode("chief");
  bool stop = false;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    node.Spawn("task" + std::to_string(i), [&world, &stop, nap, i] {
      while (!stop) world.AdvanceBy(nap * (i + 1));
    });
  }
  node.Spawn("main", [&] {
    for (auto _ : state) world.AdvanceBy(nap);
    stop = true;
  });
  world.Run();
  state.SetItemsProcessed(static_cast<std::int64_t>(world.switches()));
}
// Each switch is a choice between the others that are ready: drawn, recorded, hashed.
void ChosenSwitch(benchmark::State& state) { Naps(state, Duration(0)); }
BENCHMARK(ChosenSwitch)->Arg(1)->Arg(7);
// Each switch follows a timer.
void TimerSwitch(benchmark::State& state) { Naps(state, Duration(1009)); }
BENCHMARK(TimerSwitch)->Arg(0)->Arg(15)->Arg(999);

void EmitEvent(benchmark::State& state) {
  constexpr int kEvents = 10'000;
  sim::StackPool stacks;
  for (auto _ : state) {
    sim::World world({.stacks = &stacks});
    sim::Node& node = world.AddNode("chief");
    node.Spawn("main", [&node] {
      const Env& env = node.env();
      for (int i = 0; i < kEvents; ++i)
        env.Emit({.kind = EventKind::kHookCall, .index = i, .subject = "CheckpointSaver"});
    });
    world.Run();
  }
  state.SetItemsProcessed(kEvents * state.iterations());
}
BENCHMARK(EmitEvent);

void SpawnAndJoin(benchmark::State& state) {
  sim::World world({});
  sim::Node& node = world.AddNode("chief");
  node.Spawn("main", [&] {
    for (auto _ : state) node.env().tasks->Spawn("q", [] {})->Join(kNever);
  });
  world.Run();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(SpawnAndJoin);

}  // namespace
}  // namespace vigil::bench
