// Coordinators, queue runners and loopers that many threads use at once.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "vigil/core/coord/coordinator.h"
#include "vigil/core/coord/looper_thread.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/stress/threads/pausing_env.h"
#include "vigil/stress/threads/training.h"

namespace vigil::stress {
namespace {

constexpr int kCoordinators = 150;
constexpr int kClearedCoordinators = 50;  // who joins one whose stop is cleared may look again a second later
constexpr int kUsers = 8;

const std::vector<Code> kRaised = {Code::kInternal, Code::kAborted, Code::kOther};
// Errors of runs that a stop has cut short.
const std::vector<Code> kCutShort = {Code::kCancelled, Code::kOutOfRange, Code::kUsage};

class CoordinatorThreadsTest : public testing::Test {
 protected:
  Env env() const { return pausing_.env(); }
  int Draw(int n) { return pausing_.draws().Below(n); }

  // A task that ends after a while, stopped or not.
  void Work(Coordinator& coord) {
    for (int i = Draw(20); i > 0 && !coord.ShouldStop(); --i) coord.WaitForStop(std::chrono::microseconds(Draw(20)));
  }

  // Whoever joins for no time gives tasks up: they keep the coordinator.
  void Use(const std::shared_ptr<Coordinator>& shared) {
    Coordinator& coord = *shared;
    switch (Draw(9)) {
      case 0:
        EXPECT_TRUE(coord.RequestStop().ok());
        break;
      case 1:
        EXPECT_THAT(coord.RequestStop(MakeStatus(Code::kAborted, "raised")), OkOr(kRaised));
        break;
      case 2:
        EXPECT_THAT(coord.StopOnError([] { return MakeStatus(Code::kInternal, "raised"); }), OkOr(kRaised));
        break;
      case 3:
        EXPECT_THAT(coord.StopOnError([]() -> absl::Status { throw std::runtime_error("thrown"); }), OkOr(kRaised));
        break;
      case 4:
        coord.RequestStop().IgnoreError();  // without a stop it looks for the end of tasks but once a second
        EXPECT_THAT(coord.Join({.stop_grace_period = Duration(0), .ignore_live_tasks = true}), OkOr(kRaised));
        break;
      case 5:
        coord.ClearStop();
        break;
      case 6:
        EXPECT_THAT(coord.RequestedError(), OkOr(kRaised));
        coord.stragglers();
        break;
      case 7:
        coord.WaitForStop(std::chrono::microseconds(10));
        break;
      default:
        coord.Register(env().tasks->Spawn("late", [this, shared] { Work(*shared); }));
    }
  }

  PausingEnv pausing_;
};

TEST_F(CoordinatorThreadsTest, EightThreadsJoinStopRaiseAndClear) {
  for (int round = 0; round < kClearedCoordinators && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const auto shared = std::make_shared<Coordinator>(env());
    Coordinator& coord = *shared;
    for (int i = 0; i < 3; ++i) coord.Register(env().tasks->Spawn("works", [this, shared] { Work(*shared); }));
    pausing_.InParallel(kUsers, [&](int) {
      for (int i = 0; i < 6; ++i) Use(shared);
    });
    EXPECT_TRUE(coord.RequestStop().ok());
    EXPECT_TRUE(coord.ShouldStop());
    const absl::Status error = coord.RequestedError();
    EXPECT_THAT(error, OkOr(kRaised));
    EXPECT_EQ(coord.Join(), error);
    EXPECT_TRUE(coord.joined());
    EXPECT_TRUE(coord.stragglers().empty());
    EXPECT_EQ(CodeOf(coord.RequestStop(MakeStatus(Code::kInternal, "late"))), Code::kInternal);
  }
}

TEST_F(CoordinatorThreadsTest, OnlyTheFirstErrorOfManyIsKept) {
  for (int round = 0; round < kCoordinators && !HasFailure(); ++round) {
    Coordinator coord(env());
    pausing_.InParallel(kUsers, [&](int i) {
      EXPECT_TRUE(coord.RequestStop(MakeStatus(Code::kAborted, std::to_string(i))).ok());
      EXPECT_TRUE(coord.WaitForStop(Duration::max()));
      const absl::Status kept = coord.RequestedError();
      EXPECT_EQ(CodeOf(kept), Code::kAborted);
      EXPECT_EQ(coord.RequestedError(), kept);
    });
    EXPECT_EQ(CodeOf(coord.Join()), Code::kAborted);
  }
}

// The input of the queue runners: two of each session, with so many items each.
class QueueRunnerThreadsTest : public CoordinatorThreadsTest {
 protected:
  static constexpr int kTimes = 5;

  QueueRunnerThreadsTest() : graph_(BuiltinOps()) {
    Builder b(graph_);
    const ops::Queue queue = ops::FifoQueue(b, "queue", 3);
    std::vector<NodeId> enqueues;
    for (const std::string name : {"one", "other"}) {
      const Output twos = b.Const(name + "_twos", Tensor::Vector<std::int64_t>({1, 1}));
      enqueues.push_back(ops::EnqueueMany(b, name, queue, ops::LimitEpochs(b, name + "_limited", twos, kTimes)));
    }
    runner_ = *QueueRunner::Create(
        env(), {.queue_name = "queue", .enqueue_ops = enqueues, .close_op = queue.close, .cancel_op = queue.cancel});
    item_ = ops::Dequeue(b, "item", queue);
    for (const Output& variable : graph_.Collection(kLocalVariables)) locals_.push_back(variable);
    init_ = ops::VariablesInitializer(b, "init", locals_);
    EXPECT_TRUE(b.status().ok()) << b.status();
  }

  Graph graph_;
  QueueRunnerPtr runner_;
  Output item_;
  std::vector<Output> locals_;
  Output init_;
};

TEST_F(QueueRunnerThreadsTest, AllItemsArriveUnlessSomebodyStopsAndNoTaskIsStartedTwice) {
  for (int round = 0; round < 80 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const std::shared_ptr<Session> session = NewDirectSession(env(), graph_);
    ASSERT_TRUE(RunTarget(*session, init_.node).ok());
    const auto coord = std::make_shared<Coordinator>(env());
    const bool stops = round % 2 == 1;
    std::atomic<int> started{0};
    std::atomic<std::int64_t> taken{0};
    pausing_.InParallel(4, [&](int i) {
      if (i < 2) {
        const auto tasks = runner_->CreateTasks(session, coord);
        EXPECT_TRUE(tasks.ok()) << tasks.status();
        started += tasks.ok() && !tasks->empty() ? 1 : 0;
      }
      while (true) {
        const absl::StatusOr<Tensor> item = RunFetch(*session, item_);
        if (!item.ok()) {
          EXPECT_THAT(item.status(), OkOr(kCutShort));
          break;
        }
        taken += item->scalar<std::int64_t>();
        if (stops && i == 3 && Draw(8) == 0) {
          EXPECT_TRUE(coord->RequestStop().ok());
          if (Draw(2) == 0) {
            EXPECT_TRUE(session->Close().ok());
          }
        }
      }
    });
    EXPECT_GE(started, 1);
    if (!stops) {
      EXPECT_EQ(taken, 2 * 2 * kTimes);
    }
    EXPECT_LE(taken, 2 * 2 * kTimes);
    EXPECT_TRUE(coord->RequestStop().ok());
    EXPECT_THAT(coord->Join(), OkOr(kCutShort));
    EXPECT_TRUE(coord->stragglers().empty());
    EXPECT_TRUE(runner_->errors_raised().empty());
    EXPECT_TRUE(session->Close().ok());
  }
}

TEST_F(CoordinatorThreadsTest, LoopersEndTogetherWithTheErrorOfOne) {
  for (int round = 0; round < kCoordinators && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const auto coord = std::make_shared<Coordinator>(env());
    std::atomic<int> calls{0};
    std::vector<TaskPtr> tasks;
    for (int i = 0; i < 4; ++i) {
      const std::optional<Duration> interval =
          i % 2 == 0 ? std::nullopt : std::optional<Duration>(std::chrono::microseconds(10));
      const auto looper = LooperThread::Loop(env(), coord, interval, [&calls]() -> absl::Status {
        return ++calls < 40 ? absl::OkStatus() : MakeStatus(Code::kInternal, "enough");
      });
      tasks.push_back(looper->task());
    }
    EXPECT_EQ(CodeOf(coord->Join()), Code::kInternal);
    for (const TaskPtr& task : tasks) EXPECT_TRUE(task->done());
    EXPECT_GE(calls, 40);
  }
}

}  // namespace
}  // namespace vigil::stress
