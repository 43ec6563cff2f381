// A cluster of servers for tests: all tasks in one process, under one fake clock, over one in-process network; each
// with a Process and draws of its own.
//
//   TestCluster cluster({{"ps", 2}, {"worker", 1}});
//   cluster.StartAll();
//   auto session = cluster.NewSession("worker", 0, graph);
//   cluster.Crash("ps", 0);     // its connections break
//   cluster.Start("ps", 0);     // another incarnation, with nothing left
#ifndef VIGIL_CORE_CLUSTER_SERVER_TESTING_H_
#define VIGIL_CORE_CLUSTER_SERVER_TESTING_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/core/cluster/worker/worker_service.h"
#include "vigil/core/ops/ops.h"
#include "vigil/fakes/exchanges.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {

// "ABORTED: text" or "OK".
std::string Text(const absl::Status& status);

// A network that does to chosen requests what networks do. Rules hold until Heal(). One task at a time calls it.
class FaultyNetwork final : public Network {
 public:
  explicit FaultyNetwork(Network& inner) : inner_(inner) {}

  // Requests to that address are never answered.
  void Mute(std::string address) { muted_.insert(std::move(address)); }
  // The next `times` requests of that method ("RunGraph") do not arrive, or their answers do not: UNAVAILABLE.
  void LoseRequests(std::string method, int times) { lost_requests_[std::move(method)] = times; }
  void LoseReplies(std::string method, int times) { lost_replies_[std::move(method)] = times; }
  void Heal();
  // What the next `times` answers to that method come to.
  void ChangeReplies(std::string method, int times, std::function<void(absl::Cord&)> change) {
    changed_replies_[method] = times;
    changes_[std::move(method)] = std::move(change);
  }
  // Calls that once, just after the `times`-th answer to that method from now on has been handed over.
  void AfterReply(std::string method, int times, std::function<void()> then) {
    hooks_[std::move(method)] = {times, std::move(then)};
  }
  // What it says that it carries; the network behind it carries more.
  void SetMessageLimit(std::int64_t bytes) { limits_.message_bytes = bytes; }
  NetworkLimits limits() const override { return limits_; }
  // Requests to mute addresses that still wait for their answer.
  std::size_t waiting() const { return unanswered_.size(); }
  // Requests of that method so far.
  int count(const std::string& method) const;

  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, RequestHandler handler) override {
    return inner_.Listen(address, std::move(handler));
  }
  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) override;
  void Cancel(std::uint64_t call) override;

 private:
  struct Hook {
    int left = 0;
    std::function<void()> then;
  };
  void Replied(const std::string& method);
  static bool Take(std::map<std::string, int>& rules, const std::string& method);

  Network& inner_;
  NetworkLimits limits_;
  std::set<std::string> muted_;
  std::map<std::string, int> lost_requests_;
  std::map<std::string, int> lost_replies_;
  std::map<std::string, int> changed_replies_;
  std::map<std::string, std::function<void(absl::Cord&)>> changes_;
  std::map<std::string, int> counts_;
  std::map<std::string, Hook> hooks_;
  std::map<std::uint64_t, std::function<void(NetworkReply)>> unanswered_;
  std::uint64_t last_unanswered_ = std::uint64_t{1} << 32;
};

class TestCluster {
 public:
  using Jobs = std::map<std::string, int>;  // and how many tasks each has
  // `base`: all but Process, Random and Events come from it.
  TestCluster(const Env& base, const Jobs& jobs);

  Env env(const std::string& job, int task) { return TaskOf(job, task).env; }
  Server& Start(const std::string& job, int task, const OpRegistry* ops = nullptr);
  void StartAll();
  void Crash(const std::string& job, int task) { TaskOf(job, task).server = nullptr; }
  void StopAll();
  Server& server(const std::string& job, int task) { return *TaskOf(job, task).server; }

  // By way of the task's own server.
  std::unique_ptr<Session> NewSession(const std::string& job, int task, const Graph& graph,
                                      const SessionConfig& config = {});
  // From a process that is no task.
  std::unique_ptr<Session> NewRemoteSession(const std::string& job, int task, const Graph& graph,
                                            const SessionConfig& config = {});
  const Env& client() const { return client_.env; }

 private:
  struct OneTask {
    Process process;
    fakes::SequenceRandom random;
    Env env;
    std::unique_ptr<Server> server;
    std::uint64_t starts = 0;
  };
  OneTask& TaskOf(const std::string& job, int task) { return *tasks_.at({job, task}); }
  void Adopt(OneTask& task);

  const Env base_;
  ClusterSpec spec_;
  std::map<std::pair<std::string, int>, std::unique_ptr<OneTask>> tasks_;
  OneTask client_;
  std::uint64_t draws_ = 0;
};

// Everything that a run of fetches and targets gives, or the error.
struct RunOutcome {
  absl::Status status;
  std::vector<Tensor> values;
};
RunOutcome RunAll(Session& session, std::vector<Output> fetches, std::vector<NodeId> targets = {},
                  std::vector<std::pair<Output, Tensor>> feeds = {}, const RunOptions* options = nullptr);

// Two variables on two parameter servers, and a step of the worker that changes both by what it computes from both.
class ClusterSessionTest : public testing::Test {
 protected:
  static Tensor Number(double value) { return Tensor::Scalar<double>(value); }
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

#endif  // VIGIL_CORE_CLUSTER_SERVER_TESTING_H_
