// What a step on a cluster costs: a worker whose parameters are on several servers, all in one simulated process
// (fibers, one OS thread) over the in-process network. "allocs" are allocations for each step.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "vigil/bench/world.h"
#include "vigil/core/base/check.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/core/env/in_process_network.h"
#include "vigil/sim/world.h"

namespace vigil::bench {
namespace {

// A vector on each server; a step of the worker reads them all, and subtracts a gradient from each.
struct ParameterGraph {
  explicit ParameterGraph(int servers) : graph(BuiltinOps()) {
    Builder b(graph);
    x = ops::Placeholder(b, "x", DType::kDouble);
    std::vector<NodeId> initializers;
    std::vector<Output> sums;
    std::vector<ops::Variable> parameters;
    for (int i = 0; i < servers; ++i) {
      DeviceScope scope(b, fmt::format("/job:ps/task:{}", i));
      parameters.push_back(ops::MakeVariable(b, "w", b.Const("zeros", Tensor::Vector<double>({0, 0, 0, 0}))));
      initializers.push_back(parameters.back().initializer);
    }
    Output loss = x;
    for (const ops::Variable& w : parameters) loss = b.Op("AddV2", {loss, w.read}, {.name = "loss"});
    std::vector<NodeId> updates;
    for (const ops::Variable& w : parameters) {
      const Output gradient = b.Op("Mul", {loss, w.read}, {.name = "gradient"});
      updates.push_back(ops::AssignSub(b, "update", w.ref, gradient).node);
    }
    init = b.Group("init", initializers).node;
    train = b.Group("train", updates).node;
    VIGIL_CHECK(b.status().ok());
  }
  Graph graph;
  Output x;
  NodeId init = kNoNode;
  NodeId train = kNoNode;
};

// Servers and a worker, each with a Process of its own.
class BenchCluster {
 public:
  BenchCluster(const Env& env, int servers) : network_(*env.tasks), processes_(static_cast<std::size_t>(servers) + 1) {
    std::vector<std::string> addresses;
    for (int i = 0; i < servers; ++i) addresses.push_back(fmt::format("ps{}:1", i));
    const ClusterSpec spec =
        *ClusterSpec::Create({{"ps", addresses}, {"worker", std::vector<std::string>{"worker0:1"}}});
    for (int i = 0; i <= servers; ++i) {
      env_ = env;
      env_.network = &network_;
      env_.process = &processes_[static_cast<std::size_t>(i)];
      const bool worker = i == servers;
      servers_.push_back(
          *Server::Create(env_, {.cluster = spec, .job_name = worker ? "worker" : "ps", .task_index = worker ? 0 : i}));
    }
  }
  ~BenchCluster() {
    for (const auto& server : servers_) server->Stop();
  }
  std::unique_ptr<Session> NewSession(const Graph& graph) {
    return *ClusterSessionFactory(env_).Create(graph, "grpc://worker0:1", {});
  }

 private:
  InProcessNetwork network_;
  std::vector<Process> processes_;
  Env env_;  // the worker's
  std::vector<std::unique_ptr<Server>> servers_;
};

template <typename Body>
void InWorld(Body body) {
  sim::World world({});
  sim::Node& node = world.AddNode("all");
  node.Spawn("main", [&] { body(node.env()); });
  VIGIL_CHECK(world.Run().verdict == sim::WorldVerdict::kDone);
}

// state.range(0) servers; 0 = the same graph in a direct session.
void ClusterStep(benchmark::State& state) {
  const int servers = static_cast<int>(state.range(0));
  ParameterGraph model(servers == 0 ? 4 : servers);
  InWorld([&](const Env& env) {
    BenchCluster cluster(env, servers);
    const std::unique_ptr<Session> session =
        servers == 0 ? NewDirectSession(env, model.graph) : cluster.NewSession(model.graph);
    VIGIL_CHECK(RunTarget(*session, model.init).ok());
    const RunSpec spec{.feeds = {model.x}, .targets = {model.train}};
    const std::vector<Tensor> feeds{Tensor::Vector<double>({1, 2, 3, 4})};
    std::vector<Tensor> fetched;
    const auto run = [&] { return session->Run({.spec = spec, .feed_values = feeds}, &fetched); };
    VIGIL_CHECK(run().ok());
    Measure(state, run);
    VIGIL_CHECK(session->Close().ok());
  });
}
BENCHMARK(ClusterStep)->Arg(0)->Arg(1)->Arg(4)->Arg(16);

// A session and its first step: discovery, cutting up, registering.
void ClusterSessionLife(benchmark::State& state) {
  ParameterGraph model(4);
  InWorld([&](const Env& env) {
    BenchCluster cluster(env, 4);
    for (auto _ : state) {
      const std::unique_ptr<Session> session = cluster.NewSession(model.graph);
      VIGIL_CHECK(RunTarget(*session, model.init).ok());
      VIGIL_CHECK(session->Close().ok());
    }
  });
}
BENCHMARK(ClusterSessionLife);

}  // namespace
}  // namespace vigil::bench
