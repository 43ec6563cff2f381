// What the simulator itself costs: a world's life, a switch, a timer, an event. "items" are switches (or events,
// spawns).
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "vigil/core/env/network.h"
#include "vigil/core/env/notification.h"
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

// Requests and their answers between two nodes: state.range(0) callers, each waiting for one answer at a time.
// Latencies are drawn; the handler has a task of its own. "items" are messages.
void Messages(benchmark::State& state) {
  sim::RandomChooser chooser(1);
  sim::World world({.chooser = &chooser});
  sim::Node& server = world.AddNode("ps:0");
  sim::Node& client = world.AddNode("worker:0");
  bool stop = false;
  server.Spawn("main", [&] {
    const auto listener =
        server.env().network->Listen("ps:1", [](IncomingCall& call) -> NetworkReply { return call.body(); });
    while (!stop) world.AdvanceBy(std::chrono::seconds(1));
  });
  const NetworkRequest request{.to = "ps:1", .method = "/tensorflow.WorkerService/RunGraph", .body = absl::Cord("x")};
  std::int64_t answered = 0;
  for (std::int64_t i = 1; i < state.range(0); ++i) {
    client.Spawn("caller", [&] {
      while (!stop) answered += CallAndWait(client.env(), request).ok() ? 1 : 0;
    });
  }
  client.Spawn("main", [&] {
    world.AdvanceBy(std::chrono::seconds(1));
    for (auto _ : state) answered += CallAndWait(client.env(), request).ok() ? 1 : 0;
    stop = true;
  });
  world.Run();
  state.SetItemsProcessed(2 * answered);
}
BENCHMARK(Messages)->Arg(1)->Arg(4)->Arg(32);

// As a step sends them: to four servers at once, whose handlers answer at once; no task waits for a single answer.
void FanOut(benchmark::State& state) {
  sim::RandomChooser chooser(1);
  sim::World world({.chooser = &chooser});
  bool stop = false;
  constexpr int kServers = 4;
  for (int i = 0; i < kServers; ++i) {
    const std::string name = "ps:" + std::to_string(i + 1);
    sim::Node& server = world.AddNode(name);
    server.Spawn("main", [&world, &server, &stop, name] {
      const auto listener =
          server.env().network->Listen(name, [](IncomingCall& call) -> NetworkReply { return call.body(); });
      while (!stop) world.AdvanceBy(std::chrono::seconds(1));
    });
  }
  sim::Node& client = world.AddNode("worker:0");
  client.Spawn("main", [&] {
    world.AdvanceBy(std::chrono::seconds(1));
    const Env& env = client.env();
    Notification all(*env.tasks, "all");
    int waiting = 0;
    for (auto _ : state) {
      waiting = kServers;
      all.Clear();
      for (int i = 0; i < kServers; ++i) {
        env.network->Start({.to = "ps:" + std::to_string(i + 1), .method = "/tensorflow.WorkerService/RunGraph"},
                           [&](NetworkReply) {
                             if (--waiting == 0) all.Notify();
                           });
      }
      all.Wait(kNever);
    }
    stop = true;
  });
  world.Run();
  state.SetItemsProcessed(2 * kServers * state.iterations());
}
BENCHMARK(FanOut);

}  // namespace
}  // namespace vigil::bench
