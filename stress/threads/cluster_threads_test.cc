// A cluster in one process, one parameter server and two workers, whose sessions are used, cancelled, closed and reset
// at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/graph/builder.h"
#include "vigil/stress/threads/pausing_env.h"
#include "vigil/stress/threads/training.h"

namespace vigil::stress {
namespace {

// A parameter on the server, an addition on whichever worker asks; the same again for steps that are cut short, and a
// queue that nothing is ever put into.
struct SharedModel {
  SharedModel() : graph(BuiltinOps()) {
    Builder b(graph);
    {
      DeviceScope scope(b, "/job:ps/task:0");
      const Output zero = b.Const("zero", Tensor::Scalar<std::int64_t>(0));
      parameter = ops::MakeVariable(b, "p", zero);
      other = ops::MakeVariable(b, "q", zero);
      waits = ops::Dequeue(b, "waits", ops::FifoQueue(b, "queue", 1));
    }
    const Output one = b.Const("one", Tensor::Scalar<std::int64_t>(1));
    const Output update = b.Op("Identity", {one}, {.name = "update"});
    train = ops::AssignAdd(b, "train", parameter.ref, update);
    train_other = ops::AssignAdd(b, "train_other", other.ref, update);
    initialise = b.Group("initialise", {parameter.initializer, other.initializer}).node;
    EXPECT_TRUE(b.status().ok()) << b.status();
  }
  Graph graph;
  ops::Variable parameter, other;
  Output waits, train, train_other;
  NodeId initialise = kNoNode;
};

// What becomes of a run whose session was closed, reset or forgotten, or whose time was over.
const std::vector<Code> kEndsOfRuns = {Code::kCancelled, Code::kUsage, Code::kAborted, Code::kDeadlineExceeded};
// And after a reset, when the variable is gone.
const std::vector<Code> kEndsOfResetRuns = {
    Code::kCancelled,          Code::kUsage,   Code::kAborted, Code::kDeadlineExceeded,
    Code::kFailedPrecondition, Code::kNotFound};

class ClusterThreadsTest : public testing::Test {
 protected:
  ClusterThreadsTest() : cluster_(pausing_.env(), {{"ps", 1}, {"worker", 2}}) { cluster_.StartAll(); }
  ~ClusterThreadsTest() override { cluster_.StopAll(); }

  // One at a time: the cluster's draws are those of a test of one task.
  std::unique_ptr<Session> NewSession() {
    MutexLock lock(*creating_);
    const int worker = pausing_.draws().Below(2);
    return pausing_.draws().Below(2) == 0 ? cluster_.NewSession("worker", worker, model_.graph)
                                          : cluster_.NewRemoteSession("worker", worker, model_.graph);
  }
  // A step that never ends by itself is ended by its session's close or by its own deadline.
  void CutAStepShort() {
    const auto session = NewSession();
    absl::Status waiting;
    const bool late = pausing_.draws().Below(2) == 0;
    const RunOptions options{.timeout_in_ms = late ? 1 + pausing_.draws().Below(3) : 0};
    const auto task = pausing_.env().tasks->Spawn("waits", [&] {
      waiting = RunAll(*session, {model_.waits, model_.train_other}, {}, {}, &options).status;
    });
    if (!late) {
      EXPECT_EQ(Text(session->Close()), "OK");
    }
    EXPECT_TRUE(task->Join(kNever));
    EXPECT_FALSE(waiting.ok());
    EXPECT_THAT(waiting, OkOr(kEndsOfRuns));
    EXPECT_EQ(Text(session->Close()), "OK");
  }
  // What is over may still be on its way out, for a moment.
  void ExpectNothingLeft() {
    const Env env = pausing_.env();
    const Time deadline = DeadlineAfter(env, std::chrono::seconds(20));
    for (const auto& [job, task] : {std::pair("ps", 0), {"worker", 0}, {"worker", 1}}) {
      const WorkerService& worker = cluster_.server(job, task).worker();
      while (worker.steps() > 0 && env.clock->Monotonic() < deadline) {
        env.tasks->SleepUntil(DeadlineAfter(env, std::chrono::milliseconds(1)));
      }
      EXPECT_EQ(worker.steps(), 0u) << job << task;
    }
  }

  PausingEnv pausing_;
  const std::unique_ptr<Mutex> creating_ = pausing_.env().tasks->NewMutex("creating");
  TestCluster cluster_;
  SharedModel model_;
};

TEST_F(ClusterThreadsTest, StepsCountOnceWhileOthersAreCutShort) {
  constexpr int kSteps = 60;
  const auto session = cluster_.NewSession("worker", 0, model_.graph);
  ASSERT_EQ(Text(RunAll(*session, {}, {model_.initialise}).status), "OK");
  std::atomic<int> trained{0};
  pausing_.InParallel(6, [&](int i) {
    if (i < 2) {
      for (int cut = 0; cut < 12; ++cut) CutAStepShort();
      return;
    }
    const auto mine = NewSession();
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_EQ(Text(RunAll(i < 4 ? *mine : *session, {}, {model_.train.node}).status), "OK");
      ++trained;
    }
    EXPECT_EQ(Text(mine->Close()), "OK");
  });
  EXPECT_EQ(RunFetch(*session, model_.parameter.ref)->scalar<std::int64_t>(), trained);
  // Of a step that was cut short the addition may have been done, once.
  EXPECT_LE(RunFetch(*session, model_.other.ref)->scalar<std::int64_t>(), 2 * 12);
  ExpectNothingLeft();
}

TEST_F(ClusterThreadsTest, ResetsInTheMiddleEndSessionsAndLeaveTheClusterUsable) {
  pausing_.InParallel(5, [&](int i) {
    for (int round = 0; round < 12; ++round) {
      if (i == 0) {
        const std::string target = cluster_.server("worker", round % 2).target();
        EXPECT_EQ(Text(ResetCluster(cluster_.env("worker", round % 2), target)), "OK");
        continue;
      }
      const auto session = NewSession();
      for (int step = 0; step < 5; ++step) {
        const NodeId node = step == 0 ? model_.parameter.initializer : model_.train.node;
        const absl::Status status = RunAll(*session, {}, {node}).status;
        EXPECT_THAT(status, OkOr(kEndsOfResetRuns));
        if (!status.ok()) break;
      }
      if (i % 2 == 0) {
        EXPECT_THAT(session->Close(), OkOr(kEndsOfResetRuns));
      }
    }
  });
  const auto session = cluster_.NewSession("worker", 1, model_.graph);
  EXPECT_EQ(Text(RunAll(*session, {}, {model_.parameter.initializer}).status), "OK");
  EXPECT_EQ(Text(RunAll(*session, {}, {model_.train.node}).status), "OK");
  ExpectNothingLeft();
}

}  // namespace
}  // namespace vigil::stress
