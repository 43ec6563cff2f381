#include "vigil/sim/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "vigil/core/env/call_guarded.h"
#include "vigil/core/env/notification.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

void Note(const Env& env, std::string_view what, double value = 0) {
  env.Emit({.kind = EventKind::kNote, .value = value, .subject = what});
}

// "chief/main 1000.5 started" for each record.
std::vector<std::string> Lines(const World& world) {
  std::vector<std::string> lines;
  for (const TraceRecord& record : world.trace()) {
    const double time = ToSeconds(record.time.since_epoch);
    std::string seconds_text = std::to_string(time);
    seconds_text.resize(seconds_text.find('.') + 2);
    lines.push_back(std::string(world.trace().TaskLabel(record)) + " " + seconds_text + " " +
                    std::string(record.event.subject));
  }
  return lines;
}

TEST(World, RunsTasksInTurnsAndVirtualTime) {
  World world({});
  Node& chief = world.AddNode("chief");
  const Env env = chief.env();
  for (const int n : {1, 2}) {
    chief.Spawn("t" + std::to_string(n), [env, n] {
      Note(env, "before");
      env.tasks->SleepUntil(Time{milliseconds(500) * n});
      Note(env, "after");
    });
  }
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(Lines(world), ElementsAre("chief/t1 1000.0 before", "chief/t2 1000.0 before", "chief/t1 1000.5 after",
                                        "chief/t2 1001.0 after"));
  EXPECT_EQ(world.now(), Time{seconds(1001)});
}

TEST(World, RunsAgainAfterItIsDone) {
  World world({});
  Node& chief = world.AddNode("chief");
  chief.Spawn("main", [&] { world.AdvanceBy(seconds(2)); });
  world.Run();
  chief.Spawn("main", [&] { world.AdvanceTo(Time{seconds(1005)}); });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_EQ(world.now(), Time{seconds(1005)});
}

TEST(World, CanBeDestroyedWithoutRun) {
  auto alive = std::make_shared<int>(0);
  {
    World world({});
    world.AddNode("chief").Spawn("main", [alive] {});
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(World, TasksOfOneNameGetNumbersWhileTheyLive) {
  World world({});
  Node& chief = world.AddNode("chief");
  std::vector<std::string> labels;
  const auto body = [&] {
    labels.emplace_back(world.CurrentTask());
    world.AdvanceBy(seconds(1));
  };
  chief.Spawn("q", body);
  chief.Spawn("q", body);
  world.Run();
  chief.Spawn("q", body);
  world.Run();
  EXPECT_THAT(labels, ElementsAre("chief/q", "chief/q#2", "chief/q"));
}

TEST(World, AConditionWakesEachWaiterOnceAndHonoursItsDeadline) {
  World world({});
  Node& chief = world.AddNode("chief");
  const Env env = chief.env();
  auto mutex = env.tasks->NewMutex("m");
  auto condition = env.tasks->NewCondition("c");
  std::vector<std::string> seen;
  chief.Spawn("waiter", [&] {
    MutexLock lock(*mutex);
    seen.push_back(condition->Wait(*mutex, Time{seconds(1)}) ? "notified" : "timed out");
    seen.push_back(condition->Wait(*mutex, Time{seconds(3)}) ? "notified" : "timed out");
  });
  chief.Spawn("notifier", [&] {
    env.tasks->SleepUntil(Time{seconds(2)});
    condition->NotifyAll();
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen, ElementsAre("timed out", "notified"));
  EXPECT_EQ(world.now(), Time{seconds(1002)});
}

TEST(World, JoinWaitsForTheEndOrTheDeadline) {
  World world({});
  Node& chief = world.AddNode("chief");
  const Env env = chief.env();
  std::vector<bool> joined;
  chief.Spawn("main", [&] {
    auto task = env.tasks->Spawn("q", [&] { env.tasks->SleepUntil(Time{seconds(2)}); });
    EXPECT_EQ(task->name(), "q");
    joined.push_back(task->Join(Time{seconds(1)}));
    EXPECT_FALSE(task->done());
    joined.push_back(task->Join(kNever));
    EXPECT_TRUE(task->done());
    joined.push_back(task->Join(kNever));
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(joined, ElementsAre(false, true, true));
}

TEST(World, ADeadlockSaysWhoWaitsForWhat) {
  World world({});
  Node& chief = world.AddNode("chief");
  Node& worker = world.AddNode("worker:0");
  const Env env = chief.env();
  auto mutex = env.tasks->NewMutex("coordinator");
  auto condition = env.tasks->NewCondition("queue");
  auto other = env.tasks->NewMutex("other");
  chief.Spawn("main", [&] {
    MutexLock lock(*mutex);
    auto q = env.tasks->Spawn("q", [&] { MutexLock inner(*mutex); });
    q->Join(kNever);
  });
  worker.Spawn("w", [&] {
    MutexLock lock(*other);
    condition->Wait(*other, kNever);
  });
  worker.Spawn("sleeper", [&] { worker.env().tasks->SleepUntil(kNever); });
  world.AddNode("idle");
  const WorldResult result = world.Run();
  EXPECT_EQ(result.verdict, WorldVerdict::kDeadlock);
  EXPECT_EQ(result.report,
            "deadlock at 0 s: nobody can run and no timer is set\n"
            "  chief/main waits for the end of chief/q\n"
            "  chief/q waits for mutex \"coordinator\", held by chief/main\n"
            "  worker:0/w waits for condition \"queue\"\n"
            "  worker:0/sleeper sleeps for ever");
}

TEST(World, StopsAtTheLimitOfEventsAndUnwindsALoopWithoutEnd) {
  World world({.max_events = 3});
  Node& chief = world.AddNode("chief");
  const Env env = chief.env();
  auto alive = std::make_shared<int>(0);
  chief.Spawn("main", [env, alive] {
    while (true) Note(env, "again");
  });
  const WorldResult result = world.Run();
  EXPECT_EQ(result.verdict, WorldVerdict::kRunaway);
  EXPECT_EQ(result.report, "runaway at 0 s: 3 events");
  EXPECT_EQ(world.trace().size(), 3u);
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(World, StopsAtTheLimitOfVirtualTimeAndOfSwitches) {
  for (const bool by_time : {true, false}) {
    World world({.max_virtual = by_time ? seconds(10) : seconds(0), .max_switches = by_time ? 0u : 20u});
    world.AddNode("chief").Spawn("main", [&] {
      while (true) world.AdvanceBy(seconds(1));
    });
    const WorldResult result = world.Run();
    EXPECT_EQ(result.verdict, WorldVerdict::kRunaway);
    EXPECT_THAT(result.report, HasSubstr(by_time ? "at 10 s: 10 s of virtual time" : "20 switches"));
  }
}

TEST(World, StopEndsTheRun) {
  World world({});
  Node& chief = world.AddNode("chief");
  chief.Spawn("server", [&] { chief.env().tasks->SleepUntil(kNever); });
  chief.Spawn("main", [&] { world.Stop(); });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kStopped);
}

TEST(World, IsInterruptedFromOutsideAtASwitch) {
  std::atomic<bool> interrupt = false;
  World world({.interrupt = &interrupt});
  Node& node = world.AddNode("n");
  int turns = 0;
  bool unwound = false;
  node.Spawn("endless", [&] {
    struct Unwound {
      bool& flag;
      ~Unwound() { flag = true; }
    } unwinding{unwound};
    while (true) {
      world.AdvanceBy(std::chrono::seconds(1));
      interrupt = ++turns == 3;
    }
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kInterrupted);
  EXPECT_EQ(turns, 3);
  EXPECT_TRUE(unwound);
}

TEST(World, StreamsOfDrawsAreNamedAndDoNotShiftEachOther) {
  const auto draw = [](std::uint64_t seed, bool extra) {
    World world({.seed = seed});
    const Env env = world.AddNode("chief").env();
    if (extra) env.random->Draw("other");
    const std::uint64_t first = env.random->Draw("a");
    const std::uint64_t second = env.random->Draw("a");
    return std::pair(first, second);
  };
  EXPECT_EQ(draw(1, false), draw(1, true));
  EXPECT_NE(draw(1, false), draw(2, false));
  EXPECT_NE(draw(1, false).first, draw(1, false).second);
}

TEST(World, WallClockOfANodeCanJumpAndItsLogIsKept) {
  World world({.start = Time{seconds(50)}});
  Node& chief = world.AddNode("chief");
  const Env env = chief.env();
  EXPECT_EQ(env.clock->Now(), Time{seconds(50)});
  EXPECT_EQ(env.clock->Monotonic(), Time{seconds(0)});
  chief.set_clock_offset(seconds(-7));
  EXPECT_EQ(env.clock->Now(), Time{seconds(43)});
  EXPECT_EQ(env.clock->Monotonic(), Time{seconds(0)});
  env.log->Write(Severity::kWarning, "careful");
  ASSERT_EQ(chief.log().size(), 1u);
  EXPECT_EQ(chief.log()[0].text, "careful");
}

TEST(Node, TasksShareItsProcessors) {
  World world({});
  Node& node = world.AddNode("a");
  node.set_cpu_time(seconds(1));
  node.set_processors(2);
  std::vector<Duration> ends;
  const auto work = [&] {
    for (int i = 0; i < 3; ++i) {
      node.Spawn("works", [&] {
        node.Work(0);
        ends.push_back(world.scheduler().now());
      });
    }
  };
  work();
  world.AddNode("b").Spawn("kills", [&] {
    world.AdvanceBy(milliseconds(3500));
    work();  // the first two would have ended at 4.5 s, the third at 5.5 s
    world.AdvanceBy(milliseconds(500));
    node.Kill();
    world.AdvanceBy(seconds(1));
    node.Restart();
    work();
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(ends, testing::ElementsAre(seconds(1), seconds(1), seconds(2), seconds(6), seconds(6), seconds(7)));
}

}  // namespace
}  // namespace vigil::sim
