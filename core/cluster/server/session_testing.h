// What the tests of sessions on a cluster share.
#ifndef VIGIL_CORE_CLUSTER_SERVER_SESSION_TESTING_H_
#define VIGIL_CORE_CLUSTER_SERVER_SESSION_TESTING_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/ops/ops.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {

inline Tensor Number(double value) { return Tensor::Scalar<double>(value); }

// Two variables on two parameter servers, and a step of the worker that changes both by what it computes from both.
class ClusterSessionTest : public testing::Test {
 protected:
  ClusterSessionTest() : cluster_(BaseEnv(), {{"ps", 2}, {"worker", 2}}), graph_(BuiltinOps()), b_(graph_) {
    x_ = ops::Placeholder(b_, "x", DType::kDouble);
    {
      DeviceScope scope(b_, "/job:ps/task:0");
      v_ = ops::MakeVariable(b_, "v", b_.Const("v/initial", Number(1)));
      queue_ = ops::FifoQueue(b_, "queue", 2);
      dequeue_ = ops::Dequeue(b_, "dequeue", queue_);
    }
    {
      DeviceScope scope(b_, "/job:ps/task:1");
      w_ = ops::MakeVariable(b_, "w", b_.Const("w/initial", Number(10)));
    }
    init_ = b_.Group("init", {v_.initializer, w_.initializer}).node;
    sum_ = b_.Op("AddV2", {v_.read, w_.read}, {.name = "sum"});
    product_ = b_.Op("Mul", {sum_, x_}, {.name = "product"});
    v_add_ = ops::AssignAdd(b_, "v/add", v_.ref, product_);
    w_add_ = ops::AssignAdd(b_, "w/add", w_.ref, sum_);
    train_ = b_.Group("train", {v_add_.node, w_add_.node}).node;
    // The worker waits for what may never come.
    late_ = ops::Identity(b_, "late", dequeue_);
    enqueue_ = ops::EnqueueMany(b_, "enqueue", queue_, b_.Const("three", Tensor::Vector<std::int64_t>({1, 2})));
    EXPECT_TRUE(b_.status().ok()) << b_.status();
  }
  ~ClusterSessionTest() override { fake_.tasks.EndAll(); }

  Env BaseEnv() {
    Env env = fake_.env();
    env.network = &network_;
    return env;
  }
  double Fetch(Session& session, Output fetch) {
    RunOutcome out = RunAll(session, {fetch});
    EXPECT_TRUE(out.status.ok()) << out.status;
    return out.status.ok() ? out.values[0].scalar<double>() : -1;
  }
  std::string Run(Session& session, NodeId target, const RunOptions* options = nullptr) {
    return Text(RunAll(session, {}, {target}, {}, options).status);
  }
  // Nothing of any step is left anywhere.
  void ExpectNoSteps() {
    fake_.tasks.RunReady();
    for (const auto& [job, task] : {std::pair("ps", 0), {"ps", 1}, {"worker", 0}, {"worker", 1}}) {
      EXPECT_EQ(cluster_.server(job, task).worker().steps(), 0u) << job << task;
    }
  }
  // Starts a run of `late_` in a task of its own, and waits until it hangs.
  struct Hanging {
    RunOutcome outcome;
    std::unique_ptr<Task> task;
  };
  std::unique_ptr<Hanging> HangIn(Session& session) {
    auto hanging = std::make_unique<Hanging>();
    hanging->task = fake_.env().tasks->Spawn("hanging", [this, &session, out = hanging.get()] {
      out->outcome = RunAll(session, {late_, sum_});
    });
    fake_.tasks.RunReady();
    EXPECT_FALSE(hanging->task->done());
    return hanging;
  }

  fakes::FakeEnv fake_;
  FaultyNetwork network_{fake_.network};
  TestCluster cluster_;
  Graph graph_;
  Builder b_;
  Output x_, sum_, product_, v_add_, w_add_, dequeue_, late_;
  ops::Variable v_, w_;
  ops::Queue queue_;
  NodeId init_ = kNoNode;
  NodeId train_ = kNoNode;
  NodeId enqueue_ = kNoNode;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_SERVER_SESSION_TESTING_H_
