// Two processes of one task at the master of another one: the earlier one was taken for dead, and lives on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/local_masters.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/graph/graph_def.h"

namespace vigil {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

const std::string kTask = "/job:worker/replica:0/task:0";

class SuccessorTest : public testing::Test {
 protected:
  SuccessorTest() : cluster_(fake_.env(), {{"ps", 1}, {"worker", 1}}), graph_(BuiltinOps()), b_(graph_) {
    DeviceScope scope(b_, "/job:ps/task:0");
    one_ = ops::Identity(b_, "one", b_.Const("value", Tensor::Scalar<double>(1)));
    const std::vector<DType> types{DType::kDouble};
    const Output queue = b_.Op("FIFOQueueV2", {}, {.name = "queue", .attrs = {{"component_types", types}}});
    never_ = b_.Op("QueueDequeueV2", {queue}, {.name = "never", .attrs = {{"component_types", types}}});
    EXPECT_TRUE(b_.status().ok()) << b_.status();
    cluster_.StartAll();
  }
  ~SuccessorTest() override { fake_.tasks.EndAll(); }

  // Of the worker's process, at the master of the parameter server.
  std::unique_ptr<Session> NewSession() {
    random_.Set("request ids", {++clients_ << 32});
    Env env = cluster_.env("worker", 0);
    env.random = &random_;
    ClusterSessionFactory factory(env);
    absl::StatusOr<std::unique_ptr<Session>> session =
        factory.Create(graph_, cluster_.server("ps", 0).target(), SessionConfig());
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *std::move(session) : nullptr;
  }
  absl::Status CreateFor(const std::string& task, std::uint64_t start) {
    proto::CreateSessionRequest request;
    request.set_graph_def(**GraphDefBytes(graph_));
    request.set_client_task(task);
    request.set_client_start(start);
    return CallAndWait(cluster_.client(), {.to = "ps0:2222",
                                           .method = methods::kCreateSession.text(),
                                           .body = absl::Cord(request.SerializeAsString())})
        .status();
  }
  std::size_t sessions() {
    fake_.tasks.RunReady();
    return cluster_.server("ps", 0).load().sessions;
  }

  fakes::FakeEnv fake_;
  fakes::SequenceRandom random_;
  std::uint64_t clients_ = 0;
  TestCluster cluster_;
  Graph graph_;
  Builder b_;
  Output one_, never_;
};

TEST_F(SuccessorTest, WithItWhatTheEarlierOneHasEnds) {
  const auto early = NewSession();
  EXPECT_EQ(Text(RunAll(*early, {one_}).status), "OK");
  absl::Status end;
  const auto waiting = fake_.env().tasks->Spawn("waits", [&] { end = RunAll(*early, {never_}).status; });
  fake_.tasks.RunReady();
  EXPECT_FALSE(waiting->done());
  cluster_.Crash("worker", 0);
  cluster_.Start("worker", 0);
  const auto late = NewSession();
  EXPECT_TRUE(waiting->Join(DeadlineAfter(fake_.env(), std::chrono::seconds(1))));
  EXPECT_EQ(CodeOf(end), Code::kAborted);
  EXPECT_THAT(Text(end), HasSubstr(kTask + " was restarted"));
  EXPECT_EQ(CodeOf(RunAll(*early, {one_}).status), Code::kAborted);
  EXPECT_EQ(Text(RunAll(*late, {one_}).status), "OK");
  EXPECT_EQ(sessions(), 1U);
}

// It would not make another one on a CANCELLED, as after a close of its own.
TEST_F(SuccessorTest, AStepThatHasFoundItsSessionJustBeforeHearsWhyItEnded) {
  const auto master = LocalMastersOf(cluster_.env("ps", 0)).Find(cluster_.server("ps", 0).target());
  proto::CreateSessionRequest request;
  request.set_graph_def(**GraphDefBytes(graph_));
  request.set_client_task(kTask);
  request.set_client_start(1);
  const std::string handle = master->CreateSession(request)->session_handle();
  std::vector<Tensor> fetched;
  const auto known = master->Prepare(handle, {.fetches = {"one:0"}});
  EXPECT_EQ(Text(master->RunStep(*known, {}, &fetched)), "OK");
  const auto other = master->Prepare(handle, {.fetches = {"value:0"}});
  cluster_.Crash("worker", 0);
  cluster_.Start("worker", 0);
  const auto successor = NewSession();
  for (const auto& step : {known, other}) {
    EXPECT_THAT(Text(master->RunStep(*step, {}, &fetched)), MatchesRegex("ABORTED: .*worker.* was restarted.*"));
  }
}

TEST_F(SuccessorTest, TheEarlierOneGetsNoOtherSession) {
  const std::string away = "/job:worker/replica:0/task:7";  // whom nobody asks who he is
  EXPECT_EQ(Text(CreateFor(away, 3)), "OK");
  const absl::Status refused = CreateFor(away, 2);
  EXPECT_EQ(CodeOf(refused), Code::kAborted);
  EXPECT_THAT(Text(refused), HasSubstr("its start 2, which is over"));
  EXPECT_EQ(Text(CreateFor(away, 3)), "OK");
  EXPECT_EQ(sessions(), 2U);
}

// Both wait for a task that is away; it is the later one that gets its session.
TEST_F(SuccessorTest, TheEarlierOneGetsNoSessionThatItHasWaitedFor) {
  const std::string away = "/job:worker/replica:0/task:7";  // whom nobody asks who he is
  cluster_.Crash("worker", 0);
  absl::Status early, late;
  const auto waits = fake_.env().tasks->Spawn("early", [&] { early = CreateFor(away, 2); });
  fake_.tasks.RunReady();
  const auto follows = fake_.env().tasks->Spawn("late", [&] { late = CreateFor(away, 3); });
  fake_.tasks.RunReady();
  EXPECT_FALSE(waits->done() || follows->done());
  cluster_.Start("worker", 0);
  const Time soon = DeadlineAfter(fake_.env(), std::chrono::seconds(5));
  EXPECT_TRUE(waits->Join(soon) && follows->Join(soon));
  EXPECT_THAT(Text(early), HasSubstr("its start 2, which is over"));
  EXPECT_EQ(Text(late), "OK");
  EXPECT_EQ(sessions(), 1U);
}

// Its client says so by the number of the request, which comes later.
TEST_F(SuccessorTest, ACreationThatWasGivenUpBeforeItCameComesToNothing) {
  const auto ask = [this](const std::string& method, const std::string& body) {
    return CallAndWait(cluster_.client(), {.to = "ps0:2222", .method = method, .body = absl::Cord(body)}).status();
  };
  proto::CloseSessionRequest gives_up;
  gives_up.set_created_by(77);
  EXPECT_EQ(Text(ask(methods::kCloseSession.text(), gives_up.SerializeAsString())), "OK");
  proto::CreateSessionRequest request;
  request.set_graph_def(**GraphDefBytes(graph_));
  request.set_request_id(77);
  EXPECT_NE(Text(ask(methods::kCreateSession.text(), request.SerializeAsString())), "OK");
  EXPECT_EQ(sessions(), 0U);
  request.set_request_id(78);
  EXPECT_EQ(Text(ask(methods::kCreateSession.text(), request.SerializeAsString())), "OK");
  EXPECT_EQ(sessions(), 1U);
}

// The name of a task may lead to its earlier process for a while: it says itself that it is not who is asked for.
TEST_F(SuccessorTest, ASessionIsMadeWithTheSuccessorOnly) {
  const auto ask = [this](std::uint64_t least) {
    proto::GetStatusRequest request;
    request.set_least_start(least);
    return Text(CallAndWait(cluster_.client(), {.to = "worker0:2222",
                                                .method = methods::kGetStatus.text(),
                                                .body = absl::Cord(request.SerializeAsString())})
                    .status());
  };
  EXPECT_EQ(ask(0), "OK");
  EXPECT_EQ(ask(1), "OK");
  EXPECT_THAT(ask(2), HasSubstr("this is its start 1, asked for is start 2"));
  absl::Status made;
  const auto creating = fake_.env().tasks->Spawn("creates", [&] { made = CreateFor(kTask, 2); });
  const auto later = [this](int s) { return DeadlineAfter(fake_.env(), std::chrono::seconds(s)); };
  EXPECT_FALSE(creating->Join(later(5)));
  cluster_.Crash("worker", 0);
  cluster_.Start("worker", 0);
  EXPECT_TRUE(creating->Join(later(2)));
  EXPECT_EQ(Text(made), "OK");
}

TEST_F(SuccessorTest, OthersAndThoseThatDoNotSayWhoTheyAreKeepTheirSessions) {
  const auto stranger = cluster_.NewRemoteSession("ps", 0, graph_);
  EXPECT_EQ(Text(CreateFor("/job:chief/replica:0/task:0", 1)), "OK");
  EXPECT_EQ(Text(CreateFor(kTask, 1)), "OK");
  EXPECT_EQ(Text(CreateFor("", 0)), "OK");
  EXPECT_EQ(Text(RunAll(*stranger, {one_}).status), "OK");
  EXPECT_EQ(sessions(), 4U);
}

TEST_F(SuccessorTest, AProcessIsWhatItsOnlyServerInThatClusterIs) {
  const std::string target = cluster_.server("ps", 0).target();
  LocalMasters& own = LocalMastersOf(cluster_.env("worker", 0));
  ASSERT_TRUE(own.OwnStart(target).has_value());
  EXPECT_EQ(own.OwnStart(target)->task, kTask);
  EXPECT_EQ(own.OwnStart(target)->number, 1U);
  EXPECT_FALSE(own.OwnStart("grpc://elsewhere:2222").has_value());
  EXPECT_FALSE(LocalMastersOf(cluster_.client()).OwnStart(target).has_value());
  const ClusterSpec spec = *ClusterSpec::Create({{"ps", std::vector<std::string>{"ps0:2222"}}});
  own.Add("grpc://second:1", {}, spec, {.task = "/job:second/replica:0/task:0", .number = 1});
  EXPECT_FALSE(own.OwnStart(target).has_value());
}

}  // namespace
}  // namespace vigil
