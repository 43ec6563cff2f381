// Worlds share nothing: on several threads at once each gives what it gives alone.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vigil/core/env/real/real_env.h"
#include "vigil/sim/world.h"

namespace vigil::contracts {
namespace {

std::uint64_t HashOfWorld(std::uint64_t seed, sim::StackPool& stacks) {
  sim::RandomChooser chooser(seed);
  sim::World world({.chooser = &chooser, .seed = seed, .stacks = &stacks});
  sim::Node& node = world.AddNode("node");
  const Env env = node.env();
  const auto mutex = env.tasks->NewMutex("m");
  for (int t = 0; t < 3; ++t) {
    node.Spawn("t", [&] {
      for (int i = 0; i < 20; ++i) {
        MutexLock lock(*mutex);
        env.tasks->SleepUntil(DeadlineAfter(env, Duration(static_cast<std::int64_t>(env.random->Draw("nap") % 5))));
        env.Emit({.kind = EventKind::kNote, .index = i, .subject = "note"});
      }
    });
  }
  node.Spawn("killer", [&] {
    world.AdvanceBy(Duration(100));
    if (seed % 2 == 0) node.Kill();
  });
  EXPECT_EQ(world.Run().verdict, sim::WorldVerdict::kDone);
  return world.hash();
}

TEST(ParallelWorlds, EachIsAsAlone) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kWorlds = 50;
  std::array<std::uint64_t, kWorlds> alone{};
  sim::StackPool stacks;
  for (std::size_t i = 0; i < kWorlds; ++i) alone[i] = HashOfWorld(i, stacks);

  RealEnv real;
  std::array<std::array<std::uint64_t, kWorlds>, kThreads> together{};
  std::vector<std::unique_ptr<Task>> threads;
  for (auto& hashes : together) {
    threads.push_back(real.env().tasks->Spawn("worlds", [&hashes] {
      sim::StackPool own;
      for (std::size_t i = 0; i < kWorlds; ++i) hashes[i] = HashOfWorld(i, own);
    }));
  }
  for (const auto& thread : threads) thread->Join(kNever);
  for (const auto& hashes : together) EXPECT_EQ(hashes, alone);
}

// A world may move to another thread between its runs.
TEST(ParallelWorlds, AWorldCanMoveToAnotherThread) {
  RealEnv real;
  sim::StackPool stacks;
  sim::World world({.stacks = &stacks});
  sim::Node& node = world.AddNode("node");
  node.Spawn("main", [&] { world.AdvanceBy(Duration(1)); });
  EXPECT_EQ(world.Run().verdict, sim::WorldVerdict::kDone);
  node.Spawn("main", [&] { world.AdvanceBy(Duration(1)); });
  real.env().tasks->Spawn("elsewhere", [&] { EXPECT_EQ(world.Run().verdict, sim::WorldVerdict::kDone); })->Join(kNever);
  EXPECT_EQ(world.scheduler().now(), Duration(2));
}

}  // namespace
}  // namespace vigil::contracts
