// Ports LooperTest of coordinator_test.py; the rest is what its source says about time.
#include "vigil/core/coord/looper_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/few_threads.h"

namespace vigil {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class LooperThreadTest : public testing::Test {
 protected:
  Env env() { return fake_.env(); }
  double Now() { return ToSeconds(fake_.clock.Monotonic().since_epoch); }

  fakes::FakeEnv fake_;
  std::shared_ptr<Coordinator> coord_ = std::make_shared<Coordinator>(env());
  std::vector<double> calls_;  // when RunLoop was called
};

// Writes down the calls of all its methods.
class Diary : public LooperThread {
 public:
  Diary(const Env& env, std::shared_ptr<Coordinator> coord, std::vector<std::string>& lines)
      : LooperThread(env, std::move(coord), std::chrono::seconds(1)), lines_(lines) {}
  absl::Status StartLoop() override { return Say("start", start); }
  absl::Status RunLoop() override { return Say("run", run); }
  absl::Status StopLoop() override { return Say("stop", stop); }
  absl::Status start, run, stop;

 private:
  absl::Status Say(const std::string& what, const absl::Status& result) {
    lines_.push_back(what);
    return result;
  }
  std::vector<std::string>& lines_;
};

TEST_F(LooperThreadTest, CallsTheTargetUntilItsCoordinatorStops) {
  int left = 3;
  const auto looper = LooperThread::Loop(env(), coord_, Duration::zero(), [&] {
    if (--left == 0) return coord_->RequestStop();
    return absl::OkStatus();
  });
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_EQ(left, 0);
  EXPECT_TRUE(looper->task()->done());
}

TEST_F(LooperThreadTest, WithoutAnIntervalCallsBackToBackAndLetsOthersRun) {
  int left = 3;
  std::vector<int> seen;  // by a task that runs in between
  const TaskPtr watcher = env().tasks->Spawn("watcher", [&] {
    while (left > 0) {
      seen.push_back(left);
      env().tasks->SleepUntil(env().clock->Monotonic());
    }
  });
  LooperThread::Loop(env(), coord_, std::nullopt, [&] {
    if (--left == 0) return coord_->RequestStop();
    return absl::OkStatus();
  });
  EXPECT_TRUE(coord_->Join({.tasks = {watcher}}).ok());
  EXPECT_THAT(seen, testing::IsSupersetOf({3, 2, 1}));
  EXPECT_EQ(Now(), 0);
}

TEST_F(LooperThreadTest, TheFirstCallComesAtOnceTheOthersAtTheInterval) {
  LooperThread::Loop(env(), coord_, seconds(10), [&] {
    calls_.push_back(Now());
    return absl::OkStatus();
  });
  fake_.tasks.RunReady();
  EXPECT_THAT(calls_, ElementsAre(0));
  env().tasks->SleepUntil({seconds(25)});
  EXPECT_THAT(calls_, ElementsAre(0, 10, 20));
}

TEST_F(LooperThreadTest, CatchesUpAfterASlowCall) {
  LooperThread::Loop(env(), coord_, seconds(10), [&] {
    calls_.push_back(Now());
    if (calls_.size() == 1) env().tasks->SleepUntil({seconds(35)});
    return absl::OkStatus();
  });
  env().tasks->SleepUntil({seconds(41)});
  EXPECT_THAT(calls_, ElementsAre(0, 35, 35, 35, 40));
}

TEST_F(LooperThreadTest, AStopEndsTheWaitAndStopLoopIsCalled) {
  std::vector<std::string> lines;
  const auto diary = std::make_shared<Diary>(env(), coord_, lines);
  diary->Start();
  env().tasks->SleepUntil({std::chrono::milliseconds(1500)});
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_THAT(lines, ElementsAre("start", "run", "run", "stop"));
  EXPECT_EQ(Now(), 1.5);
}

TEST_F(LooperThreadTest, AfterAStopBeforeItsFirstTurnNothingIsRun) {
  std::vector<std::string> lines;
  EXPECT_TRUE(coord_->RequestStop().ok());
  std::make_shared<Diary>(env(), coord_, lines)->Start();
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_THAT(lines, ElementsAre("start", "stop"));
}

TEST_F(LooperThreadTest, AnErrorOfAnyMethodStopsTheCoordinator) {
  for (absl::Status Diary::*const method : {&Diary::start, &Diary::run}) {
    coord_ = std::make_shared<Coordinator>(env());
    std::vector<std::string> lines;
    const auto diary = std::make_shared<Diary>(env(), coord_, lines);
    (*diary).*method = MakeStatus(Code::kInternal, "broken");
    diary->Start();
    EXPECT_EQ(CodeOf(coord_->Join()), Code::kInternal);
    EXPECT_THAT(lines, testing::Not(testing::Contains("stop")));
  }
}

TEST_F(LooperThreadTest, AnExceptionIsAnErrorToo) {
  LooperThread::Loop(env(), coord_, seconds(1), []() -> absl::Status { throw std::runtime_error("thrown"); });
  const absl::Status error = coord_->Join();
  EXPECT_EQ(CodeOf(error), Code::kOther);
  EXPECT_EQ(MessageOf(error), "thrown");
}

TEST_F(LooperThreadTest, AnErrorAfterTheJoinIsLogged) {
  LooperThread::Loop(
      env(), coord_, seconds(1),
      [&] {
        env().tasks->SleepUntil({seconds(300)});
        return MakeStatus(Code::kInternal, "too late");
      },
      "slow");
  fake_.tasks.RunReady();
  EXPECT_TRUE(coord_->RequestStop().ok());
  const absl::Status join = coord_->Join();
  EXPECT_EQ(CodeOf(join), Code::kUsage);
  EXPECT_EQ(MessageOf(join), "Coordinator stopped with threads still running: slow");
  env().tasks->SleepUntil({seconds(301)});
  EXPECT_THAT(fake_.log.lines().back().text, HasSubstr("too late"));
}

TEST_F(LooperThreadTest, OneThatCannotBeStartedAfterTheJoinIsLogged) {
  EXPECT_TRUE(coord_->Join().ok());
  fakes::FewThreads none(*env().tasks, 0);
  Env without = env();
  without.tasks = &none;
  LooperThread::Loop(
      without, coord_, seconds(1), [] { return absl::OkStatus(); }, "late");
  ASSERT_FALSE(fake_.log.lines().empty());
  EXPECT_THAT(fake_.log.lines().back().text, HasSubstr("late failed after its coordinator had been joined: "));
}

TEST_F(LooperThreadTest, OutlivesWhoStartedIt) {
  std::weak_ptr<LooperThread> looper = LooperThread::Loop(env(), coord_, seconds(1), [] { return absl::OkStatus(); });
  fake_.tasks.RunReady();
  EXPECT_FALSE(looper.expired());
  EXPECT_TRUE(coord_->RequestStop().ok());
  EXPECT_TRUE(coord_->Join().ok());
  EXPECT_TRUE(looper.expired());
}

}  // namespace
}  // namespace vigil
