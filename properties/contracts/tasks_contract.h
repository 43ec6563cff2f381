// What every Tasks promises (core/env/tasks.h), and Notification, which is built on it.
#ifndef VIGIL_PROPERTIES_CONTRACTS_TASKS_CONTRACT_H_
#define VIGIL_PROPERTIES_CONTRACTS_TASKS_CONTRACT_H_

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "vigil/core/env/env.h"
#include "vigil/core/env/notification.h"

namespace vigil::contracts {

template <typename Place>
class TasksContract : public testing::Test {
 protected:
  Place place_;
};
TYPED_TEST_SUITE_P(TasksContract);

TYPED_TEST_P(TasksContract, JoinSeesWhatTheTaskDid) {
  this->place_.Run([](const Env& env) {
    int value = 0;
    const auto task = env.tasks->Spawn("worker", [&] { value = 7; });
    EXPECT_EQ(task->name(), "worker");
    EXPECT_TRUE(task->Join(kNever));
    EXPECT_TRUE(task->done());
    EXPECT_EQ(value, 7);
    EXPECT_TRUE(task->Join(kNever));
    EXPECT_TRUE(task->Join({Duration(0)}));
  });
}

TYPED_TEST_P(TasksContract, JoinGivesUpAtItsDeadline) {
  this->place_.Run([](const Env& env) {
    Notification go(*env.tasks, "go");
    const auto task = env.tasks->Spawn("worker", [&] { go.Wait(kNever); });
    const Time deadline = DeadlineAfter(env, TypeParam::Tick());
    EXPECT_FALSE(task->Join(deadline));
    EXPECT_GE(env.clock->Monotonic(), deadline);
    EXPECT_FALSE(task->done());
    EXPECT_FALSE(task->Join({Duration(0)}));
    go.Notify();
    EXPECT_TRUE(task->Join(kNever));
  });
}

TYPED_TEST_P(TasksContract, WhatABodyHoldsIsGoneWhenItsTaskIsDone) {
  this->place_.Run([](const Env& env) {
    auto held = std::make_shared<int>(0);
    const std::weak_ptr<int> seen = held;
    const auto task = env.tasks->Spawn("worker", [held = std::move(held)] {});
    task->Join(kNever);
    EXPECT_TRUE(seen.expired());
  });
}

TYPED_TEST_P(TasksContract, ADetachedTaskRunsOn) {
  this->place_.Run([](const Env& env) {
    const auto done = std::make_shared<Notification>(*env.tasks, "done");
    env.tasks->Spawn("detached", [done] { done->Notify(); });
    EXPECT_TRUE(done->Wait(kNever));
  });
}

TYPED_TEST_P(TasksContract, ATaskCanSpawnAndJoinAnother) {
  this->place_.Run([](const Env& env) {
    int value = 0;
    const auto outer = env.tasks->Spawn("outer", [&] {
      const auto inner = env.tasks->Spawn("inner", [&] { value = 1; });
      EXPECT_TRUE(inner->Join(kNever));
      ++value;
    });
    EXPECT_TRUE(outer->Join(kNever));
    EXPECT_EQ(value, 2);
  });
}

TYPED_TEST_P(TasksContract, AMutexLetsOneInAtATime) {
  this->place_.Run([](const Env& env) {
    constexpr int kTasks = 4;
    constexpr int kRounds = 20;
    const auto mutex = env.tasks->NewMutex("counter");
    int inside = 0;
    int count = 0;
    std::vector<std::unique_ptr<Task>> tasks;
    for (int i = 0; i < kTasks; ++i) {
      tasks.push_back(env.tasks->Spawn("worker", [&] {
        for (int round = 0; round < kRounds; ++round) {
          MutexLock lock(*mutex);
          EXPECT_EQ(++inside, 1);
          env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick() / 1000));
          --inside;
          ++count;
        }
      }));
    }
    for (const auto& task : tasks) EXPECT_TRUE(task->Join(kNever));
    EXPECT_EQ(count, kTasks * kRounds);
  });
}

TYPED_TEST_P(TasksContract, AWaitGivesTheMutexAwayAndTakesItAgain) {
  this->place_.Run([](const Env& env) {
    const auto mutex = env.tasks->NewMutex("m");
    const auto condition = env.tasks->NewCondition("c");
    bool ready = false;
    bool held_by_waiter = false;
    const auto waiter = env.tasks->Spawn("waiter", [&] {
      MutexLock lock(*mutex);
      while (!ready) EXPECT_TRUE(condition->Wait(*mutex, kNever));
      held_by_waiter = true;
      env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick()));
      held_by_waiter = false;
    });
    {
      MutexLock lock(*mutex);
      ready = true;
      condition->NotifyAll();
    }
    for (int i = 0; i < 10; ++i) {
      env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick() / 5));
      MutexLock lock(*mutex);
      EXPECT_FALSE(held_by_waiter);
    }
    EXPECT_TRUE(waiter->Join(kNever));
  });
}

TYPED_TEST_P(TasksContract, AWaitEndsAtItsDeadlineWithTheMutexHeld) {
  this->place_.Run([](const Env& env) {
    const auto mutex = env.tasks->NewMutex("m");
    const auto condition = env.tasks->NewCondition("c");
    const Time deadline = DeadlineAfter(env, TypeParam::Tick());
    bool entered = false;
    mutex->Lock();
    // It may wake up without cause before.
    while (condition->Wait(*mutex, deadline)) {
    }
    EXPECT_GE(env.clock->Monotonic(), deadline);
    const auto other = env.tasks->Spawn("other", [&] {
      MutexLock lock(*mutex);
      entered = true;
    });
    EXPECT_FALSE(other->Join(DeadlineAfter(env, TypeParam::Tick())));
    EXPECT_FALSE(entered);
    mutex->Unlock();
    EXPECT_TRUE(other->Join(kNever));
    EXPECT_TRUE(entered);
  });
}

TYPED_TEST_P(TasksContract, AWaitWithAPastDeadlineReturnsFalse) {
  this->place_.Run([](const Env& env) {
    const auto mutex = env.tasks->NewMutex("m");
    const auto condition = env.tasks->NewCondition("c");
    MutexLock lock(*mutex);
    EXPECT_FALSE(condition->Wait(*mutex, {Duration(0)}));
  });
}

TYPED_TEST_P(TasksContract, NotifyAllWakesEveryWaiter) {
  this->place_.Run([](const Env& env) {
    const auto mutex = env.tasks->NewMutex("m");
    const auto condition = env.tasks->NewCondition("c");
    int waiting = 0;
    bool go = false;
    std::vector<std::unique_ptr<Task>> tasks;
    for (int i = 0; i < 3; ++i) {
      tasks.push_back(env.tasks->Spawn("waiter", [&] {
        MutexLock lock(*mutex);
        ++waiting;
        while (!go) condition->Wait(*mutex, kNever);
      }));
    }
    while (true) {
      env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick() / 10));
      MutexLock lock(*mutex);
      if (waiting < 3) continue;
      go = true;
      condition->NotifyAll();
      break;
    }
    for (const auto& task : tasks) EXPECT_TRUE(task->Join(kNever));
  });
}

TYPED_TEST_P(TasksContract, ANotificationWithoutAWaiterIsLost) {
  this->place_.Run([](const Env& env) {
    const auto mutex = env.tasks->NewMutex("m");
    const auto condition = env.tasks->NewCondition("c");
    condition->NotifyAll();
    const Time deadline = DeadlineAfter(env, TypeParam::Tick());
    MutexLock lock(*mutex);
    while (condition->Wait(*mutex, deadline)) {
    }
    EXPECT_GE(env.clock->Monotonic(), deadline);
  });
}

TYPED_TEST_P(TasksContract, AFlagIsRaisedWaitedForAndLowered) {
  this->place_.Run([](const Env& env) {
    Notification flag(*env.tasks, "flag");
    EXPECT_FALSE(flag.IsSet());
    EXPECT_FALSE(flag.Wait(DeadlineAfter(env, TypeParam::Tick())));
    const auto task = env.tasks->Spawn("raiser", [&] { flag.Notify(); });
    EXPECT_TRUE(flag.Wait(kNever));
    EXPECT_TRUE(flag.IsSet());
    EXPECT_TRUE(flag.Wait({Duration(0)}));
    task->Join(kNever);
    flag.Clear();
    EXPECT_FALSE(flag.IsSet());
    EXPECT_FALSE(flag.Wait({Duration(0)}));
  });
}

TYPED_TEST_P(TasksContract, EachRunningTaskHasANumberOfItsOwn) {
  this->place_.Run([](const Env& env) {
    const std::uint64_t mine = env.tasks->CurrentTask();
    std::uint64_t first = mine;
    std::uint64_t second = mine;
    Notification go(*env.tasks, "go");
    const auto record = [&](std::uint64_t& number) {
      number = env.tasks->CurrentTask();
      go.Wait(kNever);
      EXPECT_EQ(env.tasks->CurrentTask(), number);
    };
    const auto a = env.tasks->Spawn("same name", [&] { record(first); });
    const auto b = env.tasks->Spawn("same name", [&] { record(second); });
    env.tasks->SleepUntil(DeadlineAfter(env, TypeParam::Tick()));
    go.Notify();
    EXPECT_TRUE(a->Join(kNever));
    EXPECT_TRUE(b->Join(kNever));
    EXPECT_NE(first, mine);
    EXPECT_NE(second, mine);
    EXPECT_NE(first, second);
    EXPECT_EQ(env.tasks->CurrentTask(), mine);
  });
}

REGISTER_TYPED_TEST_SUITE_P(TasksContract, JoinSeesWhatTheTaskDid, JoinGivesUpAtItsDeadline,
                            WhatABodyHoldsIsGoneWhenItsTaskIsDone, ADetachedTaskRunsOn, ATaskCanSpawnAndJoinAnother,
                            AMutexLetsOneInAtATime, AWaitGivesTheMutexAwayAndTakesItAgain,
                            AWaitEndsAtItsDeadlineWithTheMutexHeld, AWaitWithAPastDeadlineReturnsFalse,
                            NotifyAllWakesEveryWaiter, ANotificationWithoutAWaiterIsLost,
                            AFlagIsRaisedWaitedForAndLowered, EachRunningTaskHasANumberOfItsOwn);

}  // namespace vigil::contracts

#endif  // VIGIL_PROPERTIES_CONTRACTS_TASKS_CONTRACT_H_
