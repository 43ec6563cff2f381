// Callbacks of timers beside tasks, and processes that stand still.
#include "vigil/sim/alarm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/env/notification.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AlarmTest : public testing::Test {
 protected:
  void At(int second, std::function<void()> ring) {
    alarms_.push_back(std::make_unique<Alarm>(world_.scheduler(), std::move(ring)));
    alarms_.back()->SetAt(seconds(second));
  }
  void See(const std::string& what) {
    seen_.push_back(std::to_string(world_.scheduler().now() / seconds(1)) + " " + what);
  }

  std::vector<std::string> seen_;
  World world_{WorldOptions{}};
  Node& node_ = world_.AddNode("node");
  std::vector<std::unique_ptr<Alarm>> alarms_;
};

TEST_F(AlarmTest, RingsInOrderOutsideOfAllTasks) {
  const auto ring = [this](const std::string& name) {
    return [this, name] {
      EXPECT_EQ(world_.CurrentTask(), "");
      EXPECT_TRUE(world_.scheduler().firing());
      See(name);
    };
  };
  At(3, ring("late"));
  At(1, ring("a"));
  At(1, ring("b"));
  At(2, ring("cleared"));
  node_.Spawn("main", [this] {
    alarms_[3]->Clear();
    world_.AdvanceBy(seconds(1));
    See("main");
    EXPECT_EQ(world_.CurrentTask(), "node/main");
    alarms_[1]->SetAt(Duration(0));  // past: as soon as nobody can run
    EXPECT_TRUE(alarms_[1]->pending());
    world_.AdvanceBy(Duration(0));
    See("main again");
  });
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, ElementsAre("1 a", "1 b", "1 main", "1 main again", "1 a", "3 late"));
}

TEST_F(AlarmTest, MaySpawnNotifyChooseAndSetItself) {
  Notification told(*node_.env().tasks, "told");
  int rings = 0;
  At(1, [&] {
    node_.Spawn("spawned", [this] { See("spawned"); });
    told.Notify();
    EXPECT_EQ(world_.Choose("here", std::array<std::string_view, 2>{"calm", "other"}), 0u);
    if (++rings < 3) alarms_[0]->SetAt(world_.scheduler().now());
  });
  node_.Spawn("main", [&] {
    told.Wait(kNever);
    See("told");
  });
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_EQ(rings, 3);
  EXPECT_EQ(seen_.size(), 4u);
}

// What a callback kills is unwound before the next callback of the same moment, on whatever stack the first one ran.
TEST_F(AlarmTest, KillsAndRestartsInOneMoment) {
  struct Leaves {
    std::function<void()> left;
    ~Leaves() { left(); }
  };
  for (const bool elsewhere : {false, true}) {
    seen_.clear();
    if (node_.killed()) node_.Restart();
    node_.Spawn("main", [this] {
      Leaves leaves{[this] { See("gone"); }};
      world_.AdvanceBy(seconds(100));
    });
    // Gives way last: the callbacks run on its stack.
    Node& last = elsewhere ? world_.AddNode("other") : node_;
    last.Spawn("last", [this] { world_.AdvanceBy(seconds(3)); });
    const int now = static_cast<int>(world_.scheduler().now() / seconds(1));
    At(now + 1, [this] {
      node_.Kill();
      See("kill returns");
    });
    At(now + 1, [this] {
      See("restart");
      node_.Restart();
      node_.Spawn("main", [this] { See("new life"); });
    });
    EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
    EXPECT_EQ(seen_.size(), 4u);
    const std::string at = std::to_string(now + 1);
    EXPECT_THAT(seen_, ElementsAre(at + " kill returns", at + " gone", at + " restart", at + " new life"));
  }
}

TEST_F(AlarmTest, StopsTheWorld) {
  At(1, [this] { world_.Stop(); });
  At(1, [this] { See("never"); });
  node_.Spawn("main", [this] {
    world_.AdvanceBy(seconds(5));
    See("never");
  });
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kStopped);
  EXPECT_THAT(seen_, IsEmpty());
}

TEST_F(AlarmTest, APausedProcessMissesNothing) {
  Notification told(*node_.env().tasks, "told");
  Notification never(*node_.env().tasks, "never");
  node_.Spawn("sleeper", [&] {
    world_.AdvanceBy(seconds(2));
    See("slept");
  });
  node_.Spawn("waiter", [&] {
    EXPECT_TRUE(told.Wait(kNever));
    See("told");
  });
  node_.Spawn("deadline", [&] {
    EXPECT_FALSE(never.Wait(Time{seconds(4)}));
    See("timed out");
  });
  node_.Spawn("later", [&] {
    world_.AdvanceBy(seconds(20));
    See("slept long");
  });
  world_.AddNode("other").Spawn("main", [this] {
    world_.AdvanceBy(seconds(5));
    See("other");
  });
  At(1, [this] { node_.Pause(); });
  At(3, [&] { told.Notify(); });
  At(4, [this] { node_.Spawn("spawned", [this] { See("spawned"); }); });
  At(10, [this] {
    EXPECT_EQ(node_.held_now(), 4);
    node_.Resume();
  });
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, ElementsAre("5 other", "10 slept", "10 told", "10 spawned", "10 timed out", "20 slept long"));
  EXPECT_EQ(node_.held_by_pauses(), 4);
}

TEST_F(AlarmTest, ATaskPausesItsOwnProcess) {
  node_.Spawn("main", [this] {
    node_.Pause();
    See("goes on until it gives way");
    world_.AdvanceBy(Duration(0));
    See("resumed");
  });
  At(2, [this] { node_.Resume(); });
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, ElementsAre("0 goes on until it gives way", "2 resumed"));
}

TEST_F(AlarmTest, AProcessThatIsPausedForEverIsADeadlockThatSaysSo) {
  node_.Spawn("main", [this] { world_.AdvanceBy(seconds(5)); });
  At(1, [this] { node_.Pause(); });
  const WorldResult result = world_.Run();
  EXPECT_EQ(result.verdict, WorldVerdict::kDeadlock);
  EXPECT_THAT(result.report, HasSubstr("node/main can run, but its process is paused"));
}

TEST_F(AlarmTest, AWallClockDrifts) {
  const Env& env = node_.env();
  node_.Spawn("main", [&] {
    node_.set_clock_rate(1.5);
    world_.AdvanceBy(seconds(10));
    EXPECT_EQ(env.clock->Now(), Time{seconds(1015)});
    node_.JumpClock(seconds(-5));
    node_.set_clock_rate(0.5);
    world_.AdvanceBy(seconds(10));
    EXPECT_EQ(env.clock->Now(), Time{seconds(1015)});
    node_.set_clock_rate(1);
    world_.AdvanceBy(seconds(10));
    EXPECT_EQ(env.clock->Now(), Time{seconds(1025)});
    EXPECT_EQ(env.clock->Monotonic(), Time{seconds(30)});
  });
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_EQ(node_.clock_reads(), 3);
}

}  // namespace
}  // namespace vigil::sim
