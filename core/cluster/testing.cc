#include "vigil/core/cluster/testing.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"

namespace vigil {

std::string Text(const absl::Status& status) {
  return status.ok() ? "OK" : fmt::format("{}: {}", CodeName(CodeOf(status)), MessageOf(status));
}

TestCluster::TestCluster(const Env& base, const Jobs& jobs) : base_(base) {
  ClusterSpec::Jobs spec;
  for (const auto& [job, count] : jobs) {
    std::vector<std::string> addresses;
    for (int i = 0; i < count; ++i) {
      addresses.push_back(fmt::format("{}{}:2222", job, i));
      const auto task = tasks_.emplace(std::pair(job, i), std::make_unique<OneTask>()).first;
      Adopt(*task->second);
    }
    spec.emplace(job, std::move(addresses));
  }
  Adopt(client_);
  spec_ = *ClusterSpec::Create(spec);
}

void TestCluster::Adopt(OneTask& task) {
  task.env = base_;
  task.env.process = &task.process;
  task.env.random = &task.random;
}

Server& TestCluster::Start(const std::string& job, int index) {
  OneTask& task = TaskOf(job, index);
  ++draws_;
  task.random.Set("device incarnation", {draws_ << 1 | 1});
  task.random.Set("request ids", {draws_ << 40});
  absl::StatusOr<std::unique_ptr<Server>> server =
      Server::Create(task.env, {.cluster = spec_, .job_name = job, .task_index = index});
  EXPECT_TRUE(server.ok()) << server.status();
  task.server = *std::move(server);
  return *task.server;
}

void TestCluster::StartAll() {
  for (const auto& [name, task] : tasks_) Start(name.first, name.second);
}

void TestCluster::StopAll() {
  for (const auto& [name, task] : tasks_) {
    if (task->server != nullptr) task->server->Stop();
  }
}

std::unique_ptr<Session> TestCluster::NewSession(const std::string& job, int task, const Graph& graph,
                                                 const SessionConfig& config) {
  ClusterSessionFactory factory(env(job, task));
  absl::StatusOr<std::unique_ptr<Session>> session = factory.Create(graph, server(job, task).target(), config);
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

std::unique_ptr<Session> TestCluster::NewRemoteSession(const std::string& job, int task, const Graph& graph,
                                                       const SessionConfig& config) {
  ClusterSessionFactory factory(client_.env);
  absl::StatusOr<std::unique_ptr<Session>> session = factory.Create(graph, server(job, task).target(), config);
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

RunOutcome RunAll(Session& session, std::vector<Output> fetches, std::vector<NodeId> targets,
                  std::vector<std::pair<Output, Tensor>> feeds, const RunOptions* options) {
  RunSpec spec{.fetches = std::move(fetches), .targets = std::move(targets)};
  std::vector<Tensor> values;
  for (auto& [output, value] : feeds) {
    spec.feeds.push_back(output);
    values.push_back(std::move(value));
  }
  RunOutcome out;
  out.status = session.Run({.spec = spec, .feed_values = values, .options = options}, &out.values);
  return out;
}

}  // namespace vigil
