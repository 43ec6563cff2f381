// What a server says of what it holds, and for whom.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/server/testing.h"

namespace vigil {
namespace {

class LoadTest : public testing::Test {
 protected:
  LoadTest() : cluster_(BaseEnv(), {{"ps", 2}, {"worker", 1}}), graph_(BuiltinOps()), b_(graph_) {
    for (const int task : {0, 1}) {
      const DeviceScope scope(b_, fmt::format("/job:ps/task:{}", task));
      const std::string name = fmt::format("v{}", task);
      inits_.push_back(ops::MakeVariable(b_, name, b_.Const(name + "/zero", Tensor::Scalar<double>(0))).initializer);
    }
    both_ = b_.Group("both", inits_).node;
    EXPECT_TRUE(b_.status().ok()) << b_.status();
    cluster_.StartAll();
  }
  ~LoadTest() override { fake_.tasks.EndAll(); }

  Env BaseEnv() {
    Env env = fake_.env();
    env.network = &network_;
    return env;
  }
  Server::Load LoadOf(const std::string& job, int task) {
    fake_.tasks.RunReady();
    return cluster_.server(job, task).load();
  }

  fakes::FakeEnv fake_;
  FaultyNetwork network_{fake_.network};
  TestCluster cluster_;
  Graph graph_;
  Builder b_;
  std::vector<NodeId> inits_;
  NodeId both_ = kNoNode;
};

// A session is not needed for it, which may not come about.
TEST_F(LoadTest, AGoodbyeThatGetsLostForGoodIsSaidToWhoIsThereThoughAnotherIsNot) {
  {
    const auto session = cluster_.NewSession("worker", 0, graph_);
    EXPECT_EQ(Text(RunAll(*session, {}, {inits_[0]}).status), "OK");
    network_.LoseRequests("DeregisterGraph", 1000);
    EXPECT_EQ(Text(session->Close()), "OK");
  }
  network_.Heal();
  cluster_.Crash("ps", 1);
  SessionConfig config;
  config.create_timeout = std::chrono::seconds(10);
  ClusterSessionFactory factory(cluster_.env("worker", 0));
  EXPECT_EQ(CodeOf(factory.Create(graph_, cluster_.server("worker", 0).target(), config).status()), Code::kUnavailable);
  EXPECT_EQ(LoadOf("ps", 0).graphs, 0u);
}

// The session after it has all its graphs by then, and a step of it never lasts so long that the servers are asked.
TEST_F(LoadTest, AGoodbyeThatGetsLostForGoodIsSaidWithTheNextStep) {
  {
    const auto session = cluster_.NewSession("worker", 0, graph_);
    EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
    network_.LoseRequests("DeregisterGraph", 1000);
    EXPECT_EQ(Text(session->Close()), "OK");
  }
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  for (const int task : {0, 1}) EXPECT_EQ(LoadOf("ps", task).graphs, 2u);
  network_.Heal();
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  for (const int task : {0, 1}) EXPECT_EQ(LoadOf("ps", task).graphs, 1u);
}

TEST_F(LoadTest, WhoDoesNotAnswerInTimeIsNotThere) {
  const Env env = cluster_.env("worker", 0);
  EXPECT_TRUE(Answers(env, "ps0:2222", std::chrono::seconds(5)));
  const auto silent = env.network->Listen("silent:1", [&env](IncomingCall&) -> NetworkReply {
    env.tasks->SleepUntil(DeadlineAfter(env, std::chrono::seconds(60)));
    return absl::Cord();
  });
  ASSERT_TRUE(silent.ok());
  EXPECT_FALSE(Answers(env, "silent:1", std::chrono::seconds(5)));
  env.tasks->SleepUntil(DeadlineAfter(env, std::chrono::seconds(60)));  // until that one has given up, too
  cluster_.Crash("ps", 1);
  EXPECT_FALSE(Answers(env, "ps1:2222", std::chrono::seconds(5)));
}

TEST_F(LoadTest, ALoadSaysWhoseGraphsThereAreAndWhichStepsRun) {
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  const Server::Load master = LoadOf("worker", 0);
  ASSERT_EQ(master.running.size(), 1u);
  EXPECT_EQ(master.running.begin()->second, 0u);
  for (const int task : {0, 1}) {
    const Server::Load load = LoadOf("ps", task);
    EXPECT_NE(load.incarnation, master.incarnation);
    EXPECT_EQ(load.registered_by,
              (std::map<std::string, std::uint64_t>{{master.running.begin()->first, master.incarnation}}));
    EXPECT_TRUE(load.running.empty());
  }
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_TRUE(LoadOf("worker", 0).running.empty());
  EXPECT_TRUE(LoadOf("ps", 0).registered_by.empty());
}

}  // namespace
}  // namespace vigil
