// A cluster under real threads: thousands of steps of many tasks at once, and steps that are cancelled in the middle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/request_ids.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/cluster/worker/worker_service.h"
#include "vigil/core/env/in_process_network.h"
#include "vigil/core/env/real/real_env.h"

namespace vigil {
namespace {

// Parameters on two servers, which each step of a worker reads and adds to.
struct Model {
  Model() : graph(BuiltinOps()), b(graph) {
    const Output one = b.Const("one", Tensor::Scalar<std::int64_t>(1));
    std::vector<NodeId> initializers;
    std::vector<NodeId> updates;
    for (int i = 0; i < 2; ++i) {
      DeviceScope scope(b, i == 0 ? "/job:ps/task:0" : "/job:ps/task:1");
      parameters.push_back(ops::MakeVariable(b, "p", b.Const("zero", Tensor::Scalar<std::int64_t>(0))));
      initializers.push_back(parameters.back().initializer);
    }
    sum = b.Op("AddV2", {parameters[0].read, parameters[1].read}, {.name = "sum"});
    // What the worker sends back is one, but depends on what it has read.
    const Output update = b.Op("Sub", {b.Op("AddV2", {sum, one}), sum}, {.name = "update"});
    for (const ops::Variable& p : parameters) updates.push_back(ops::AssignAdd(b, "add", p.ref, update).node);
    init = b.Group("init", initializers).node;
    train = b.Group("train", updates).node;
    {
      DeviceScope scope(b, "/job:ps/task:0");
      queue = ops::FifoQueue(b, "queue", 1);
      waits = ops::Dequeue(b, "waits", queue);
    }
    EXPECT_TRUE(b.status().ok()) << b.status();
  }
  Graph graph;
  Builder b;
  std::vector<ops::Variable> parameters;
  Output sum, waits;
  ops::Queue queue;
  NodeId init = kNoNode;
  NodeId train = kNoNode;
};

class RealClusterTest : public testing::Test {
 protected:
  RealClusterTest() : real_({.seed = 1, .log_to_stderr = false}), cluster_(real_.env(), {{"ps", 2}, {"worker", 3}}) {
    cluster_.StartAll();
  }
  ~RealClusterTest() override { cluster_.StopAll(); }

  RealEnv real_;
  TestCluster cluster_;
  Model model_;
};

// A task that is started again with the seed that it had is another process: whoever knew the old one must see that.
TEST(RestartedTaskTest, OfOneSeedHasAnotherIncarnationAndOtherRequests) {
  std::set<std::uint64_t> incarnations;
  std::set<std::int64_t> requests;
  for (int start = 0; start < 2; ++start) {
    RealEnv real({.seed = 1, .log_to_stderr = false});
    const absl::StatusOr<std::unique_ptr<Server>> server = Server::CreateLocal(real.env());
    ASSERT_TRUE(server.ok()) << Text(server.status());
    incarnations.insert((*server)->worker().device().incarnation());
    requests.insert(RequestIds(real.env(), "/job:ps/task:0").Next());
  }
  EXPECT_EQ(incarnations.size(), 2u);
  EXPECT_EQ(requests.size(), 2u);
}

TEST_F(RealClusterTest, EveryUpdateOfThousandsOfStepsCountsOnce) {
  constexpr int kSteps = 300;
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 3; ++i) sessions.push_back(cluster_.NewSession("worker", i, model_.graph));
  sessions.push_back(cluster_.NewRemoteSession("worker", 0, model_.graph));
  EXPECT_EQ(Text(RunAll(*sessions[0], {}, {model_.init}).status), "OK");
  std::vector<std::unique_ptr<Task>> tasks;
  std::atomic<int> failed{0};
  for (const auto& session : sessions) {
    for (int i = 0; i < 2; ++i) {
      tasks.push_back(real_.env().tasks->Spawn("trainer", [&session, &failed, this] {
        for (int step = 0; step < kSteps; ++step) {
          if (!RunAll(*session, {model_.sum}, {model_.train}).status.ok()) ++failed;
        }
      }));
    }
  }
  for (const auto& task : tasks) EXPECT_TRUE(task->Join(kNever));
  EXPECT_EQ(failed, 0);
  for (const ops::Variable& p : model_.parameters) {
    EXPECT_EQ(RunFetch(*sessions[1], p.ref)->scalar<std::int64_t>(), 8 * kSteps);
  }
}

TEST_F(RealClusterTest, StepsThatAreCancelledLeaveNothingBehind) {
  const auto session = cluster_.NewSession("worker", 0, model_.graph);
  EXPECT_EQ(Text(RunAll(*session, {}, {model_.init}).status), "OK");
  for (int i = 0; i < 40; ++i) {
    const auto short_lived = i % 2 == 0 ? cluster_.NewSession("worker", 1, model_.graph)
                                        : cluster_.NewRemoteSession("worker", 1, model_.graph);
    RunOutcome waiting;
    const auto task = real_.env().tasks->Spawn("waiting", [&] {
      waiting = RunAll(*short_lived, {model_.waits, model_.sum});
    });
    if (i % 4 < 2) {
      EXPECT_EQ(Text(RunAll(*session, {}, {model_.train}).status), "OK");
    }
    EXPECT_EQ(Text(short_lived->Close()), "OK");
    EXPECT_TRUE(task->Join(kNever));
    const Code code = CodeOf(waiting.status);
    // Closed before it began, while it ran, or when a master had forgotten it.
    EXPECT_TRUE(code == Code::kCancelled || code == Code::kUsage || code == Code::kAborted) << waiting.status;
  }
  for (int i = 0; i < 10; ++i) {
    const RunOptions options{.timeout_in_ms = 1 + i % 3};
    const Code code = CodeOf(RunAll(*session, {model_.waits, model_.sum}, {}, {}, &options).status);
    EXPECT_EQ(code, Code::kDeadlineExceeded);
  }
  EXPECT_EQ(Text(RunAll(*session, {model_.sum}, {model_.train}).status), "OK");
  // Stopping ends all steps: what is left must have gone before, as soon as the last words of failed steps are heard.
  for (const auto& [job, task] : {std::pair("ps", 0), {"ps", 1}, {"worker", 0}, {"worker", 1}, {"worker", 2}}) {
    const WorkerService& worker = cluster_.server(job, task).worker();
    const Time deadline = DeadlineAfter(real_.env(), std::chrono::seconds(60));
    while (worker.steps() > 0 && real_.env().clock->Monotonic() < deadline) {
      real_.env().tasks->SleepUntil(DeadlineAfter(real_.env(), std::chrono::microseconds(50)));
    }
    EXPECT_EQ(worker.steps(), 0U) << job << task;
  }
  cluster_.StopAll();
}

TEST_F(RealClusterTest, AServerMayGoInTheMiddle) {
  for (int i = 0; i < 10; ++i) {
    const auto session = cluster_.NewSession("worker", 0, model_.graph);
    EXPECT_EQ(Text(RunAll(*session, {}, {model_.init}).status), "OK");
    std::atomic<int> steps{0};
    absl::Status last;
    const auto task = real_.env().tasks->Spawn("trainer", [&] {
      while (last.ok()) {
        last = RunAll(*session, {model_.sum}, {model_.train}).status;
        ++steps;
      }
    });
    while (steps < 3 + i) real_.env().tasks->SleepUntil(DeadlineAfter(real_.env(), std::chrono::microseconds(50)));
    cluster_.server("ps", 1).Stop();
    cluster_.Crash("ps", 1);
    EXPECT_TRUE(task->Join(kNever));
    EXPECT_EQ(CodeOf(last), Code::kUnavailable) << last;
    cluster_.Start("ps", 1);
  }
}

}  // namespace
}  // namespace vigil
