// What servers keep for others goes when these have let go of it, however they did; and what is under way ends within a
// bound, whatever the other tasks do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/local_masters.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/cluster/recent_ids.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

using testing::HasSubstr;

constexpr Duration kKeepalive = std::chrono::seconds(10);

// One variable on a parameter server, and a step that adds to it what the worker has.
class ResourcesTest : public testing::Test {
 protected:
  ResourcesTest() : cluster_(BaseEnv(), {{"ps", 2}, {"worker", 1}}), graph_(BuiltinOps()), b_(graph_) {
    {
      DeviceScope scope(b_, "/job:ps/task:0");
      v_ = ops::MakeVariable(b_, "v", b_.Const("zero", Tensor::Scalar<double>(0)));
    }
    Output more;
    {
      DeviceScope scope(b_, "/job:worker/task:0");
      more = ops::Identity(b_, "more", b_.Const("one", Tensor::Scalar<double>(1)));
    }
    add_ = ops::AssignAdd(b_, "add", v_.ref, more).node;
    {
      DeviceScope scope(b_, "/job:ps/task:1");
      other_ = ops::MakeVariable(b_, "w", b_.Const("other", Tensor::Scalar<double>(0)));
    }
    both_ = b_.Group("both", {v_.initializer, other_.initializer}).node;
    EXPECT_TRUE(b_.status().ok()) << b_.status();
    cluster_.StartAll();
  }
  ~ResourcesTest() override { fake_.tasks.EndAll(); }

  Env BaseEnv() {
    Env env = fake_.env();
    env.network = &network_;
    return env;
  }
  Server::Load LoadOf(const std::string& job, int task) {
    fake_.tasks.RunReady();
    return cluster_.server(job, task).load();
  }
  void ExpectNothingLeft() {
    for (const auto& [job, task] : {std::pair("ps", 0), {"ps", 1}, {"worker", 0}}) {
      const Server::Load load = LoadOf(job, task);
      EXPECT_EQ(load.steps, 0u) << job << task;
      EXPECT_EQ(load.graphs, 0u) << job << task;
      EXPECT_EQ(load.sessions, 0u) << job << task;
      EXPECT_EQ(load.calls, 0u) << job << task;
      EXPECT_TRUE(load.under_way.empty()) << job << task << ": " << load.under_way.begin()->first;
    }
  }
  void Sleep(Duration time) { fake_.env().tasks->SleepUntil(DeadlineAfter(fake_.env(), time)); }
  template <typename Method>
  NetworkRequest RequestOf(const Method& method, const typename Method::Request& request) {
    return {.to = "worker0:2222", .method = method.text(), .body = absl::Cord(request.SerializeAsString())};
  }
  // A session that is asked for by hand, so that its client can go without a word.
  std::string SessionByHand(std::int64_t request_id = 0, bool kept = false) {
    proto::CreateSessionRequest request;
    request.set_graph_def(**GraphDefBytes(graph_));
    request.set_request_id(request_id);
    request.set_kept(kept);
    request.mutable_config()->set_keepalive_ns(kept ? kKeepalive.count() : 0);
    const NetworkReply reply = CallAndWait(cluster_.client(), RequestOf(methods::kCreateSession, request));
    EXPECT_TRUE(reply.ok()) << reply.status();
    proto::CreateSessionResponse response;
    EXPECT_TRUE(reply.ok() && ParseBody(*reply, &response));
    return response.session_handle();
  }

  fakes::FakeEnv fake_;
  FaultyNetwork network_{fake_.network};
  TestCluster cluster_;
  Graph graph_;
  Builder b_;
  ops::Variable v_, other_;
  NodeId add_ = kNoNode;
  NodeId both_ = kNoNode;
};

TEST_F(ResourcesTest, AStepThatFailsAfterTheOwnPartHasEndedLeavesNoValueBehind) {
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Text(RunAll(*session, {}, {v_.initializer}).status), "OK");
  network_.LoseRequests("RecvTensor", 1);
  EXPECT_EQ(CodeOf(RunAll(*session, {}, {add_}).status), Code::kUnavailable);
  EXPECT_EQ(LoadOf("worker", 0).steps, 0u);
  EXPECT_EQ(LoadOf("ps", 0).steps, 0u);
  EXPECT_EQ(Text(RunAll(*session, {}, {add_}).status), "OK");
  EXPECT_EQ(Text(session->Close()), "OK");
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, ARegistrationWhoseAnswerIsLostLeavesNoGraphBehind) {
  const auto session = cluster_.NewSession("worker", 0, graph_);
  network_.LoseReplies("RegisterGraph", 1);
  EXPECT_EQ(CodeOf(RunAll(*session, {}, {both_}).status), Code::kUnavailable);
  EXPECT_EQ(LoadOf("ps", 0).graphs, 0u);
  EXPECT_EQ(LoadOf("ps", 1).graphs, 0u);
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  EXPECT_EQ(LoadOf("ps", 0).graphs, 1u);
  EXPECT_EQ(Text(session->Close()), "OK");
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, ARegistrationThatTimesOutIsTakenBackWhereItWasMade) {
  const auto session = cluster_.NewSession("worker", 0, graph_, {.operation_timeout_in_ms = 2000});
  network_.Mute("ps1:2222");
  EXPECT_EQ(CodeOf(RunAll(*session, {}, {both_}).status), Code::kDeadlineExceeded);
  EXPECT_EQ(LoadOf("ps", 0).graphs, 0u);
}

TEST_F(ResourcesTest, ARegistrationFailsWithItsFirstErrorWhateverOthersAreSilent) {
  const auto session = cluster_.NewSession("worker", 0, graph_, {.operation_timeout_in_ms = 2000});
  for (const char* silent : {"ps0:2222", "ps1:2222"}) {
    network_.Mute(silent);
    network_.LoseRequests("RegisterGraph", 1);  // of the other one
    const Time start = fake_.clock.Monotonic();
    EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "UNAVAILABLE: Connection reset by peer") << silent;
    EXPECT_EQ(fake_.clock.Monotonic(), start) << silent;
    network_.Heal();
  }
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  EXPECT_EQ(Text(session->Close()), "OK");
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, AGraphThatIsDeregisteredBeforeItComesDoesNotCome) {
  proto::DeregisterGraphRequest drop;
  drop.set_graph_handle("0000000000000abc");
  NetworkRequest request{
      .to = "ps0:2222", .method = methods::kDeregisterGraph.text(), .body = absl::Cord(drop.SerializeAsString())};
  EXPECT_EQ(CodeOf(CallAndWait(cluster_.client(), request).status()), Code::kAborted);
  proto::RegisterGraphRequest late;
  late.set_graph_def(**GraphDefBytes(Graph(BuiltinOps())));
  late.set_graph_id(0xabc);
  request.method = methods::kRegisterGraph.text();
  request.body = absl::Cord(late.SerializeAsString());
  EXPECT_EQ(CodeOf(CallAndWait(cluster_.client(), request).status()), Code::kCancelled);
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, AServerStopsWhileAPeerIsSilentDuringARegistration) {
  const auto near = cluster_.NewSession("worker", 0, graph_);
  const auto far = cluster_.NewRemoteSession("worker", 0, graph_);
  network_.Mute("ps0:2222");
  absl::Status ends[2];
  const auto first = fake_.env().tasks->Spawn("near", [&] { ends[0] = RunAll(*near, {}, {both_}).status; });
  const auto second = fake_.env().tasks->Spawn("far", [&] { ends[1] = RunAll(*far, {}, {both_}).status; });
  fake_.tasks.RunReady();
  EXPECT_FALSE(first->done() || second->done());
  const Time start = fake_.clock.Monotonic();
  cluster_.server("worker", 0).Stop();
  first->Join(kNever);
  EXPECT_EQ(fake_.clock.Monotonic(), start);
  EXPECT_EQ(Text(ends[0]), "CANCELLED: Step was cancelled by an explicit call to `Session::Close()`.");
  second->Join(kNever);  // asks again for a while: nobody serves there any more
  EXPECT_FALSE(ends[1].ok());
}

TEST_F(ResourcesTest, AClientThatGoesEndsTheRegistrationForItsStep) {
  proto::RunStepRequest step;
  step.set_session_handle(SessionByHand());
  step.add_target("both");
  network_.Mute("ps0:2222");
  const std::uint64_t call =
      cluster_.client().network->Start(RequestOf(methods::kRunStep, step), [](const NetworkReply&) {});
  EXPECT_EQ(LoadOf("worker", 0).under_way.size(), 1u);
  EXPECT_EQ(LoadOf("ps", 1).graphs, 1u);
  EXPECT_EQ(network_.waiting(), 1u);  // the registration
  const Time start = fake_.clock.Monotonic();
  cluster_.client().network->Cancel(call);
  EXPECT_TRUE(LoadOf("worker", 0).under_way.empty());
  EXPECT_EQ(LoadOf("ps", 1).graphs, 0u);
  EXPECT_EQ(network_.count("RegisterGraph"), 2);
  EXPECT_EQ(network_.count("RunGraph"), 0);
  EXPECT_EQ(fake_.clock.Monotonic(), start);
}

TEST_F(ResourcesTest, AResetEndsWithinAMinuteOrWithItsServer) {
  const std::string target = cluster_.server("worker", 0).target();
  network_.Mute("ps0:2222");
  const Time start = fake_.clock.Monotonic();
  EXPECT_THAT(Text(ResetCluster(cluster_.env("worker", 0), target)), HasSubstr("DEADLINE_EXCEEDED: Reset: "));
  EXPECT_EQ(fake_.clock.Monotonic() - start, std::chrono::seconds(60));
  absl::Status end;
  const auto reset = fake_.env().tasks->Spawn("reset", [&] { end = ResetCluster(cluster_.env("worker", 0), target); });
  fake_.tasks.RunReady();
  const Time stop = fake_.clock.Monotonic();
  cluster_.server("worker", 0).Stop();
  reset->Join(kNever);
  EXPECT_EQ(Text(end), "CANCELLED: The server was stopped.");
  EXPECT_EQ(fake_.clock.Monotonic(), stop);
}

TEST_F(ResourcesTest, AListingOfDevicesEndsWithItsClient) {
  cluster_.Crash("ps", 0);
  const std::uint64_t call = cluster_.client().network->Start(
      RequestOf(methods::kListDevices, proto::ListDevicesRequest()), [](const NetworkReply&) {});
  EXPECT_EQ(LoadOf("worker", 0).under_way.size(), 1u);
  cluster_.client().network->Cancel(call);
  EXPECT_TRUE(LoadOf("worker", 0).under_way.empty());
}

TEST_F(ResourcesTest, AListingOfDevicesEndsWithItsServer) {
  cluster_.Crash("ps", 0);
  const std::shared_ptr<MasterInterface> master =
      LocalMastersOf(cluster_.env("worker", 0)).Find(cluster_.server("worker", 0).target());
  ASSERT_NE(master, nullptr);
  absl::Status end;
  const auto listing = fake_.env().tasks->Spawn("listing", [&] { end = master->ListDevices("").status(); });
  fake_.tasks.RunReady();
  EXPECT_FALSE(listing->done());
  cluster_.server("worker", 0).Stop();
  EXPECT_TRUE(listing->Join(DeadlineAfter(fake_.env(), std::chrono::seconds(10))));
  EXPECT_EQ(Text(end), "CANCELLED: The server was stopped.");
}

TEST_F(ResourcesTest, ACreationWhoseAnswerIsLostMakesOneSession) {
  network_.LoseReplies("CreateSession", 2);
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(LoadOf("worker", 0).sessions, 1u);
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  EXPECT_EQ(Text(session->Close()), "OK");
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, ACreationThatIsGivenUpLeavesNoSession) {
  network_.LoseReplies("CreateSession", 1000);
  ClusterSessionFactory factory(cluster_.client());
  const auto session =
      factory.Create(graph_, cluster_.server("worker", 0).target(), {.create_timeout = std::chrono::seconds(1)});
  EXPECT_EQ(CodeOf(session.status()), Code::kUnavailable);
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, AGoodbyeThatGetsLostTwiceLeavesNoSession) {
  network_.LoseReplies("CreateSession", 1000);
  network_.LoseRequests("CloseSession", 2);
  ClusterSessionFactory factory(cluster_.client());
  const std::string target = cluster_.server("worker", 0).target();
  EXPECT_FALSE(factory.Create(graph_, target, {.create_timeout = std::chrono::seconds(1)}).ok());
  ExpectNothingLeft();
  network_.Heal();
  network_.LoseRequests("CloseSession", 2);
  cluster_.NewRemoteSession("worker", 0, graph_) = nullptr;
  ExpectNothingLeft();
  EXPECT_EQ(network_.count("CloseSession"), 6);
}

TEST_F(ResourcesTest, AGoodbyeToAGraphOrAStepThatGetsLostTwiceIsHeard) {
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Text(RunAll(*session, {}, {v_.initializer}).status), "OK");
  network_.LoseRequests("RecvTensor", 1);
  network_.LoseRequests("CleanupGraph", 2);
  EXPECT_EQ(CodeOf(RunAll(*session, {}, {add_}).status), Code::kUnavailable);
  EXPECT_EQ(LoadOf("ps", 0).steps, 0u);
  EXPECT_EQ(network_.count("CleanupGraph"), 3);
  network_.Heal();
  network_.LoseRequests("DeregisterGraph", 2);
  EXPECT_EQ(Text(session->Close()), "OK");
  ExpectNothingLeft();
}

// As a connection that breaks while a session ends.
TEST_F(ResourcesTest, AGoodbyeThatGetsLostForGoodIsSaidToTheNextSession) {
  {
    const auto session = cluster_.NewSession("worker", 0, graph_);
    EXPECT_EQ(Text(RunAll(*session, {}, {v_.initializer}).status), "OK");
    network_.LoseRequests("DeregisterGraph", 1000);
    EXPECT_EQ(Text(session->Close()), "OK");
  }
  EXPECT_EQ(LoadOf("ps", 0).graphs, 1u);
  network_.Heal();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(LoadOf("ps", 0).graphs, 0u) << "somebody has asked for its devices";
  EXPECT_EQ(Text(RunAll(*session, {}, {v_.initializer}).status), "OK");
  EXPECT_EQ(LoadOf("ps", 0).graphs, 1u) << "its own";
  EXPECT_EQ(Text(session->Close()), "OK");
  ExpectNothingLeft();
}

// A process that dies says no goodbye; the one that follows it does so by coming.
TEST_F(ResourcesTest, TheGraphsOfADeadMasterGoWhenItsTaskIsBack) {
  auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  network_.LoseRequests("DeregisterGraph", 1000);
  session = nullptr;
  cluster_.Crash("worker", 0);
  EXPECT_EQ(LoadOf("ps", 0).graphs, 1u);
  network_.Heal();
  cluster_.Start("worker", 0);
  session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(LoadOf("ps", 0).graphs, 0u);  // the new session has asked for its device
  EXPECT_EQ(LoadOf("ps", 1).graphs, 0u);  // and here, where it may never have any work
  EXPECT_EQ(Text(RunAll(*session, {}, {v_.initializer}).status), "OK");
  EXPECT_EQ(LoadOf("ps", 0).graphs, 1u);
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  EXPECT_EQ(LoadOf("ps", 1).graphs, 1u);
  EXPECT_EQ(Text(session->Close()), "OK");
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, ASessionWhoseClientHasDiedIsClosed) {
  const std::string session = SessionByHand(1, true);
  SessionByHand(2, false);  // of a client that never says that it is there
  proto::RunStepRequest step;
  step.set_session_handle(session);
  step.add_target("both");
  EXPECT_TRUE(CallAndWait(cluster_.client(), RequestOf(methods::kRunStep, step)).ok());
  EXPECT_EQ(LoadOf("ps", 1).graphs, 1u);
  Sleep(kKeepalive * 3 / 2);
  EXPECT_EQ(LoadOf("worker", 0).sessions, 2u);
  Sleep(kKeepalive * 2);
  EXPECT_EQ(LoadOf("worker", 0).sessions, 1u);
  EXPECT_EQ(LoadOf("ps", 1).graphs, 0u);
  EXPECT_EQ(CodeOf(CallAndWait(cluster_.client(), RequestOf(methods::kRunStep, step)).status()), Code::kAborted);
}

TEST_F(ResourcesTest, ASessionThatRestsWaitsForNobody) {
  const auto session = cluster_.NewSession("worker", 0, graph_, {.keepalive = kKeepalive});
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  network_.LoseReplies("RunGraph", 1);
  EXPECT_EQ(CodeOf(RunAll(*session, {}, {both_}).status), Code::kUnavailable);
  EXPECT_EQ(LoadOf("worker", 0).calls, 0u);
  network_.Mute("ps0:2222");
  const auto run = fake_.env().tasks->Spawn("run", [&] { RunAll(*session, {}, {add_}).status.IgnoreError(); });
  EXPECT_EQ(LoadOf("worker", 0).calls, 1u);
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_TRUE(run->Join(kNever));
  EXPECT_EQ(LoadOf("worker", 0).calls, 0u);
}

TEST_F(ResourcesTest, AResetThatIsAnsweredLeavesNoCall) {
  EXPECT_EQ(Text(ResetCluster(cluster_.client(), cluster_.server("worker", 0).target())), "OK");
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, ASessionWhoseClientLivesStays) {
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_, {.keepalive = kKeepalive});
  Sleep(kKeepalive * 20);
  EXPECT_EQ(LoadOf("worker", 0).sessions, 1u);
  EXPECT_EQ(LoadOf("worker", 0).under_way.count("watch tasks"), 1u) << "what runs without being asked counts, too";
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  EXPECT_EQ(network_.count("KeepSession"), 80);
  EXPECT_EQ(Text(session->Close()), "OK");
  cluster_.NewRemoteSession("worker", 0, graph_, {.keepalive = kKeepalive}) = nullptr;
  const int beats = network_.count("KeepSession");
  Sleep(kKeepalive * 5);
  EXPECT_EQ(network_.count("KeepSession"), beats);
  ExpectNothingLeft();
}

// A process may end with the call, and with it the tasks that register and run.
TEST_F(ResourcesTest, ACloseItselfGivesBackWhatIsBeingRegistered) {
  const auto session = cluster_.NewSession("worker", 0, graph_);
  network_.Mute("ps0:2222");
  const auto run = fake_.env().tasks->Spawn("run", [&] { EXPECT_FALSE(RunAll(*session, {}, {both_}).status.ok()); });
  fake_.tasks.RunReady();
  EXPECT_FALSE(run->done());
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_EQ(network_.count("DeregisterGraph"), 2);
  run->Join(kNever);
  EXPECT_EQ(network_.count("DeregisterGraph"), 2);
}

TEST_F(ResourcesTest, ACloseItselfGivesBackWhatRuns) {
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Text(RunAll(*session, {}, {both_}).status), "OK");
  network_.Mute("ps0:2222");
  const auto run = fake_.env().tasks->Spawn("run", [&] { EXPECT_FALSE(RunAll(*session, {}, {both_}).status.ok()); });
  fake_.tasks.RunReady();
  EXPECT_FALSE(run->done());
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_EQ(network_.count("CleanupGraph"), 2);
  run->Join(kNever);
  EXPECT_EQ(network_.count("CleanupGraph"), 2);
}

TEST_F(ResourcesTest, ACloseThatDoesNotGetThroughIsSaidAgain) {
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  network_.LoseRequests("CloseSession", 12);  // those of the call itself, which gives up, and one more
  EXPECT_EQ(CodeOf(session->Close()), Code::kUnavailable);
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, AGoodbyeIsNotSaidForEver) {
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  network_.LoseRequests("CloseSession", 1000);
  EXPECT_FALSE(session->Close().ok());
  const int closes = network_.count("CloseSession");
  cluster_.NewRemoteSession("worker", 0, graph_) = nullptr;
  EXPECT_EQ(network_.count("CloseSession"), closes + 3);
}

// Gone when the search for devices has just found the last one: what looks for that while it searches does not see it.
TEST_F(ResourcesTest, ACreationForAClientThatIsGoneMakesNoSession) {
  proto::CreateSessionRequest request;
  request.set_graph_def(**GraphDefBytes(graph_));
  std::uint64_t call = 0;
  bool found = false;
  network_.AfterReply("GetStatus", 2, [&] {
    found = true;
    cluster_.client().network->Cancel(call);
  });
  call = cluster_.client().network->Start(RequestOf(methods::kCreateSession, request), [](const NetworkReply&) {});
  fake_.tasks.RunReady();
  EXPECT_TRUE(found);
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, ACreationWhoseClientGoesEndsItsSearchForDevices) {
  cluster_.Crash("ps", 0);
  proto::CreateSessionRequest request;
  request.set_graph_def(**GraphDefBytes(graph_));
  const std::uint64_t call =
      cluster_.client().network->Start(RequestOf(methods::kCreateSession, request), [](const NetworkReply&) {});
  EXPECT_EQ(LoadOf("worker", 0).under_way.size(), 1u);
  cluster_.client().network->Cancel(call);
  EXPECT_TRUE(LoadOf("worker", 0).under_way.empty());
  cluster_.Start("ps", 0);
  fake_.clock.Advance(std::chrono::seconds(2));
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, ARequestThatComesLateMakesNoSessionThatWasClosed) {
  const std::string session = SessionByHand(7);
  EXPECT_EQ(SessionByHand(7), session);
  proto::CloseSessionRequest close;
  close.set_session_handle(session);
  EXPECT_TRUE(CallAndWait(cluster_.client(), RequestOf(methods::kCloseSession, close)).ok());
  proto::CreateSessionRequest late;
  late.set_graph_def(**GraphDefBytes(graph_));
  late.set_request_id(7);
  EXPECT_EQ(CodeOf(CallAndWait(cluster_.client(), RequestOf(methods::kCreateSession, late)).status()), Code::kAborted);
  ExpectNothingLeft();
}

TEST_F(ResourcesTest, ACreationIsKnownForAsLongAsItsSessionLives) {
  const std::string session = SessionByHand(7);
  proto::RunStepRequest of_another;
  of_another.set_session_handle("another");
  for (std::int64_t id = 1000; id < 1000 + 3 * std::int64_t{RecentIds::kAtLeast}; ++id) {
    of_another.set_request_id(id);
    EXPECT_FALSE(CallAndWait(cluster_.client(), RequestOf(methods::kRunStep, of_another)).ok());
  }
  EXPECT_EQ(SessionByHand(7), session);
  EXPECT_EQ(LoadOf("worker", 0).sessions, 1u);
}

TEST_F(ResourcesTest, AStoppedServerStopsLookingForDevicesAndMakesNoSession) {
  cluster_.Crash("ps", 0);
  const std::string target = cluster_.server("worker", 0).target();
  absl::Status end;
  const auto making = fake_.env().tasks->Spawn(
      "making", [&] { end = ClusterSessionFactory(cluster_.env("worker", 0)).Create(graph_, target, {}).status(); });
  fake_.tasks.RunReady();
  const Time stop = fake_.clock.Monotonic();
  cluster_.server("worker", 0).Stop();
  making->Join(kNever);
  EXPECT_EQ(Text(end), "CANCELLED: The server was stopped.");
  EXPECT_LE(fake_.clock.Monotonic() - stop, std::chrono::seconds(10));
  EXPECT_EQ(CodeOf(cluster_.server("worker", 0).Start()), Code::kUsage);
}

TEST_F(ResourcesTest, AFeedThatIsNoTensorIsSaidWhereTheRequestWantsErrors) {
  proto::RunStepRequest request;
  proto::NamedTensorProto& feed = *request.add_feed();
  feed.set_name("in:0");
  feed.mutable_tensor()->set_dtype(proto::DT_FLOAT);
  feed.mutable_tensor()->set_tensor_content("abc");
  EXPECT_THAT(Text(CallAndWait(cluster_.client(), RequestOf(methods::kRunStep, request)).status()),
              HasSubstr("INVALID_ARGUMENT: The tensor 'in:0' cannot be read: "));
  request.set_store_errors_in_response_body(true);
  const NetworkReply reply = CallAndWait(cluster_.client(), RequestOf(methods::kRunStep, request));
  proto::RunStepResponse response;
  ASSERT_TRUE(reply.ok() && ParseBody(*reply, &response)) << reply.status();
  EXPECT_EQ(response.status_code(), static_cast<int>(Code::kInvalidArgument));
}

// As TensorFlow's client asks for them (master_service.proto).
class CallablesTest : public ResourcesTest {
 protected:
  template <typename Method>
  absl::StatusOr<typename Method::Response> Ask(const Method& method, const typename Method::Request& request) {
    const NetworkReply reply = CallAndWait(cluster_.client(), RequestOf(method, request));
    if (!reply.ok()) return reply.status();
    typename Method::Response response;
    EXPECT_TRUE(ParseBody(*reply, &response));
    return response;
  }
  absl::StatusOr<proto::MakeCallableResponse> Make(const std::string& session, const std::string& fetch,
                                                   std::int64_t request_id = 0, bool traced = false) {
    proto::MakeCallableRequest request;
    request.set_session_handle(session);
    if (traced) {
      request.mutable_options()->mutable_run_options()->set_trace_level(static_cast<int>(TraceLevel::kFullTrace));
    }
    request.set_request_id(request_id);
    request.mutable_options()->add_feed("more:0");
    request.mutable_options()->add_fetch(fetch);
    return Ask(methods::kMakeCallable, request);
  }
  absl::StatusOr<proto::RunCallableResponse> RunIt(const std::string& session, std::int64_t handle, int feeds,
                                                   std::int64_t request_id = 0) {
    proto::RunCallableRequest request;
    request.set_session_handle(session);
    request.set_handle(handle);
    request.set_request_id(request_id);
    for (int i = 0; i < feeds; ++i) ToProto(Tensor::Scalar<double>(5), request.add_feed());
    return Ask(methods::kRunCallable, request);
  }
  absl::Status Release(const std::string& session, std::int64_t handle) {
    proto::ReleaseCallableRequest request;
    request.set_session_handle(session);
    request.set_handle(handle);
    return Ask(methods::kReleaseCallable, request).status();
  }
  static double ValueOf(const absl::StatusOr<proto::RunCallableResponse>& response) {
    EXPECT_TRUE(response.ok()) << response.status();
    EXPECT_EQ(response.ok() ? response->fetch_size() : 0, 1);
    return response.ok() ? FromProto(response->fetch(0))->scalar<double>() : -1;
  }
};

TEST_F(CallablesTest, RunAsOftenAsTheyAreAskedForAndGoWithTheirSession) {
  const std::string session = SessionByHand();
  proto::RunStepRequest init;
  init.set_session_handle(session);
  init.add_target("both");
  ASSERT_TRUE(Ask(methods::kRunStep, init).ok());
  const auto made = Make(session, "add:0", 77);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(ValueOf(RunIt(session, made->handle(), 1, 78)), 5);
  EXPECT_EQ(ValueOf(RunIt(session, made->handle(), 1)), 10);
  EXPECT_THAT(Text(RunIt(session, made->handle(), 1, 78).status()),
              HasSubstr("ABORTED: The same RunCallable (Master) request was received twice."));
  EXPECT_THAT(Text(Make(session, "add:0", 77).status()), HasSubstr("The same MakeCallable (Master)"));
  EXPECT_THAT(Text(RunIt(session, made->handle(), 2).status()), HasSubstr("Expected 1 feed tensors, but got 2."));
  EXPECT_TRUE(Release(session, made->handle()).ok());
  EXPECT_THAT(Text(RunIt(session, made->handle(), 1).status()), HasSubstr("No such callable handle: 1"));
  EXPECT_THAT(Text(Release(session, 5)), HasSubstr("No such callable handle: 5"));
  proto::CloseSessionRequest close;
  close.set_session_handle(session);
  ASSERT_TRUE(Ask(methods::kCloseSession, close).ok());
  EXPECT_EQ(CodeOf(RunIt(session, made->handle(), 1).status()), Code::kAborted);
  ExpectNothingLeft();
}

TEST_F(CallablesTest, TellOfTheirRunsIfThatWasAskedFor) {
  const std::string session = SessionByHand();
  proto::RunStepRequest init;
  init.set_session_handle(session);
  init.add_target("both");
  ASSERT_TRUE(Ask(methods::kRunStep, init).ok());
  for (const bool traced : {false, true}) {
    const auto made = Make(session, "add:0", 0, traced);
    ASSERT_TRUE(made.ok()) << made.status();
    const auto ran = RunIt(session, made->handle(), 1);
    ASSERT_TRUE(ran.ok()) << ran.status();
    EXPECT_EQ(ran->has_metadata(), traced);
    EXPECT_EQ(ran->metadata().DebugString().find("node_name: \"add\"") != std::string::npos, traced)
        << ran->metadata().DebugString();
  }
}

TEST_F(CallablesTest, WhatIsWrongWithThemIsSaidWhenTheyAreMade) {
  const std::string session = SessionByHand();
  EXPECT_THAT(Text(Make(session, "nothing:0").status()), HasSubstr("nothing"));
  EXPECT_EQ(CodeOf(Make("no session", "add:0").status()), Code::kAborted);
  proto::MakeCallableRequest request;
  request.set_session_handle(session);
  (*request.mutable_options()->mutable_fetch_devices())["add:0"] = "/gpu:0";
  EXPECT_THAT(Text(Ask(methods::kMakeCallable, request).status()),
              HasSubstr("CallableOptions.fetch_devices is not supported"));
}

}  // namespace
}  // namespace vigil
