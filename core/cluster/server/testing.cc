#include "vigil/core/cluster/server/testing.h"

#include <fmt/format.h>

#include "vigil/core/base/code.h"

namespace vigil {

std::string Text(const absl::Status& status) {
  return status.ok() ? "OK" : fmt::format("{}: {}", CodeName(CodeOf(status)), MessageOf(status));
}

void FaultyNetwork::Heal() {
  muted_.clear();
  lost_requests_.clear();
  lost_replies_.clear();
  changed_replies_.clear();
}

int FaultyNetwork::count(const std::string& method) const {
  const auto it = counts_.find(method);
  return it == counts_.end() ? 0 : it->second;
}

void FaultyNetwork::Replied(const std::string& method) {
  const auto it = hooks_.find(method);
  if (it == hooks_.end() || --it->second.left > 0) return;
  const std::function<void()> then = std::move(it->second.then);
  hooks_.erase(it);
  then();
}

bool FaultyNetwork::Take(std::map<std::string, int>& rules, const std::string& method) {
  const auto it = rules.find(method);
  if (it == rules.end() || it->second == 0) return false;
  --it->second;
  return true;
}

std::uint64_t FaultyNetwork::Start(NetworkRequest request, std::function<void(NetworkReply)> done) {
  const std::string method = request.method.substr(request.method.rfind('/') + 1);
  ++counts_[method];
  if (muted_.contains(request.to)) {
    unanswered_.emplace(++last_unanswered_, std::move(done));
    return last_unanswered_;
  }
  if (Take(lost_requests_, method)) {
    done(MakeStatus(Code::kUnavailable, "Connection reset by peer"));
    return ++last_unanswered_;
  }
  if (Take(changed_replies_, method)) {
    done = [change = changes_.at(method), answer = std::move(done)](NetworkReply reply) {
      if (reply.ok()) change(*reply);
      answer(std::move(reply));
    };
  }
  if (hooks_.contains(method)) {
    done = [this, method, answer = std::move(done)](NetworkReply reply) {
      answer(std::move(reply));
      Replied(method);
    };
  }
  if (!Take(lost_replies_, method)) return inner_.Start(std::move(request), std::move(done));
  return inner_.Start(std::move(request), [done = std::move(done)](const NetworkReply&) {
    done(MakeStatus(Code::kUnavailable, "Connection reset by peer"));
  });
}

void FaultyNetwork::Cancel(std::uint64_t call) {
  if (const auto it = unanswered_.find(call); it != unanswered_.end()) {
    const std::function<void(NetworkReply)> done = std::move(it->second);
    unanswered_.erase(it);
    done(MakeStatus(Code::kCancelled, "CANCELLED"));
    return;
  }
  inner_.Cancel(call);
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

Server& TestCluster::Start(const std::string& job, int index, const OpRegistry* ops) {
  OneTask& task = TaskOf(job, index);
  ++draws_;
  task.random.Set("device incarnation", {draws_ << 1 | 1});
  // Above what the names of two tasks may differ in: else one's numbers may begin a few hundred before another's.
  task.random.Set("request ids", {draws_ << 48});
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Create(
      task.env, {.cluster = spec_, .job_name = job, .task_index = index, .start_number = ++task.starts, .ops = ops});
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
