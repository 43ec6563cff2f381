// Sessions on a cluster, as their user sees them.
#include "vigil/core/cluster/client/cluster_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/cluster/worker.pb.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(ClusterSessionTest, TrainsVariablesOfTwoServers) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  EXPECT_EQ(Text(RunAll(*session, {}, {train_}, {{x_, Number(2)}}).status), "OK");
  EXPECT_EQ(Fetch(*session, v_.ref), 1 + 22);
  EXPECT_EQ(Fetch(*session, w_.read), 10 + 11);
  ExpectNoSteps();
  // Another task sees the same variables.
  const auto other = cluster_.NewSession("worker", 1, graph_);
  EXPECT_EQ(Fetch(*other, sum_), 23 + 21);
}

TEST_F(ClusterSessionTest, AFeedThatIsTooLargeIsNamedBeforeAnythingIsSent) {
  cluster_.StartAll();
  const Tensor large(DType::kDouble, Shape({1000}));
  const Output copied = ops::Identity(b_, "copied", x_);
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Text(RunAll(*session, {}, {copied.node}, {{x_, large}}).status), "OK");
  network_.SetMessageLimit(7999);
  const int sent = network_.count("RunStep");
  EXPECT_EQ(Text(RunAll(*session, {}, {copied.node}, {{x_, large}}).status),
            "RESOURCE_EXHAUSTED: The tensor 'x:0' of /tensorflow.MasterService/RunStep has 8000 bytes, the most is "
            "7999: send a large tensor in parts.");
  EXPECT_EQ(network_.count("RunStep"), sent);
  EXPECT_EQ(Text(RunAll(*session, {copied}, {}, {{x_, Number(1)}}).status), "OK");
  EXPECT_THAT(Text(RunAll(*session, {b_.Const("zeros", large)}, {}).status),
              StartsWith("RESOURCE_EXHAUSTED: The tensor 'zeros:0' of /tensorflow.MasterService/RunStep has"));
}

TEST_F(ClusterSessionTest, AValueThatIsTooLargeIsNamedByWhoHasIt) {
  cluster_.StartAll();
  Output wide;
  {
    DeviceScope scope(b_, "/job:ps/task:1");
    wide = b_.Op("AddV2", {b_.Const("zeros", Tensor(DType::kDouble, Shape({1000}))), x_}, {.name = "wide"});
  }
  const Output far = ops::Identity(b_, "far", wide);
  const auto session = cluster_.NewSession("worker", 0, graph_);
  const auto away = cluster_.NewRemoteSession("worker", 0, graph_);
  network_.SetMessageLimit(7999);
  EXPECT_THAT(Text(RunAll(*session, {}, {far.node}, {{x_, Number(1)}}).status),
              AllOf(StartsWith("RESOURCE_EXHAUSTED: The tensor '/job:ps/replica:0/task:1/"), HasSubstr("_wide"),
                    HasSubstr("' of /tensorflow.WorkerService/RecvTensor has 8000 bytes, the most is 7999")));
  EXPECT_THAT(
      Text(RunAll(*session, {wide}, {}, {{x_, Number(1)}}).status),
      StartsWith("RESOURCE_EXHAUSTED: The tensor 'wide:0' of /tensorflow.WorkerService/RunGraph has 8000 bytes"));
  network_.SetMessageLimit(8000);
  EXPECT_EQ(Text(RunAll(*session, {wide}, {}, {{x_, Number(1)}}).status), "OK");
  EXPECT_EQ(Text(RunAll(*away, {far}, {}, {{x_, Number(1)}}).status), "OK");
  ExpectNoSteps();
}

TEST_F(ClusterSessionTest, AStepTellsEachTaskOnceAndARepeatedOneRegistersNothing) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  EXPECT_EQ(network_.count("RegisterGraph"), 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Text(RunAll(*session, {sum_}, {train_}, {{x_, Number(2)}}).status), "OK");
  }
  EXPECT_EQ(network_.count("RegisterGraph"), 4);
  EXPECT_EQ(network_.count("RunGraph"), 2 + 3 * 2);
  EXPECT_EQ(network_.count("RecvTensor"), 3 * 4);
  EXPECT_EQ(network_.count("CleanupGraph"), 0);
}

TEST_F(ClusterSessionTest, FetchesComeInTheirOrderFromAllTasks) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const RunOutcome out = RunAll(*session, {w_.ref, x_, sum_, v_.read, w_.ref}, {}, {{x_, Number(7)}});
  ASSERT_TRUE(out.status.ok()) << out.status;
  std::vector<double> values;
  for (const Tensor& value : out.values) values.push_back(value.scalar<double>());
  EXPECT_THAT(values, ElementsAre(10, 7, 11, 1, 10));
}

TEST_F(ClusterSessionTest, FetchedVariablesAreReadLast) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const RunOutcome out = RunAll(*session, {v_.ref, v_.read}, {train_}, {{x_, Number(2)}});
  ASSERT_TRUE(out.status.ok()) << out.status;
  EXPECT_EQ(out.values[0].scalar<double>(), 23);
  EXPECT_EQ(out.values[1].scalar<double>(), 1);
}

TEST_F(ClusterSessionTest, AFedSumNeedsNoServer) {
  cluster_.Start("worker", 0);
  const auto session = cluster_.NewSession("worker", 0, graph_, {.device_filters = {"/job:worker/task:0"}});
  const RunOutcome out = RunAll(*session, {product_}, {}, {{x_, Number(2)}, {sum_, Number(4)}});
  ASSERT_TRUE(out.status.ok()) << out.status;
  EXPECT_EQ(out.values[0].scalar<double>(), 8);
}

TEST_F(ClusterSessionTest, ARemoteSessionDoesTheSame) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 1, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  EXPECT_EQ(Text(RunAll(*session, {}, {train_}, {{x_, Number(2)}}).status), "OK");
  EXPECT_EQ(Fetch(*session, v_.ref), 23);
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_EQ(Run(*session, init_), "USAGE: Attempted to use a closed Session.");
  EXPECT_EQ(network_.count("RunStep"), 3);
}

TEST_F(ClusterSessionTest, ErrorsOfOpsKeepCodeMessageAndNode) {
  cluster_.StartAll();
  for (const bool remote : {false, true}) {
    const auto session =
        remote ? cluster_.NewRemoteSession("worker", 0, graph_) : cluster_.NewSession("worker", 0, graph_);
    EXPECT_THAT(Text(RunAll(*session, {sum_}).status),
                AllOf(StartsWith("FAILED_PRECONDITION: Attempting to use uninitialized value "),
                      HasSubstr("\n\t [[{{node v"), testing::Not(HasSubstr("{{node sum}}"))))
        << remote;
    EXPECT_THAT(Run(*session, train_), StartsWith("INVALID_ARGUMENT: You must feed a value for placeholder")) << remote;
    ExpectNoSteps();
  }
}

TEST_F(ClusterSessionTest, CodesOfOurOwnCrossTheNetwork) {
  OpRegistry ops = BuiltinOps();
  ops.Register({.name = "NoMore", .output_types = Always({DType::kDouble}), .compute = [](KernelContext&) {
                  return WithOrigin(MakeStatus(Code::kStopIteration, "no more"), "an op");
                }});
  TestCluster cluster(BaseEnv(), {{"a", 1}, {"b", 1}});
  for (const char* const job : {"a", "b"}) cluster.Start(job, 0, &ops);
  Graph graph(ops);
  Builder b(graph);
  DeviceScope scope(b, "/job:b");
  const Output end = b.Op("NoMore", {}, {.name = "end"});
  for (const bool remote : {false, true}) {
    const auto session = remote ? cluster.NewRemoteSession("a", 0, graph) : cluster.NewSession("a", 0, graph);
    const absl::Status status = RunAll(*session, {end}).status;
    EXPECT_EQ(CodeOf(status), Code::kStopIteration);
    EXPECT_EQ(OriginOf(status), "an op");
    EXPECT_THAT(Text(status), StartsWith("STOP_ITERATION: no more\n"));
  }
}

TEST_F(ClusterSessionTest, WhatTheGraphDoesNotHaveIsToldAsByADirectSession) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  const auto direct = NewDirectSession(fake_.env(), graph_);
  RunSpec unknown{.unresolved = {"nothing:0"}};
  RunSpec twice{.feeds = {x_, x_}};
  RunSpec handle{.fetches = {queue_.handle}};
  for (const RunSpec& spec : {unknown, twice, handle}) {
    std::vector<Tensor> out;
    EXPECT_EQ(Text(session->Run({.spec = spec}, &out)), Text(direct->Run({.spec = spec}, &out)));
  }
  EXPECT_THAT(Text(RunAll(*session, {product_}, {}, {{x_, Tensor::Scalar<float>(1)}}).status),
              StartsWith("INVALID_ARGUMENT: Cannot feed a value of type float for 'x:0'"));
}

TEST_F(ClusterSessionTest, AGraphMayGrow) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const Output more = b_.Op("AddV2", {sum_, sum_}, {.name = "more"});
  EXPECT_EQ(Fetch(*session, more), 22);
  EXPECT_EQ(Fetch(*session, sum_), 11);
}

// On a parameter server and where the master is.
TEST_F(ClusterSessionTest, AQueueWithoutASharedNameIsItsSessionsAlone) {
  cluster_.StartAll();
  const Attrs types{{"component_types", std::vector<DType>{DType::kDouble}}};
  for (const std::string device : {"/job:ps/task:1", "/job:worker/task:0"}) {
    DeviceScope scope(b_, device);
    const auto queue = [&](const std::string& name, const std::string& shared_name) {
      Attrs attrs = types;
      if (!shared_name.empty()) attrs.emplace("shared_name", shared_name);
      return b_.Op("FIFOQueueV2", {}, {.name = name, .attrs = std::move(attrs)});
    };
    const Output own = queue("own", "");
    const Output shared = queue("shared", "shared by all");
    const Output one = b_.Const("one", Number(1));
    const std::vector<NodeId> put = {b_.Op("QueueEnqueueV2", {own, one}).node,
                                     b_.Op("QueueEnqueueV2", {shared, one}).node};
    const std::vector<Output> sizes = {b_.Op("QueueSizeV2", {own}), b_.Op("QueueSizeV2", {shared})};
    const auto sizes_in = [&](Session& session) {
      const RunOutcome ran = RunAll(session, sizes, {});
      EXPECT_EQ(Text(ran.status), "OK");
      return std::pair(ran.values[0].scalar<std::int32_t>(), ran.values[1].scalar<std::int32_t>());
    };
    const auto first = cluster_.NewSession("worker", 0, graph_);
    const auto second = cluster_.NewSession("worker", 0, graph_);
    EXPECT_EQ(Text(RunAll(*first, {}, put).status), "OK");
    EXPECT_EQ(sizes_in(*first), std::pair(1, 1)) << device;  // from one run to the next it stays
    EXPECT_EQ(sizes_in(*second), std::pair(0, 1)) << device;
    EXPECT_EQ(Text(RunAll(*second, {}, put).status), "OK");
    EXPECT_EQ(Text(first->Close()), "OK");
    EXPECT_EQ(sizes_in(*second), std::pair(1, 2)) << device;
    // Somebody still holds the first one, which holds nothing.
    const std::size_t here = device == "/job:worker/task:0" ? 1 : 0;
    EXPECT_EQ(cluster_.server("worker", 0).load().with_own, here) << device;
    const auto third = cluster_.NewSession("worker", 0, graph_);
    EXPECT_EQ(sizes_in(*third), std::pair(0, 2)) << device;
  }
}

TEST_F(ClusterSessionTest, CrossingSendsDoNotWaitForEachOther) {
  // Each task needs a value of the other before it can give its next one.
  cluster_.StartAll();
  Output value = v_.read;
  for (int i = 0; i < 20; ++i) {
    DeviceScope scope(b_, i % 2 == 0 ? "/job:ps/task:1" : "/job:worker/task:1");
    const Output other = ops::Identity(b_, "other", w_.ref);
    value = b_.Op("AddV2", {value, other}, {.name = "a"});
  }
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  EXPECT_EQ(Fetch(*session, value), 201);
  ExpectNoSteps();
}

TEST_F(ClusterSessionTest, ACloseEndsWhatWaitsOnAServer) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const auto hanging = HangIn(*session);
  EXPECT_EQ(cluster_.server("ps", 0).InLine(), 1u);
  EXPECT_EQ(Text(session->Close()), "OK");
  hanging->task->Join(kNever);
  EXPECT_EQ(Text(hanging->outcome.status), "CANCELLED: Step was cancelled by an explicit call to `Session::Close()`.");
  ExpectNoSteps();
  EXPECT_EQ(cluster_.server("ps", 0).InLine(), 0u);
  // The queue is as before.
  const auto again = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*again, enqueue_), "OK");
  EXPECT_EQ(RunAll(*again, {late_}).values[0].scalar<std::int64_t>(), 1);
}

TEST_F(ClusterSessionTest, ACloseFromAfarEndsWhatWaits) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const auto hanging = HangIn(*session);
  EXPECT_EQ(Text(session->Close()), "OK");
  hanging->task->Join(kNever);
  EXPECT_EQ(CodeOf(hanging->outcome.status), Code::kCancelled);
  ExpectNoSteps();
}

TEST_F(ClusterSessionTest, AClientThatGoesTakesItsStepAlong) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const RunOptions options{.timeout_in_ms = 3000};
  EXPECT_THAT(Text(RunAll(*session, {late_}, {}, {}, &options).status), StartsWith("DEADLINE_EXCEEDED: "));
  ExpectNoSteps();
}

TEST_F(ClusterSessionTest, ADeadServerIsUnavailableAndARestartedOneAborts) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  EXPECT_EQ(Fetch(*session, sum_), 11);
  const auto hanging = HangIn(*session);
  cluster_.Crash("ps", 0);
  hanging->task->Join(kNever);
  EXPECT_EQ(Text(hanging->outcome.status), "UNAVAILABLE: Socket closed");
  EXPECT_THAT(Text(RunAll(*session, {sum_}).status), StartsWith("UNAVAILABLE: failed to connect"));
  cluster_.Start("ps", 0);
  EXPECT_THAT(Text(RunAll(*session, {sum_}).status), StartsWith("ABORTED: "));
  EXPECT_THAT(Text(RunAll(*session, {v_.ref}).status), StartsWith("FAILED_PRECONDITION: "));  // registered only now
  ExpectNoSteps();
  const auto again = cluster_.NewSession("worker", 0, graph_);
  EXPECT_THAT(Text(RunAll(*again, {sum_}).status), StartsWith("FAILED_PRECONDITION: "));
  EXPECT_EQ(Run(*again, init_), "OK");
  EXPECT_EQ(Fetch(*again, sum_), 11);
}

// As TensorFlow's: recorded in replays/cluster/often.jsonl.
TEST_F(ClusterSessionTest, ACloseMayWaitUntilADeadServerIsBack) {
  cluster_.StartAll();
  for (const bool waits : {false, true}) {
    const auto session = cluster_.NewSession("worker", 0, graph_, {.waits_for_tasks = waits});
    EXPECT_EQ(Run(*session, init_), "OK");
    const auto hanging = HangIn(*session);
    cluster_.Crash("ps", 0);
    hanging->task->Join(kNever);
    const auto closes = fake_.env().tasks->Spawn("closes", [&] { EXPECT_EQ(Text(session->Close()), "OK"); });
    EXPECT_EQ(closes->Join(DeadlineAfter(fake_.env(), seconds(1000))), !waits);
    cluster_.Start("ps", 0);
    EXPECT_TRUE(closes->Join(DeadlineAfter(fake_.env(), seconds(2))));
    ExpectNoSteps();
  }
}

TEST_F(ClusterSessionTest, ACloseThatWaitsEndsWithTheServer) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_, {.waits_for_tasks = true});
  EXPECT_EQ(Run(*session, init_), "OK");
  const auto hanging = HangIn(*session);
  cluster_.Crash("ps", 0);
  hanging->task->Join(kNever);
  const auto closes = fake_.env().tasks->Spawn("closes", [&] { EXPECT_EQ(Text(session->Close()), "OK"); });
  EXPECT_FALSE(closes->Join(DeadlineAfter(fake_.env(), seconds(10))));
  cluster_.server("worker", 0).Stop();
  EXPECT_TRUE(closes->Join(DeadlineAfter(fake_.env(), seconds(2))));
}

// A step that stands still has no request left to the server whose death it should hear of.
TEST_F(ClusterSessionTest, TheDeathOfAServerEndsStepsThatWaitForAnother) {
  cluster_.StartAll();
  struct Case {
    Duration keepalive;
    bool restarts;
    std::string outcome;
  };
  for (const Case& c : {Case{seconds(120), true, "ABORTED: /job:ps/replica:0/task:1 was restarted"},
                        Case{seconds(120), false, "UNAVAILABLE: "}, Case{Duration::zero(), true, "OK"}}) {
    const auto session = cluster_.NewSession("worker", 0, graph_, {.keepalive = c.keepalive});
    EXPECT_EQ(Run(*session, init_), "OK");
    RunOutcome outcome;
    const auto waits = fake_.env().tasks->Spawn("waits", [&] { outcome = RunAll(*session, {late_}); });
    fake_.env().tasks->SleepUntil(DeadlineAfter(fake_.env(), seconds(1000)));
    EXPECT_FALSE(waits->done()) << "of a step that only waits nobody is lost";
    cluster_.Crash("ps", 1);
    if (c.restarts) cluster_.Start("ps", 1);
    const Time crashed = fake_.clock.Monotonic();
    if (c.keepalive == Duration::zero()) {
      EXPECT_FALSE(waits->Join(DeadlineAfter(fake_.env(), seconds(1000))));
      EXPECT_EQ(Run(*session, enqueue_), "OK");
    }
    waits->Join(kNever);
    EXPECT_THAT(Text(outcome.status), StartsWith(c.outcome));
    if (c.keepalive > Duration::zero()) {
      EXPECT_LE(fake_.clock.Monotonic() - crashed, seconds(240));
    }
    EXPECT_EQ(Text(session->Close()), "OK");
    if (!c.restarts) cluster_.Start("ps", 1);
    ExpectNoSteps();
  }
}

// As on TensorFlow's servers: a queue by its own node, when what comes before it has run; a variable before anything
// has.
TEST_F(ClusterSessionTest, NamesOfResourcesAreRefusedByTheServerThatHasThem) {
  cluster_.StartAll();
  const auto refused = [&](const std::string& op, Attrs attrs, const std::string& asks) {
    DeviceScope scope(b_, "/job:ps/task:1");
    const Output one = b_.Const("one", Number(1));
    const Output update = ops::AssignAdd(b_, "update", v_.ref, one);
    attrs["container"] = std::string("a_b");
    const Output bad = b_.Op(op, {}, {.name = "bad_" + op, .control_inputs = {update.node}, .attrs = std::move(attrs)});
    return b_.Op(asks, {bad}).node;
  };
  const NodeId queue = refused("FIFOQueueV2", {{"component_types", std::vector<DType>{DType::kInt64}}}, "QueueSizeV2");
  const NodeId variable =
      refused("VariableV2", {{"dtype", DType::kInt64}, {"shape", Shape()}}, "IsVariableInitialized");
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const std::string why = "INVALID_ARGUMENT: container contains invalid characters: a_b\n\t [[{{node bad_";
  EXPECT_EQ(Text(RunAll(*session, {}, {queue}).status), why + "FIFOQueueV2}}]]");
  EXPECT_EQ(Fetch(*session, v_.ref), 2);
  EXPECT_EQ(Text(RunAll(*session, {}, {variable}).status), why + "VariableV2}}]]");
  EXPECT_EQ(Fetch(*session, v_.ref), 2);
  ExpectNoSteps();
}

TEST_F(ClusterSessionTest, OfSeveralErrorsTheRootCauseIsReported) {
  // ps:1 fails; ps:0 hangs in a queue and the worker waits for both: they are only cancelled.
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_THAT(Text(RunAll(*session, {late_, w_.read}).status),
              StartsWith("FAILED_PRECONDITION: Attempting to use uninitialized value w\n\t [[{{node w"));
  ExpectNoSteps();
  EXPECT_EQ(network_.count("CleanupGraph"), 2);
}

TEST_F(ClusterSessionTest, TimeoutsEndAStepAlthoughAServerHangs) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_, {.operation_timeout_in_ms = 5000});
  EXPECT_EQ(Run(*session, init_), "OK");
  Time start = fake_.clock.Monotonic();
  EXPECT_THAT(Text(RunAll(*session, {late_}).status), StartsWith("DEADLINE_EXCEEDED: "));
  EXPECT_EQ(fake_.clock.Monotonic() - start, std::chrono::seconds(5));
  const RunOptions options{.timeout_in_ms = 200};
  start = fake_.clock.Monotonic();
  EXPECT_THAT(Text(RunAll(*session, {late_}, {}, {}, &options).status), StartsWith("DEADLINE_EXCEEDED: "));
  EXPECT_EQ(fake_.clock.Monotonic() - start, std::chrono::milliseconds(200));
  ExpectNoSteps();
}

TEST_F(ClusterSessionTest, TimeoutsEndAStepAlthoughAServerIsSilent) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_, {.operation_timeout_in_ms = 2000});
  EXPECT_EQ(Run(*session, init_), "OK");
  network_.Mute("ps0:2222");
  // One that is registered, one that is not.
  EXPECT_THAT(Run(*session, init_), StartsWith("DEADLINE_EXCEEDED: "));
  EXPECT_THAT(Text(RunAll(*session, {sum_}).status), StartsWith("DEADLINE_EXCEEDED: "));
  network_.Heal();
  EXPECT_EQ(Fetch(*session, sum_), 11);
}

// What another process calls a double, and what it says it is.
template <typename Message, typename Values>
std::function<void(absl::Cord&)> AsAFloat(Values values) {
  return [values](absl::Cord& reply) {
    Message message;
    ASSERT_TRUE(ParseBody(reply, &message));
    ToProto(Tensor::Scalar<float>(7), values(message));
    reply = absl::Cord(message.SerializeAsString());
  };
}

TEST_F(ClusterSessionTest, AValueOfATypeThatTheGraphDoesNotSayIsAnError) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  EXPECT_EQ(Fetch(*session, sum_), 11);
  network_.ChangeReplies("RecvTensor", 1,
                         AsAFloat<proto::RecvTensorResponse>([](auto& message) { return message.mutable_tensor(); }));
  EXPECT_THAT(Text(RunAll(*session, {sum_}).status),
              AllOf(StartsWith("INTERNAL: Output 0 of type float does not match declared output type double for node"),
                    HasSubstr("v/read")));
  network_.ChangeReplies("RunGraph", 1, AsAFloat<proto::RunGraphResponse>([](auto& message) {
                           return message.mutable_recv(0)->mutable_tensor();
                         }));
  EXPECT_THAT(Text(RunAll(*session, {v_.read}).status), StartsWith("INTERNAL: Output 0 of type float does not match"));
  network_.ChangeReplies("RunStep", 1, AsAFloat<proto::RunStepResponse>([](auto& message) {
                           return message.mutable_tensor(0)->mutable_tensor();
                         }));
  EXPECT_THAT(Text(RunAll(*session, {sum_}).status), StartsWith("INTERNAL: Output 0 of type float does not match"));
  EXPECT_EQ(Fetch(*session, sum_), 11);
}

TEST_F(ClusterSessionTest, ALostReplyIsNotExecutedTwice) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  network_.LoseReplies("RunStep", 1);
  EXPECT_THAT(Text(RunAll(*session, {}, {train_}, {{x_, Number(2)}}).status),
              StartsWith("ABORTED: The same RunStep (Master) request was received twice."));
  EXPECT_EQ(Fetch(*session, v_.ref), 23);
}

TEST_F(ClusterSessionTest, ALostRequestIsRepeatedUpToElevenTimesInFortyMilliseconds) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  network_.LoseRequests("RunStep", 10);
  EXPECT_EQ(Run(*session, init_), "OK");
  network_.LoseRequests("RunStep", 11);
  const Time start = fake_.clock.Monotonic();
  EXPECT_EQ(Run(*session, init_), "UNAVAILABLE: Connection reset by peer");
  const double took = ToSeconds(fake_.clock.Monotonic() - start);
  EXPECT_GT(took, 0.040);
  EXPECT_LT(took, 0.045);
}

// Or it would strike the session that has followed: a queue that it closes is of both.
TEST_F(ClusterSessionTest, ALostRequestOfASessionThatWasClosedMeanwhileIsNotRepeated) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const int sent = network_.count("RunStep");
  network_.LoseReplies("RunStep", 1);
  network_.AfterReply("RunStep", 1, [&] { EXPECT_EQ(Text(session->Close()), "OK"); });
  EXPECT_EQ(Run(*session, init_), "UNAVAILABLE: Connection reset by peer");
  EXPECT_EQ(network_.count("RunStep"), sent + 1);
}

TEST_F(ClusterSessionTest, AnUnavailableServerBehindTheMasterIsNotAskedAgain) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  cluster_.Crash("ps", 1);
  EXPECT_THAT(Run(*session, init_), StartsWith("UNAVAILABLE: failed to connect"));
  EXPECT_EQ(network_.count("RunStep"), 2);
}

TEST_F(ClusterSessionTest, AMasterThatRestartedDoesNotKnowItsSessions) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  cluster_.Crash("worker", 0);
  cluster_.Start("worker", 0);
  EXPECT_THAT(Run(*session, init_), testing::MatchesRegex("ABORTED: Session [0-9a-f]{16} is not found."));
}

}  // namespace
}  // namespace vigil
