// Ports CoordinatorTest of coordinator_test.py.
#include "vigil/core/coord/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

absl::Status Error(std::string_view text) { return MakeStatus(Code::kOther, text); }

class CoordinatorTest : public testing::Test {
 protected:
  Env env() { return fake_.env(); }
  double Now() { return ToSeconds(fake_.clock.Monotonic().since_epoch); }
  // A task that ends after `secs`, whatever the coordinator says.
  TaskPtr Sleeper(std::string_view name, int secs) {
    return env().tasks->Spawn(name, [this, secs] { env().tasks->SleepUntil({seconds(secs)}); });
  }
  // A task that ends when it is told to, after having reported `error`, `secs` from the start.
  TaskPtr Reporter(int secs, absl::Status error) {
    return env().tasks->Spawn("reporter", [this, secs, error] {
      env().tasks->SleepUntil({seconds(secs)});
      EXPECT_TRUE(coord_->RequestStop(error).ok());
    });
  }

  fakes::FakeEnv fake_;
  std::shared_ptr<Coordinator> coord_ = std::make_shared<Coordinator>(env());
};

TEST_F(CoordinatorTest, AGracePeriodForEverIsWaitedFor) {
  coord_->Register(Sleeper("slow", 1000));
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->Join({.stop_grace_period = Duration::max()}).ok());
  EXPECT_EQ(Now(), 1000);
  EXPECT_TRUE(coord_->stragglers().empty());
}

TEST_F(CoordinatorTest, WhoWasGivenUpOnCanBeAskedFor) {
  coord_->Register(Sleeper("slow", 1000));
  coord_->Register(Sleeper("quick", 1));
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->Join({.stop_grace_period = seconds(10), .ignore_live_tasks = true}).ok());
  EXPECT_THAT(coord_->stragglers(), testing::ElementsAre("slow"));
}

// As a supervisor does that manages a second session: the first one's services may still hang on a server that is gone.
TEST_F(CoordinatorTest, WhoWasGivenUpOnStopsNobodyLater) {
  bool told_to_stop = false;
  bool waited = false;
  absl::Status handed_back;
  const TaskPtr straggler = env().tasks->Spawn("straggler", [&] {
    const Coordinator::Member member(*coord_);
    env().tasks->SleepUntil({seconds(1000)});
    told_to_stop = coord_->ShouldStop();
    waited = coord_->WaitForStop(seconds(100));
    EXPECT_TRUE(coord_->RequestStop().ok());
    handed_back = coord_->RequestStop(Error("the session of then is closed"));
  });
  coord_->Register(straggler);
  env().tasks->SleepUntil({seconds(1)});
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->Join({.stop_grace_period = seconds(10), .ignore_live_tasks = true}).ok());
  coord_->ClearStop();
  straggler->Join(kNever);
  EXPECT_EQ(Now(), 1000);
  EXPECT_TRUE(told_to_stop);
  EXPECT_TRUE(waited);
  EXPECT_EQ(MessageOf(handed_back), "the session of then is closed");
  EXPECT_FALSE(coord_->ShouldStop());
  EXPECT_TRUE(coord_->RequestedError().ok());
}

// The task that asks for `late` waits there until 2000 s, as one that is kept from the processor.
class LateAtAMutex : public ForwardingTasks {
 public:
  using ForwardingTasks::ForwardingTasks;
  std::unique_ptr<Mutex> NewMutex(std::string_view name) override {
    std::unique_ptr<Mutex> mutex = inner().NewMutex(name);
    if (name != "coordinator") return mutex;
    return std::make_unique<LateMutex>(*this, std::move(mutex));
  }
  std::uint64_t late = ~std::uint64_t{0};  // a task
  int times = 0;                           // at its how many next locks it is not late

 private:
  class LateMutex : public Mutex {
   public:
    LateMutex(LateAtAMutex& tasks, std::unique_ptr<Mutex> mutex) : tasks_(tasks), mutex_(std::move(mutex)) {}
    void Lock() override {
      if (tasks_.CurrentTask() == tasks_.late && tasks_.times-- == 0) tasks_.SleepUntil({seconds(2000)});
      mutex_->Lock();
    }
    void Unlock() override { mutex_->Unlock(); }

   private:
    LateAtAMutex& tasks_;
    const std::unique_ptr<Mutex> mutex_;
  };
};

// It begins to report before the coordinator is cleared, and comes to it after that: at its first lock, or the next.
TEST_F(CoordinatorTest, WhoWasGivenUpOnStopsNobodyLaterHoweverSlowlyItReports) {
  for (const int lock : {0, 1}) {
    fakes::FakeEnv fake;
    LateAtAMutex tasks(*fake.env().tasks);
    Env with = fake.env();
    with.tasks = &tasks;
    Coordinator coord(with);
    absl::Status handed_back;
    const TaskPtr straggler = tasks.Spawn("straggler", [&] {
      const Coordinator::Member member(coord);
      tasks.SleepUntil({seconds(1000)});
      tasks.late = tasks.CurrentTask();
      tasks.times = lock;
      handed_back = coord.RequestStop(Error("the session of then is closed"));
    });
    coord.Register(straggler);
    tasks.SleepUntil({seconds(1)});
    EXPECT_TRUE(coord.RequestStop().ok());
    EXPECT_TRUE(coord.Join({.stop_grace_period = seconds(10), .ignore_live_tasks = true}).ok());
    tasks.SleepUntil({seconds(1500)});
    coord.ClearStop();
    straggler->Join(kNever);
    EXPECT_EQ(ToSeconds(fake.clock.Monotonic().since_epoch), lock == 0 ? 2000 : 1500) << "it takes one";
    EXPECT_EQ(MessageOf(handed_back), "the session of then is closed");
    EXPECT_FALSE(coord.ShouldStop());
    EXPECT_TRUE(coord.RequestedError().ok());
  }
}

// As threads have numbers that come again.
class TwoNumbers : public ForwardingTasks {
 public:
  explicit TwoNumbers(Tasks& inner) : ForwardingTasks(inner), main_(inner.CurrentTask()) {}
  std::uint64_t CurrentTask() override { return inner().CurrentTask() == main_ ? 1 : 2; }

 private:
  const std::uint64_t main_;
};

TEST_F(CoordinatorTest, WhoHasTheNumberOfAMemberThatHasEndedIsAnother) {
  TwoNumbers numbers(*env().tasks);
  Env with = env();
  with.tasks = &numbers;
  Coordinator coord(with);
  const TaskPtr first = with.tasks->Spawn("first", [&] {
    const Coordinator::Member member(coord);
    coord.WaitForStop(Duration::max());
  });
  bool told = true;
  const TaskPtr second = with.tasks->Spawn("second", [&] {
    first->Join(kNever);
    const Coordinator::Member member(coord);
    with.tasks->SleepUntil({seconds(100)});
    told = coord.ShouldStop();
  });
  fake_.tasks.RunReady();
  EXPECT_TRUE(coord.RequestStop().ok());
  EXPECT_TRUE(coord.Join({.tasks = {first, second}, .stop_grace_period = seconds(10), .ignore_live_tasks = true}).ok());
  coord.ClearStop();
  second->Join(kNever);
  EXPECT_FALSE(told) << "it came while the join waited";
}

// In TensorFlow it does.
TEST_F(CoordinatorTest, WhoWasGivenUpOnStopsThoseWhoComeLaterAsInTensorFlow) {
  Coordinator coord(env(), {.behaviour = Behaviour::TensorFlow()});
  const TaskPtr straggler = env().tasks->Spawn("straggler", [&] {
    const Coordinator::Member member(coord);
    env().tasks->SleepUntil({seconds(1000)});
    EXPECT_FALSE(coord.ShouldStop());
    EXPECT_TRUE(coord.RequestStop(Error("the session of then is closed")).ok());
  });
  coord.Register(straggler);
  env().tasks->SleepUntil({seconds(1)});
  EXPECT_TRUE(coord.RequestStop().ok());
  EXPECT_TRUE(coord.Join({.stop_grace_period = seconds(10), .ignore_live_tasks = true}).ok());
  coord.ClearStop();
  straggler->Join(kNever);
  EXPECT_TRUE(coord.ShouldStop());
  EXPECT_EQ(MessageOf(coord.RequestedError()), "the session of then is closed");
}

TEST_F(CoordinatorTest, ATaskIsAMemberForAsLongAsItSays) {
  EXPECT_FALSE(coord_->CalledByMember());
  {
    const Coordinator::Member member(*coord_);
    EXPECT_TRUE(coord_->CalledByMember());
  }
  EXPECT_FALSE(coord_->CalledByMember());
}

// A ClearStop that comes between the flag and the notification would leave a flag that is down and a notification that
// is up.
TEST_F(CoordinatorTest, AStopAndItsClearingNeverPart) {
  class ClearingLog final : public Log {
   public:
    void Write(Severity, std::string_view) override {
      if (coord != nullptr) coord->ClearStop();
    }
    Coordinator* coord = nullptr;
  } log;
  Env env = fake_.env();
  env.log = &log;
  Coordinator coord(env);
  log.coord = &coord;
  EXPECT_TRUE(coord.RequestStop(Error("it broke")).ok());
  EXPECT_FALSE(coord.ShouldStop());
  EXPECT_FALSE(coord.WaitForStop(Duration::zero()));
}

TEST_F(CoordinatorTest, StopApi) {
  EXPECT_FALSE(coord_->ShouldStop());
  EXPECT_FALSE(coord_->WaitForStop(milliseconds(10)));
  EXPECT_EQ(Now(), 0.01);
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->ShouldStop());
  EXPECT_TRUE(coord_->WaitForStop(milliseconds(10)));
  EXPECT_EQ(Now(), 0.01);
}

TEST_F(CoordinatorTest, StopFromAnotherTaskWakesWhoWaits) {
  const TaskPtr stopper = Reporter(3, absl::OkStatus());
  EXPECT_TRUE(coord_->WaitForStop(Duration::max()));
  EXPECT_EQ(Now(), 3);
  EXPECT_TRUE(coord_->Join({.tasks = {stopper}}).ok());
}

TEST_F(CoordinatorTest, JoinWaitsForGivenAndRegisteredTasks) {
  const TaskPtr given = Sleeper("given", 2);
  const TaskPtr registered = Sleeper("registered", 5);
  coord_->Register(registered);
  EXPECT_FALSE(coord_->joined());
  EXPECT_TRUE(coord_->Join({.tasks = {given}}).ok());
  EXPECT_TRUE(given->done());
  EXPECT_TRUE(registered->done());
  EXPECT_TRUE(coord_->joined());
  EXPECT_FALSE(coord_->ShouldStop());  // nobody has asked for it
}

TEST_F(CoordinatorTest, JoinForgetsWhoWasRegistered) {
  coord_->Register(Sleeper("stuck", 1000));
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_EQ(CodeOf(coord_->Join({.stop_grace_period = seconds(1)})), Code::kUsage);
  EXPECT_TRUE(coord_->Join({.stop_grace_period = seconds(1)}).ok());
}

TEST_F(CoordinatorTest, ATaskThatRegistersWhileSomebodyJoinsIsNotForgotten) {
  const auto late = [this](int from, int to) {
    coord_->Register(env().tasks->Spawn("registers", [this, from, to] {
      env().tasks->SleepUntil({seconds(from)});
      coord_->Register(Sleeper("late", to));
    }));
  };
  // Joined without a stop: it looks for its end once a second.
  late(1, 10);
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_GE(Now(), 10);
  EXPECT_LE(Now(), 11);
  // After a stop: up to the grace period.
  EXPECT_TRUE(coord_->RequestStop().ok());
  late(12, 20);
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_EQ(Now(), 20);
  // It is given up together with the others.
  late(21, 1000);
  EXPECT_EQ(MessageOf(coord_->Join({.stop_grace_period = seconds(5)})),
            "Coordinator stopped with threads still running: late");
  EXPECT_EQ(Now(), 25.001);
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_EQ(Now(), 25.001);
}

TEST_F(CoordinatorTest, TensorFlowForgetsATaskThatRegistersWhileSomebodyJoins) {
  coord_ = std::make_shared<Coordinator>(env(), CoordinatorOptions{.behaviour = Behaviour::TensorFlow()});
  coord_->Register(env().tasks->Spawn("registers", [this] {
    env().tasks->SleepUntil({seconds(2)});
    coord_->Register(Sleeper("late", 10));
  }));
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_EQ(Now(), 2);
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_EQ(Now(), 2);
}

TEST_F(CoordinatorTest, WhoComesTooLateForAJoinIsTheNextOnes) {
  coord_->Register(Sleeper("slow", 1000));
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_EQ(CodeOf(coord_->Join({.stop_grace_period = seconds(1)})), Code::kUsage);
  coord_->Register(Sleeper("late", 20));
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_EQ(Now(), 20);
}

TEST_F(CoordinatorTest, ATaskThatIsGivenAndRegisteredIsOne) {
  const TaskPtr stuck = Sleeper("stuck", 1000);
  coord_->Register(stuck);
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_EQ(MessageOf(coord_->Join({.tasks = {stuck}, .stop_grace_period = seconds(1)})),
            "Coordinator stopped with threads still running: stuck");
}

TEST_F(CoordinatorTest, JoinGraceExpires) {
  struct Case {
    Duration grace;
    double waited;
  };
  for (const Case& c : {Case{Duration(0), 0.001}, Case{milliseconds(2), 0.003}, Case{seconds(1), 1.001}}) {
    coord_ = std::make_shared<Coordinator>(env());
    const double start = Now();
    const TaskPtr stuck = env().tasks->Spawn("stuck", [this] { env().tasks->SleepUntil({seconds(1000)}); });
    coord_->Register(stuck);
    EXPECT_TRUE(coord_->RequestStop().ok());
    const absl::Status joined = coord_->Join({.stop_grace_period = c.grace});
    EXPECT_EQ(CodeOf(joined), Code::kUsage);
    EXPECT_EQ(MessageOf(joined), "Coordinator stopped with threads still running: stuck");
    EXPECT_NEAR(Now() - start, c.waited, 1e-9);
  }
}

TEST_F(CoordinatorTest, ANegativeGraceIsNoWaitAtAll) {
  coord_->Register(Sleeper("stuck", 1000));
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_EQ(CodeOf(coord_->Join({.stop_grace_period = -milliseconds(1)})), Code::kUsage);
  EXPECT_EQ(Now(), 0);
}

TEST_F(CoordinatorTest, JoinMayIgnoreLiveTasks) {
  coord_->Register(Sleeper("a", 1000));
  coord_->Register(Sleeper("b", 1000));
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->Join({.stop_grace_period = seconds(1), .ignore_live_tasks = true}).ok());
  EXPECT_EQ(fake_.log.lines().back().text, "Coordinator stopped with threads still running: a b");
}

TEST_F(CoordinatorTest, JoinReturnsTheFirstOfTwoErrors) {
  coord_->Register(Reporter(1, Error("first")));
  coord_->Register(Reporter(2, Error("second")));
  EXPECT_EQ(MessageOf(coord_->Join()), "first");
  EXPECT_EQ(MessageOf(coord_->Join()), "first");  // it stays
  EXPECT_EQ(MessageOf(coord_->RequestedError()), "first");
}

TEST_F(CoordinatorTest, AnErrorHasPriorityOverStragglers) {
  coord_->Register(Sleeper("stuck", 1000));
  EXPECT_TRUE(coord_->RequestStop(Error("cause")).ok());
  EXPECT_EQ(MessageOf(coord_->Join({.stop_grace_period = seconds(1)})), "cause");
}

TEST_F(CoordinatorTest, JoinReturnsTheErrorOfAScope) {
  EXPECT_TRUE(coord_->StopOnError([] { return Error("in the scope"); }).ok());
  EXPECT_TRUE(coord_->StopOnError([] { return Error("in a later scope"); }).ok());
  EXPECT_EQ(MessageOf(coord_->Join()), "in the scope");
}

TEST_F(CoordinatorTest, JoinIgnoresOutOfRange) {
  EXPECT_TRUE(coord_->RequestStop(MakeStatus(Code::kOutOfRange, "end of input")).ok());
  EXPECT_TRUE(coord_->ShouldStop());
  EXPECT_TRUE(coord_->RequestedError().ok());
  EXPECT_TRUE(coord_->Join().ok());
}

TEST_F(CoordinatorTest, JoinIgnoresTheCleanCodesItWasGivenAndNoOthers) {
  Coordinator coord(env(), {.clean_stop_codes = {Code::kAborted}});
  EXPECT_TRUE(coord.RequestStop(MakeStatus(Code::kAborted, "fine")).ok());
  EXPECT_TRUE(coord.Join().ok());
  coord.ClearStop();
  EXPECT_TRUE(coord.RequestStop(MakeStatus(Code::kOutOfRange, "end of input")).ok());
  EXPECT_EQ(CodeOf(coord.Join()), Code::kOutOfRange);
}

TEST_F(CoordinatorTest, AnErrorAfterACleanStopIsDropped) {
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->RequestStop(Error("late")).ok());
  EXPECT_TRUE(coord_->Join().ok());
}

TEST_F(CoordinatorTest, ClearStopClearsTheErrorToo) {
  EXPECT_TRUE(coord_->RequestStop(Error("first")).ok());
  EXPECT_EQ(MessageOf(coord_->Join()), "first");
  coord_->ClearStop();
  EXPECT_FALSE(coord_->ShouldStop());
  EXPECT_FALSE(coord_->joined());
  EXPECT_TRUE(coord_->RequestedError().ok());
  EXPECT_TRUE(coord_->RequestStop(Error("second")).ok());
  EXPECT_EQ(MessageOf(coord_->Join()), "second");
}

TEST_F(CoordinatorTest, RequestStopHandsAnErrorBackOnceJoined) {
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_EQ(MessageOf(coord_->RequestStop(Error("late"))), "late");
  EXPECT_EQ(MessageOf(coord_->StopOnError([] { return Error("in a scope"); })), "in a scope");
  EXPECT_TRUE(coord_->RequestStop(MakeStatus(Code::kOutOfRange, "clean")).ok());
  coord_->ClearStop();
  EXPECT_TRUE(coord_->RequestStop(Error("kept again")).ok());
  EXPECT_EQ(MessageOf(coord_->Join()), "kept again");
}

}  // namespace
}  // namespace vigil
