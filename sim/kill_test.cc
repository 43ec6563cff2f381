// The end of a simulated process: its tasks are unwound wherever they are, and what they leave behind harms nobody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/spin_lock.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/env/notification.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Says when it is destroyed.
class Witness {
 public:
  Witness(std::vector<std::string>& seen, std::string name) : seen_(seen), name_(std::move(name)) {}
  ~Witness() { seen_.push_back(name_ + " gone"); }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

 private:
  std::vector<std::string>& seen_;
  const std::string name_;
};

class KillTest : public testing::Test {
 protected:
  // Runs the world; after a second "killer" on another node kills `node_`.
  WorldResult RunAndKill() {
    world_.AddNode("other").Spawn("killer", [this] {
      world_.AdvanceBy(seconds(1));
      node_.Kill();
      seen_.push_back("killed");
    });
    return world_.Run();
  }

  std::vector<std::string> seen_;
  World world_{WorldOptions{}};
  Node& node_ = world_.AddNode("node");
  const Env env_ = node_.env();
};

TEST_F(KillTest, UnwindsEveryKindOfWaitNewestFirst) {
  const auto mutex = env_.tasks->NewMutex("m");
  const auto free_mutex = env_.tasks->NewMutex("f");
  const auto condition = env_.tasks->NewCondition("c");
  const auto spawn = [&](const std::string& name, std::function<void()> wait) {
    node_.Spawn(name, [this, name, wait = std::move(wait)] {
      Witness witness(seen_, name);
      wait();
      seen_.push_back(name + " went on");
    });
  };
  spawn("sleeper", [&] {
    MutexLock lock(*mutex);
    env_.tasks->SleepUntil(Time{seconds(5)});
  });
  spawn("locker", [&] {
    MutexLock lock(*mutex);
    env_.tasks->SleepUntil(kNever);
  });
  spawn("waiter", [&] {
    MutexLock lock(*free_mutex);
    condition->Wait(*free_mutex, Time{seconds(4)});
  });
  spawn("joiner", [&] { env_.tasks->Spawn("joined", [&] { env_.tasks->SleepUntil(kNever); })->Join(kNever); });
  EXPECT_EQ(RunAndKill().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, ElementsAre("joiner gone", "waiter gone", "locker gone", "sleeper gone", "killed"));
  EXPECT_TRUE(node_.killed());
  EXPECT_EQ(world_.now(), Time{seconds(1001)});
}

TEST_F(KillTest, PassesThroughCallGuarded) {
  const auto mutex = env_.tasks->NewMutex("m");
  node_.Spawn("holder", [&] {
    MutexLock lock(*mutex);
    world_.AdvanceBy(seconds(9));
  });
  const auto spawn_guarded = [&](const std::string& name, const std::function<void()>& wait) {
    node_.Spawn(name, [this, name, wait] {
      const absl::Status status = CallGuarded([&] {
        Witness witness(seen_, name);
        wait();
        return absl::OkStatus();
      });
      seen_.push_back("swallowed: " + std::string(MessageOf(status)));
    });
  };
  spawn_guarded("sleeper", [&] { env_.tasks->SleepUntil(kNever); });
  spawn_guarded("locker", [&] {
    MutexLock lock(*mutex);
    env_.tasks->SleepUntil(kNever);
  });
  spawn_guarded("handler", [&] {
    try {
      throw std::runtime_error("an ordinary error");
    } catch (const std::exception&) {
      env_.tasks->SleepUntil(kNever);  // killed inside of a handler
    }
  });
  EXPECT_EQ(RunAndKill().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, ElementsAre("handler gone", "locker gone", "sleeper gone", "killed"));
}

TEST_F(KillTest, DoesNotReturnToItsOwnNode) {
  node_.Spawn("main", [this] {
    Witness witness(seen_, "main");
    node_.Spawn("newer", [this] {
      Witness inner(seen_, "newer");
      env_.tasks->SleepUntil(kNever);
    });
    env_.tasks->SleepUntil(Time{seconds(1)});
    node_.Kill();
    seen_.push_back("main went on");
  });
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, ElementsAre("newer gone", "main gone"));
}

// The younger task may borrow from the older one: it must go first, even if it is the one that kills.
TEST_F(KillTest, TheKillerTakesItsTurnToo) {
  node_.Spawn("main", [this] {
    const auto mutex = env_.tasks->NewMutex("main's");
    Witness witness(seen_, "main");
    const auto task = env_.tasks->Spawn("younger", [&] {
      Witness inner(seen_, "younger");
      MutexLock lock(*mutex);
      node_.Kill();
    });
    task->Join(kNever);
  });
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, ElementsAre("younger gone", "main gone"));
}

TEST_F(KillTest, ATaskThatHasNotBegunNeverBegins) {
  auto held = std::make_shared<int>(0);
  node_.Spawn("main", [this, held] { seen_.push_back("began"); });
  node_.Kill();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, IsEmpty());
}

// Destructors must not throw: what they may do goes on working, without effect.
class BusyWhenDestroyed {
 public:
  BusyWhenDestroyed(const Env& env, Mutex& mutex, Notification& flag) : env_(env), mutex_(mutex), flag_(flag) {}
  ~BusyWhenDestroyed() {
    MutexLock lock(mutex_);
    flag_.Notify();
    EXPECT_TRUE(flag_.IsSet());
    env_.Emit({.kind = EventKind::kNote, .subject = "from a destructor"});
    env_.log->Write(Severity::kInfo, "from a destructor");
    EXPECT_FALSE(env_.files->MakeDirectory("/from_a_destructor").ok());
    const auto task = env_.tasks->Spawn("late", [] { ADD_FAILURE() << "a dead node started a task"; });
    EXPECT_TRUE(task->done());
    EXPECT_TRUE(task->Join(kNever));
    // Wrong, since destructors never block; but it must not end the simulator.
    env_.tasks->SleepUntil(kNever);
    Notification never(*env_.tasks, "never");
    EXPECT_FALSE(env_.clock->Monotonic() < Time{seconds(0)});
  }

 private:
  const Env env_;
  Mutex& mutex_;
  Notification& flag_;
};

TEST_F(KillTest, DestructorsOfAKilledTaskDoNoHarm) {
  const auto mutex = env_.tasks->NewMutex("m");
  Notification flag(*env_.tasks, "flag");
  node_.Spawn("main", [&] {
    BusyWhenDestroyed busy(env_, *mutex, flag);
    env_.tasks->SleepUntil(kNever);
  });
  node_.Spawn("captured",
              [&, busy = std::make_shared<BusyWhenDestroyed>(env_, *mutex, flag)] { env_.tasks->SleepUntil(kNever); });
  EXPECT_EQ(RunAndKill().verdict, WorldVerdict::kDone);
  EXPECT_TRUE(world_.trace().empty());
  EXPECT_TRUE(node_.log().empty());
  EXPECT_FALSE(*Exists(node_.disk(), "/from_a_destructor"));
}

// A destructor is in the middle of waiting for a lock when the end comes: nothing may be thrown out of it.
TEST_F(KillTest, ADestructorThatWaitsForALockEndsQuietly) {
  struct Leaving {
    Mutex& mutex;
    std::vector<std::string>& log;
    ~Leaving() {
      const MutexLock lock(mutex);
      log.push_back("has left");
    }
  };
  const auto mutex = env_.tasks->NewMutex("shared");
  node_.Spawn("holder", [&] {
    const MutexLock lock(*mutex);
    env_.tasks->SleepUntil(kNever);
  });
  node_.Spawn("leaver", [&] {
    env_.tasks->SleepUntil(Time{std::chrono::milliseconds(1)});
    { const Leaving leaving{*mutex, seen_}; }
    seen_.push_back("goes on");
    env_.tasks->SleepUntil(kNever);
    seen_.push_back("lives on");
  });
  EXPECT_EQ(RunAndKill().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, ElementsAre("has left", "goes on", "killed"));
}

TEST_F(KillTest, TheEnvOfADeadNodeDoesNothing) {
  auto file = env_.files->Open("/a", OpenMode::kTruncate);
  ASSERT_TRUE(file.ok());
  node_.Kill();
  EXPECT_THAT(std::string(MessageOf((*file)->Append("x"))), HasSubstr("the process was killed"));
  EXPECT_FALSE(env_.files->Remove("/a").ok());
  env_.Emit({.kind = EventKind::kNote});
  env_.log->Write(Severity::kInfo, "x");
  env_.random->Draw("x");
  EXPECT_TRUE(env_.tasks->Spawn("late", [] {})->done());
  EXPECT_EQ(env_.clock->Monotonic(), Time{seconds(0)});
  node_.Kill();  // once more is no more
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_TRUE(world_.trace().empty());
  EXPECT_TRUE(node_.log().empty());
}

TEST_F(KillTest, ARestartKeepsTheFilesAndForgetsTheRest) {
  constexpr SlotKey<int> kSlot{"slot"};
  std::uint64_t draw = 0;
  node_.Spawn("main", [&] {
    node_.env().process->Slot(kSlot) = 7;
    draw = node_.env().random->Draw("s");
    EXPECT_TRUE(WriteAtomically(*node_.env().files, "/state", "kept").ok());
    node_.env().tasks->SleepUntil(kNever);
  });
  EXPECT_EQ(RunAndKill().verdict, WorldVerdict::kDone);
  node_.Restart();
  EXPECT_EQ(node_.restarts(), 1);
  node_.Spawn("main", [&] {
    EXPECT_EQ(world_.CurrentTask(), "node/main");
    EXPECT_EQ(node_.env().process->Slot(kSlot), 0);
    EXPECT_NE(node_.env().random->Draw("s"), draw);
    EXPECT_EQ(ReadAll(*node_.env().files, "/state").value(), "kept");
    seen_.push_back("second life");
  });
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, ElementsAre("killed", "second life"));
}

TEST_F(KillTest, TasksOfOtherNodesGoOn) {
  World world({});
  Node& a = world.AddNode("a");
  Node& b = world.AddNode("b");
  std::vector<std::string> seen;
  a.Spawn("main", [&] { a.env().tasks->SleepUntil(kNever); });
  b.Spawn("main", [&] {
    world.AdvanceBy(seconds(1));
    seen.push_back("b");
    a.Kill();
    world.AdvanceBy(seconds(1));
    seen.push_back("b again");
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen, ElementsAre("b", "b again"));
}

// Kill() cannot throw there: the task lives until it gives way, and nobody of its node runs before it is unwound.
TEST_F(KillTest, ADestructorCanKillItsOwnNode) {
  struct Suicidal {
    Node& node;
    ~Suicidal() { node.Kill(); }
  };
  node_.Spawn("main", [this] {
    Witness witness(seen_, "main");
    node_.Spawn("other", [this] { seen_.push_back("other ran"); });
    try {
      Suicidal suicidal{node_};
      throw std::runtime_error("an ordinary error");
    } catch (const std::exception&) {
      seen_.push_back("caught");
    }
  });
  EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen_, ElementsAre("caught", "main gone"));
}

// Two nodes whose last words kill each other: each request is met once the first node is down.
TEST_F(KillTest, OneDeathCanCauseAnother) {
  World world({});
  Node& a = world.AddNode("a");
  Node& b = world.AddNode("b");
  struct Avenger {
    Node& victim;
    ~Avenger() { victim.Kill(); }
  };
  a.Spawn("main", [&] {
    Avenger avenger{b};
    world.AdvanceBy(seconds(5));
  });
  b.Spawn("main", [&] {
    Witness witness(seen_, "b");
    world.AdvanceBy(seconds(1));
    a.Kill();
    seen_.push_back("b went on");
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_TRUE(a.killed() && b.killed());
  EXPECT_THAT(seen_, ElementsAre("b gone"));
}

TEST_F(KillTest, DeadlocksAndRunawaysUnwindEverything) {
  for (const bool deadlock : {true, false}) {
    std::vector<std::string> seen;
    World world({.max_virtual = deadlock ? seconds(0) : seconds(10)});
    Node& node = world.AddNode("n");
    node.Spawn("main", [&] {
      Witness witness(seen, "main");
      while (!deadlock) world.AdvanceBy(seconds(1));
      node.env().tasks->SleepUntil(kNever);
    });
    node.Spawn("second", [&] {
      Witness witness(seen, "second");
      node.env().tasks->SleepUntil(kNever);
    });
    EXPECT_EQ(world.Run().verdict, deadlock ? WorldVerdict::kDeadlock : WorldVerdict::kRunaway);
    EXPECT_THAT(seen, ElementsAre("second gone", "main gone"));
    EXPECT_TRUE(node.killed());
  }
}

TEST_F(KillTest, TheEventLimitStopsALoopOfLocks) {
  World world({.max_events = 1});
  Node& node = world.AddNode("n");
  const auto mutex = node.env().tasks->NewMutex("m");
  std::vector<std::string> seen;
  node.Spawn("main", [&] {
    Witness witness(seen, "main");
    node.Spawn("younger", [&] {
      Witness inner(seen, "younger");
      MutexLock lock(*mutex);
      node.env().tasks->SleepUntil(kNever);
    });
    world.AdvanceBy(seconds(1));
    const auto own = node.env().tasks->NewMutex("own");
    for (int i = 0; i < 2; ++i) node.env().Emit({.kind = EventKind::kNote});
    while (true) MutexLock lock(*own);
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kRunaway);
  EXPECT_THAT(seen, ElementsAre("younger gone", "main gone"));
}

// The last label at points that end so, the calm one elsewhere.
class LastChooser final : public Chooser {
 public:
  explicit LastChooser(std::string_view end) : end_(end) {}
  std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) override {
    return point.key.ends_with(end_) ? labels.size() - 1 : 0;
  }

 private:
  const std::string_view end_;
};

// With preemption a task can be killed inside Unlock(), which destructors call: it must not throw there.
TEST_F(KillTest, AKilledUnlockDoesNotThrow) {
  LastChooser last("");
  World world({.chooser = &last, .preempt = Preempt::kAtCalls});
  Node& node = world.AddNode("n");
  Node& other = world.AddNode("other");
  const auto mutex = node.env().tasks->NewMutex("m");
  std::vector<std::string> seen;
  other.Spawn("killer", [&] { node.Kill(); });
  node.Spawn("main", [&] {
    Witness witness(seen, "main");
    { MutexLock lock(*mutex); }
    seen.push_back("still runs");
    world.AdvanceBy(seconds(1));
    seen.push_back("went on");
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen, ElementsAre("still runs", "main gone"));
}

// Who let others go first in the middle of something goes on before what it uses goes.
TEST_F(KillTest, AKilledTaskAtASpinLockGoesOnBeforeWhatItUsesIsGone) {
  LastChooser last("/spin");
  World world({.chooser = &last, .preempt = Preempt::kAtSpins});
  Node& node = world.AddNode("n");
  Node& other = world.AddNode("other");
  std::vector<std::string> seen;
  node.Spawn("owner", [&] {
    Witness owned(seen, "owned");
    SpinLock lock;
    const auto user = node.env().tasks->Spawn("user", [&] {
      Witness witness(seen, "user");
      { SpinGuard guard(lock); }
      seen.push_back("user still runs");
      world.AdvanceBy(seconds(1));
      seen.push_back("user went on");
    });
    other.Spawn("killer", [&] { node.Kill(); });
    user->Join(kNever);
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(seen, ElementsAre("user still runs", "user gone", "owned gone"));
  EXPECT_EQ(Turns::taker, nullptr);
}

TEST(KillDeathTest, ATaskThatSwallowsItsEndIsNamed) {
  const auto stubborn = [] {
    World world({});
    Node& node = world.AddNode("node");
    node.Spawn("stubborn", [&] {
      while (true) {
        try {
          node.env().tasks->SleepUntil(kNever);
        } catch (const TaskKilled&) {
        }
      }
    });
    world.Run();
  };
  EXPECT_DEATH(stubborn(), "task node/stubborn was killed but catches TaskKilled again and again");
}

TEST(KillDeathTest, AnExceptionOutOfATaskEndsTheProgramAndIsNamed) {
  const auto thrower = [] {
    World world({});
    world.AddNode("node").Spawn("thrower", [] { throw std::runtime_error("oops"); });
    world.Run();
  };
  EXPECT_DEATH(thrower(), "task node/thrower ended by an exception: oops");
}

}  // namespace
}  // namespace vigil::sim
