// The worker service, asked over the network as a master or another task would.
#include "vigil/core/cluster/worker/worker_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/cluster/step_errors.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/core/graph/graph.pb.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/graph/node_def.pb.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Knows how many tasks there are.
class CountingTasks final : public ForwardingTasks {
 public:
  using ForwardingTasks::ForwardingTasks;
  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override {
    ++running;
    return inner().Spawn(name, [this, body = std::move(body)] {
      body();
      --running;
    });
  }
  int running = 0;
};

// One task, which has the graph "v = 5, sent to another task"; and a queue.
class WorkerServiceTest : public testing::Test {
 protected:
  WorkerServiceTest() : cluster_(CountedEnv(), {{"ps", 1}, {"worker", 1}}), graph_(BuiltinOps()), b_(graph_) {
    cluster_.Start("ps", 0);
    value_ = ops::Placeholder(b_, "value", DType::kDouble);
    const Attrs edge{{"tensor_name", std::string("edge_1_value")},
                     {"send_device", std::string("/job:ps/replica:0/task:0/device:CPU:0")},
                     {"send_device_incarnation", static_cast<std::int64_t>(device().incarnation())},
                     {"recv_device", std::string("/job:worker/replica:0/task:0/device:CPU:0")}};
    b_.Op("_Send", {ops::Identity(b_, "copy", value_)}, {.name = "send", .attrs = edge});
    key_ = RendezvousKey(graph_.node(*graph_.Find("send")));
    EXPECT_TRUE(b_.status().ok()) << b_.status();
  }
  ~WorkerServiceTest() override { fake_.tasks.EndAll(); }

  Env CountedEnv() {
    Env env = fake_.env();
    env.tasks = &tasks_;
    return env;
  }
  const proto::DeviceAttributes& device() { return cluster_.server("ps", 0).worker().device(); }
  WorkerService& worker() { return cluster_.server("ps", 0).worker(); }

  template <typename Response = proto::RunGraphResponse, typename Request>
  absl::StatusOr<Response> Ask(const std::string& method, const Request& request) {
    const NetworkReply reply = CallAndWait(fake_.env(), Call(method, request));
    if (!reply.ok()) return reply.status();
    Response response;
    EXPECT_TRUE(ParseBody(*reply, &response));
    return response;
  }
  template <typename Request>
  static NetworkRequest Call(const std::string& method, const Request& request) {
    return {.to = "ps0:2222",
            .method = "/tensorflow.WorkerService/" + method,
            .body = absl::Cord(request.SerializeAsString())};
  }

  std::string Register(const Graph& graph) {
    proto::RegisterGraphRequest request;
    request.set_graph_def(**GraphDefBytes(graph));
    const auto response = Ask<proto::RegisterGraphResponse>("RegisterGraph", request);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? response->graph_handle() : "";
  }
  proto::RunGraphRequest Step(const std::string& handle, std::int64_t step_id) {
    proto::RunGraphRequest request;
    request.set_graph_handle(handle);
    request.set_step_id(step_id);
    request.set_request_id(1000 + step_id);
    proto::NamedTensorProto& feed = *request.add_send();
    feed.set_name("value:0");
    ToProto(Tensor::Scalar<double>(5), feed.mutable_tensor());
    return request;
  }
  proto::RecvTensorRequest Receive(std::int64_t step_id) {
    proto::RecvTensorRequest request;
    request.set_step_id(step_id);
    request.set_rendezvous_key(key_);
    request.set_request_id(2000 + step_id);
    return request;
  }

  fakes::FakeEnv fake_;
  CountingTasks tasks_{*fake_.env().tasks};
  TestCluster cluster_;
  Graph graph_;
  Builder b_;
  Output value_;
  std::string key_;
};

// A request under way.
struct Asked {
  std::optional<NetworkReply> reply;
  std::uint64_t call = 0;
  static std::shared_ptr<Asked> Start(const Env& env, NetworkRequest request) {
    auto asked = std::make_shared<Asked>();
    asked->call =
        env.network->Start(std::move(request), [asked](NetworkReply reply) { asked->reply = std::move(reply); });
    return asked;
  }
};

TEST_F(WorkerServiceTest, TellsItsDevice) {
  const auto status = Ask<proto::GetStatusResponse>("GetStatus", proto::GetStatusRequest());
  ASSERT_TRUE(status.ok()) << status.status();
  ASSERT_EQ(status->device_attributes_size(), 1);
  EXPECT_EQ(status->device_attributes(0).name(), "/job:ps/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(status->device_attributes(0).device_type(), "CPU");
  const std::uint64_t incarnation = status->device_attributes(0).incarnation();
  cluster_.Crash("ps", 0);
  cluster_.Start("ps", 0);
  EXPECT_NE(device().incarnation(), incarnation);
}

TEST_F(WorkerServiceTest, AValueIsHandedOverWhoeverComesFirst) {
  const std::string handle = Register(graph_);
  EXPECT_TRUE(Ask("RunGraph", Step(handle, 1)).ok());
  EXPECT_EQ(worker().steps(), 1u) << "the value waits";
  auto value = Ask<proto::RecvTensorResponse>("RecvTensor", Receive(1));
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(FromProto(value->tensor())->scalar<double>(), 5);
  EXPECT_EQ(worker().steps(), 0u);

  const auto early = Asked::Start(fake_.env(), Call("RecvTensor", Receive(2)));
  fake_.tasks.RunReady();
  EXPECT_FALSE(early->reply.has_value());
  EXPECT_TRUE(Ask("RunGraph", Step(handle, 2)).ok());
  fake_.tasks.RunReady();
  ASSERT_TRUE(early->reply.has_value() && early->reply->ok());
  EXPECT_EQ(worker().steps(), 0u);
}

TEST_F(WorkerServiceTest, NoTaskWaitsForWhatHasNotBeenSentYet) {
  const std::string handle = Register(graph_);
  std::vector<std::shared_ptr<Asked>> all;
  for (int i = 1; i <= 100; ++i) all.push_back(Asked::Start(fake_.env(), Call("RecvTensor", Receive(i))));
  fake_.tasks.RunReady();
  EXPECT_EQ(tasks_.running, 0);
  EXPECT_EQ(worker().steps(), 100u);
  EXPECT_EQ(cluster_.server("ps", 0).load().under_way,
            (std::map<std::string, int>{{"/tensorflow.WorkerService/RecvTensor", 100}}));
  EXPECT_TRUE(Ask("RunGraph", Step(handle, 7)).ok());
  fake_.tasks.RunReady();
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i]->reply.has_value(), i == 6) << i;
  EXPECT_EQ(worker().steps(), 99u);
  for (const auto& each : all) fake_.network.Cancel(each->call);
  fake_.tasks.RunReady();
  EXPECT_EQ(worker().steps(), 0u);
  EXPECT_THAT(cluster_.server("ps", 0).load().under_way, testing::IsEmpty());
}

TEST_F(WorkerServiceTest, WhoWaitsForAValueHearsWhyAllStepsEnd) {
  const auto waits = Asked::Start(fake_.env(), Call("RecvTensor", Receive(1)));
  fake_.tasks.RunReady();
  EXPECT_FALSE(waits->reply.has_value());
  worker().EndAllSteps(MakeStatus(Code::kCancelled, "The server was stopped."));
  fake_.tasks.RunReady();
  ASSERT_TRUE(waits->reply.has_value());
  EXPECT_EQ(Text(waits->reply->status()), "CANCELLED: The server was stopped.");
  EXPECT_EQ(worker().steps(), 0u);
}

TEST_F(WorkerServiceTest, AStepThatIsEndedBeforeItComesDoesNotBegin) {
  const std::string handle = Register(graph_);
  worker().EndStep(1, MakeStatus(Code::kAborted, "over"));
  EXPECT_EQ(Text(Ask("RunGraph", Step(handle, 1)).status()), "CANCELLED: Step 1 is over.");
  EXPECT_TRUE(Ask("RunGraph", Step(handle, 2)).ok());
}

TEST_F(WorkerServiceTest, AnUnknownGraphMeansARestart) {
  const std::string handle = Register(graph_);
  cluster_.Crash("ps", 0);
  cluster_.Start("ps", 0);
  EXPECT_EQ(Text(Ask("RunGraph", Step(handle, 1)).status()),
            "ABORTED: Graph handle is not found: " + handle + ". Possibly, this worker just restarted.");
}

TEST_F(WorkerServiceTest, AForgottenGraphIsGone) {
  const std::string handle = Register(graph_);
  proto::DeregisterGraphRequest forget;
  forget.set_graph_handle(handle);
  EXPECT_TRUE(Ask("DeregisterGraph", forget).ok());
  EXPECT_EQ(CodeOf(Ask("RunGraph", Step(handle, 1)).status()), Code::kAborted);
  EXPECT_EQ(CodeOf(Ask("DeregisterGraph", forget).status()), Code::kAborted);
}

TEST_F(WorkerServiceTest, TheSameGraphMayBeThereTwice) {
  const std::string first = Register(graph_);
  const std::string second = Register(graph_);
  EXPECT_NE(first, second);
  EXPECT_TRUE(Ask("RunGraph", Step(first, 1)).ok());
  EXPECT_TRUE(Ask("RunGraph", Step(second, 2)).ok());
  proto::DeregisterGraphRequest forget;
  forget.set_graph_handle(first);
  EXPECT_TRUE(Ask("DeregisterGraph", forget).ok());
  EXPECT_TRUE(Ask("RunGraph", Step(second, 3)).ok());
  EXPECT_EQ(CodeOf(Ask("RunGraph", Step(first, 4)).status()), Code::kAborted);
  EXPECT_TRUE(Ask("RunGraph", Step(Register(graph_), 5)).ok());
}

TEST_F(WorkerServiceTest, ARepeatedRequestIsRefused) {
  const std::string handle = Register(graph_);
  EXPECT_TRUE(Ask("RunGraph", Step(handle, 1)).ok());
  EXPECT_THAT(Text(Ask("RunGraph", Step(handle, 1)).status()),
              StartsWith("ABORTED: The same RunGraph (GrpcWorker) request was received twice. graph_handle: "));
  EXPECT_TRUE(Ask("RecvTensor", Receive(1)).ok());
  EXPECT_THAT(Text(Ask("RecvTensor", Receive(1)).status()),
              StartsWith("ABORTED: The same RecvTensor (GrpcWorker) request was received twice. step_id: 1 "));
  // Without a number nothing is detected, but the step is over.
  proto::RunGraphRequest again = Step(handle, 1);
  again.clear_request_id();
  EXPECT_EQ(Text(Ask("RunGraph", again).status()), "CANCELLED: Step 1 is over.");
}

TEST_F(WorkerServiceTest, AnotherIncarnationIsNotMistakenForThisOne) {
  proto::RecvTensorRequest request = Receive(1);
  request.set_rendezvous_key("/job:ps/replica:0/task:0/device:CPU:0;00000000000000ff;there;edge;0:0");
  EXPECT_THAT(Text(Ask("RecvTensor", request).status()),
              StartsWith("ABORTED: RecvTensor expects a different device incarnation: 255 vs. "));
  request.set_request_id(0);
  for (const char* const key : {"", "a", "a;b", "a;zz;c", "/job:worker/replica:0/task:0/device:CPU:0;ff;c;d"}) {
    request.set_rendezvous_key(key);
    EXPECT_EQ(CodeOf(Ask("RecvTensor", request).status()), Code::kInvalidArgument) << key;
  }
  EXPECT_EQ(worker().steps(), 0u);
}

TEST_F(WorkerServiceTest, WhoWaitsForAStepThatFailsHearsWhy) {
  const std::string handle = Register(graph_);
  const auto waiting = Asked::Start(fake_.env(), Call("RecvTensor", Receive(1)));
  proto::RunGraphRequest unfed = Step(handle, 1);
  unfed.clear_send();
  const absl::Status cause = Ask("RunGraph", unfed).status();
  EXPECT_EQ(CodeOf(cause), Code::kInvalidArgument);
  EXPECT_FALSE(IsDerived(cause));
  fake_.tasks.RunReady();
  ASSERT_TRUE(waiting->reply.has_value());
  EXPECT_EQ(Text(waiting->reply->status()), Text(cause));
  EXPECT_TRUE(IsDerived(waiting->reply->status()));
  EXPECT_EQ(worker().steps(), 0u);
}

// On a slow connection the request comes when the step is over, and its answer is the first that the master hears.
TEST_F(WorkerServiceTest, WhoAsksWhenAStepHasFailedHearsWhy) {
  const std::string handle = Register(graph_);
  proto::RunGraphRequest unfed = Step(handle, 1);
  unfed.clear_send();
  const absl::Status cause = Ask("RunGraph", unfed).status();
  EXPECT_EQ(CodeOf(cause), Code::kInvalidArgument);
  EXPECT_EQ(worker().steps(), 0u);
  const absl::Status late = Ask("RecvTensor", Receive(1)).status();
  EXPECT_EQ(Text(late), Text(cause));
  EXPECT_TRUE(IsDerived(late));
}

TEST_F(WorkerServiceTest, ACleanedUpStepKeepsNothingAndBeginsNoMore) {
  const std::string handle = Register(graph_);
  EXPECT_TRUE(Ask("RunGraph", Step(handle, 1)).ok());
  proto::CleanupGraphRequest cleanup;
  cleanup.set_step_id(1);
  EXPECT_TRUE(Ask("CleanupGraph", cleanup).ok());
  EXPECT_EQ(worker().steps(), 0u);
  const absl::Status late = Ask("RecvTensor", Receive(1)).status();
  EXPECT_EQ(CodeOf(late), Code::kAborted);
  EXPECT_TRUE(IsDerived(late));
  cleanup.set_step_id(2);
  const auto waiting = Asked::Start(fake_.env(), Call("RecvTensor", Receive(2)));
  fake_.tasks.RunReady();
  EXPECT_TRUE(Ask("CleanupGraph", cleanup).ok());
  fake_.tasks.RunReady();
  ASSERT_TRUE(waiting->reply.has_value());
  EXPECT_EQ(Text(waiting->reply->status()), "ABORTED: Cleanup of step 2");
  EXPECT_EQ(Text(Ask("RunGraph", Step(handle, 2)).status()), "CANCELLED: Step 2 is over.");
}

// A run that never came, for its graph went with its master: who asks for its value must not wait for ever, whether he
// comes before the master's successor or after it.
TEST_F(WorkerServiceTest, NobodyWaitsForAStepOfAMasterThatAnotherHasFollowed) {
  const auto is_there = [this](std::uint64_t incarnation, std::uint64_t start) {
    proto::GetStatusRequest request;
    request.set_master_task("/job:worker/replica:0/task:0");
    request.set_master_incarnation(incarnation);
    request.set_master_start(start);
    EXPECT_TRUE(Ask<proto::GetStatusResponse>("GetStatus", request).ok());
  };
  const auto receive = [this](std::int64_t step_id, std::uint64_t master) {
    proto::RecvTensorRequest request = Receive(step_id);
    request.set_master_incarnation(master);
    const auto asked = Asked::Start(fake_.env(), Call("RecvTensor", request));
    fake_.tasks.RunReady();
    return asked;
  };
  is_there(71, 1);
  const auto before = receive(1, 71);
  const auto of_another = receive(2, 99);
  const auto of_somebody = receive(3, 0);
  EXPECT_FALSE(before->reply.has_value()) << before->reply->status();
  is_there(72, 2);
  fake_.tasks.RunReady();
  const auto after = receive(4, 71);
  for (const Asked* const asked : {before.get(), after.get()}) {
    ASSERT_TRUE(asked->reply.has_value());
    EXPECT_THAT(Text(asked->reply->status()), AllOf(StartsWith("ABORTED: "), HasSubstr("was restarted")));
    EXPECT_TRUE(IsDerived(asked->reply->status()));
  }
  EXPECT_FALSE(of_another->reply.has_value() || of_somebody->reply.has_value());
  EXPECT_FALSE(receive(5, 72)->reply.has_value() || receive(6, 0)->reply.has_value());
  EXPECT_EQ(worker().steps(), 4u);
}

TEST_F(WorkerServiceTest, WhoWaitsInAQueueForAMasterThatAnotherHasFollowedIsWoken) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Attrs components{{"component_types", std::vector<DType>{DType::kInt64}}};
  b.Op("QueueDequeueV2", {b.Op("FIFOQueueV2", {}, {.name = "queue", .attrs = components})}, {.attrs = components});
  proto::RegisterGraphRequest registration;
  registration.set_graph_def(**GraphDefBytes(graph));
  registration.set_master_task("/job:worker/replica:0/task:0");
  registration.set_master_incarnation(71);
  registration.set_master_start(1);
  const auto registered = Ask<proto::RegisterGraphResponse>("RegisterGraph", registration);
  ASSERT_TRUE(registered.ok()) << registered.status();
  proto::RunGraphRequest step = Step(registered->graph_handle(), 1);
  step.clear_send();
  const auto run = Asked::Start(fake_.env(), Call("RunGraph", step));
  fake_.tasks.RunReady();
  EXPECT_FALSE(run->reply.has_value()) << run->reply->status();
  proto::GetStatusRequest follows;
  follows.set_master_task("/job:worker/replica:0/task:0");
  follows.set_master_incarnation(72);
  follows.set_master_start(2);
  EXPECT_TRUE(Ask<proto::GetStatusResponse>("GetStatus", follows).ok());
  fake_.tasks.RunReady();
  ASSERT_TRUE(run->reply.has_value());
  EXPECT_THAT(Text(run->reply->status()), AllOf(StartsWith("ABORTED: "), HasSubstr("was restarted")));
}

TEST_F(WorkerServiceTest, WhoWaitsInAQueueThatAResetForgotIsWokenByTheEndOfItsStep) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Attrs components{{"component_types", std::vector<DType>{DType::kInt64}}};
  for (const std::string shared : {"of all", ""}) {
    const Attrs attrs{{"component_types", std::vector<DType>{DType::kInt64}}, {"shared_name", shared}};
    b.Op("QueueDequeueV2", {b.Op("FIFOQueueV2", {}, {.attrs = attrs})}, {.attrs = components});
  }
  proto::RunGraphRequest step = Step(Register(graph), 1);
  step.clear_send();
  const auto run = Asked::Start(fake_.env(), Call("RunGraph", step));
  fake_.tasks.RunReady();
  EXPECT_TRUE(Ask("CleanupAll", proto::CleanupAllRequest()).ok());
  fake_.tasks.RunReady();
  EXPECT_FALSE(run->reply.has_value()) << run->reply->status();
  proto::CleanupGraphRequest cleanup;
  cleanup.set_step_id(1);
  EXPECT_TRUE(Ask("CleanupGraph", cleanup).ok());
  fake_.tasks.RunReady();
  ASSERT_TRUE(run->reply.has_value());
  EXPECT_THAT(Text(run->reply->status()), HasSubstr("Cleanup of step 1"));
}

TEST_F(WorkerServiceTest, ACallerThatGivesUpEndsItsRequests) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Attrs components{{"component_types", std::vector<DType>{DType::kInt64}}};
  const Output queue = b.Op("FIFOQueueV2", {}, {.name = "queue", .attrs = components});
  b.Op("QueueDequeueV2", {queue}, {.name = "dequeue", .attrs = components});
  proto::RunGraphRequest step = Step(Register(graph), 1);
  step.clear_send();
  const auto run = Asked::Start(fake_.env(), Call("RunGraph", step));
  const auto receive = Asked::Start(fake_.env(), Call("RecvTensor", Receive(2)));
  fake_.tasks.RunReady();
  EXPECT_FALSE(run->reply.has_value()) << run->reply->status();
  EXPECT_FALSE(receive->reply.has_value()) << receive->reply->status();
  EXPECT_EQ(worker().steps(), 2u);
  fake_.network.Cancel(run->call);
  fake_.network.Cancel(receive->call);
  fake_.tasks.RunReady();
  EXPECT_EQ(worker().steps(), 0u);
  // Nobody ran step 2: it may still come.
  EXPECT_TRUE(Ask("RunGraph", Step(Register(graph_), 2)).ok());
}

TEST_F(WorkerServiceTest, ARunThatIsCancelledSaysWhyItWas) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Attrs components{{"component_types", std::vector<DType>{DType::kInt64}}};
  b.Op("QueueDequeueV2", {b.Op("FIFOQueueV2", {}, {.name = "queue", .attrs = components})}, {.attrs = components});
  proto::RunGraphRequest step = Step(Register(graph), 1);
  step.clear_send();
  const auto run = Asked::Start(fake_.env(), Call("RunGraph", step));
  fake_.tasks.RunReady();
  worker().EndStep(1, MakeStatus(Code::kAborted, "its master was restarted"));
  fake_.tasks.RunReady();
  ASSERT_TRUE(run->reply.has_value());
  EXPECT_EQ(Text(run->reply->status()), "ABORTED: its master was restarted");
}

TEST_F(WorkerServiceTest, ContainersAreForgottenByName) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const auto held = [&b](const std::string& name, const std::string& container) {
    const Output v =
        b.Op("VariableV2", {}, {.name = name, .attrs = {{"dtype", DType::kDouble}, {"container", container}}});
    const Output set = ops::Assign(b, name + "/set", v, b.Const("c", Tensor::Scalar<double>(1)));
    return std::pair(v, set.node);
  };
  const auto [v, set_v] = held("v", "");
  const auto [w, set_w] = held("w", "mine");
  // Of the session alone.
  const Output queue =
      b.Op("FIFOQueueV2", {},
           {.name = "queue",
            .attrs = {{"component_types", std::vector<DType>{DType::kDouble}}, {"container", std::string("mine")}}});
  const NodeId put = b.Op("QueueEnqueueV2", {queue, b.Const("c", Tensor::Scalar<double>(1))}).node;
  const Output size = b.Op("QueueSizeV2", {queue});
  const auto session = cluster_.NewSession("ps", 0, graph, {.device_filters = {"/job:ps"}});
  EXPECT_TRUE(RunAll(*session, {v, w}, {set_v, set_w, put}).status.ok());
  const auto size_now = [&] { return RunAll(*session, {size}).values.at(0).scalar<std::int32_t>(); };
  EXPECT_EQ(size_now(), 1);
  proto::CleanupAllRequest request;
  request.add_container("mine");
  EXPECT_TRUE(Ask("CleanupAll", request).ok());
  EXPECT_TRUE(RunAll(*session, {v}).status.ok());
  EXPECT_EQ(CodeOf(RunAll(*session, {w}).status), Code::kFailedPrecondition);
  EXPECT_EQ(size_now(), 0);
  EXPECT_TRUE(Ask("CleanupAll", proto::CleanupAllRequest()).ok());
  EXPECT_EQ(CodeOf(RunAll(*session, {v}).status), Code::kFailedPrecondition);
}

TEST_F(WorkerServiceTest, NonsenseIsRefused) {
  EXPECT_EQ(CodeOf(Ask("Dance", proto::GetStatusRequest()).status()), Code::kUnimplemented);
  EXPECT_EQ(
      CodeOf(CallAndWait(fake_.env(),
                         {.to = "ps0:2222", .method = "/tensorflow.WorkerService/RunGraph", .body = absl::Cord("x")})
                 .status()),
      Code::kInvalidArgument);
  proto::RegisterGraphRequest graph;
  graph.set_graph_def("\x01\x02");
  EXPECT_EQ(CodeOf(Ask("RegisterGraph", graph).status()), Code::kInvalidArgument);
  proto::RunGraphRequest step = Step(Register(graph_), 1);
  step.add_recv_key("nothing:0");
  EXPECT_EQ(Text(Ask("RunGraph", step).status()), "USAGE: The graph has no 'nothing:0' to fetch.");
}

// What TensorFlow's masters ask, and ours do not.
TEST_F(WorkerServiceTest, AMasterOfTensorFlowsHasASessionHere) {
  proto::RegisterGraphRequest graph;
  graph.set_session_handle("its session");
  graph.set_create_worker_session_called(true);
  graph.set_graph_def(**GraphDefBytes(graph_));
  const auto add = [&] { return Ask<proto::RegisterGraphResponse>("RegisterGraph", graph); };
  EXPECT_THAT(Text(add().status()), AllOf(StartsWith("ABORTED"), HasSubstr("its session"), HasSubstr("restarted")));

  proto::CreateWorkerSessionRequest session;
  session.set_session_handle("its session");
  session.set_master_task("/job:worker/replica:0/task:0");
  session.set_master_incarnation(-7);
  EXPECT_TRUE(Ask<proto::CreateWorkerSessionResponse>("CreateWorkerSession", session).ok());
  const auto made = add();
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(worker().GraphSessions(),
            (std::map<std::string, std::uint64_t>{{"its session", static_cast<std::uint64_t>(-7)}}));
  proto::RunGraphRequest step = Step(made->graph_handle(), 1);
  step.mutable_exec_opts()->set_record_timeline(true);
  const auto ran = Ask("RunGraph", step);
  ASSERT_TRUE(ran.ok()) << ran.status();
  ASSERT_EQ(ran->step_stats().dev_stats_size(), 1) << "as TensorFlow's workers say it";
  EXPECT_EQ(ran->step_stats().dev_stats(0).device(), device().name());
  EXPECT_GT(ran->step_stats().dev_stats(0).node_stats_size(), 0);
  EXPECT_EQ(ran->node_stats_size(), 0);

  proto::DeleteWorkerSessionRequest over;
  over.set_session_handle("its session");
  for ([[maybe_unused]] const int time : {1, 2})
    EXPECT_TRUE(Ask<proto::DeleteWorkerSessionResponse>("DeleteWorkerSession", over).ok());
  EXPECT_EQ(worker().graphs(), 0u);
  EXPECT_THAT(Text(add().status()), StartsWith("ABORTED"));
}

TEST_F(WorkerServiceTest, WhatIsAskedForAndNotServedIsNamed) {
  const auto text = [this](const proto::CreateWorkerSessionRequest& session) {
    return Text(Ask<proto::CreateWorkerSessionResponse>("CreateWorkerSession", session).status());
  };
  proto::CreateWorkerSessionRequest alone;
  alone.set_isolate_session_state(true);
  EXPECT_THAT(text(alone), AllOf(StartsWith("UNIMPLEMENTED"), HasSubstr("isolate_session_state")));
  proto::CreateWorkerSessionRequest elsewhere;
  elsewhere.mutable_server_def()->set_cluster("some");
  EXPECT_THAT(text(elsewhere), AllOf(StartsWith("UNIMPLEMENTED"), HasSubstr("cluster_def")));
  proto::RunGraphRequest part = Step(Register(graph_), 1);
  part.set_is_partial(true);
  EXPECT_THAT(Text(Ask("RunGraph", part).status()), AllOf(StartsWith("UNIMPLEMENTED"), HasSubstr("partial_run")));
}

TEST_F(WorkerServiceTest, EdgesIntoTheHostsMemoryAreEdges) {
  proto::GraphDef def;
  ASSERT_TRUE(def.ParseFromString(**GraphDefBytes(graph_)));
  for (proto::NodeDef& node : *def.mutable_node()) {
    if (node.op() == "_Send") node.set_op("_HostSend");
  }
  proto::RegisterGraphRequest request;
  request.set_graph_def(def.SerializeAsString());
  const auto response = Ask<proto::RegisterGraphResponse>("RegisterGraph", request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_TRUE(Ask("RunGraph", Step(response->graph_handle(), 1)).ok());
  EXPECT_EQ(worker().steps(), 1u) << "the value waits to be fetched";
}

}  // namespace
}  // namespace vigil
