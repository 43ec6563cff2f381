// Sessions on a cluster: answers that make no sense, prepared runs, traces, resets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/cluster/worker.pb.h"
#include "vigil/core/session/run_metadata.h"
#include "vigil/core/tensor/tensor_proto.h"

namespace vigil {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(ClusterSessionTest, AnswersThatMakeNoSenseAreOurBugs) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  const auto remote = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const auto less = [](absl::Cord& reply) { reply.Clear(); };
  network_.ChangeReplies("RunGraph", 1, less);
  EXPECT_EQ(Text(RunAll(*session, {v_.read}).status), "INTERNAL: RunGraph: malformed response");
  network_.Heal();
  network_.ChangeReplies("RunStep", 1, less);
  EXPECT_EQ(Text(RunAll(*remote, {sum_}).status), "INTERNAL: RunStep: malformed response");
  network_.ChangeReplies("RunStep", 1, [](absl::Cord& reply) { reply = "\xff"; });
  EXPECT_EQ(Text(RunAll(*remote, {sum_}).status), "INTERNAL: RunStep: malformed response");
  EXPECT_EQ(Fetch(*remote, sum_), 11);
  EXPECT_EQ(Fetch(*session, sum_), 11);
}

// The last of the answer's tensors has other bytes than its shape says.
template <typename Response>
void Spoil(google::protobuf::RepeatedPtrField<proto::NamedTensorProto>* (Response::*field)(), absl::Cord& reply) {
  Response response;
  ASSERT_TRUE(ParseBody(reply, &response));
  std::string& content = *(response.*field)()->rbegin()->mutable_tensor()->mutable_tensor_content();
  content = content.empty() ? "abc" : content.substr(1);  // of a small one it has the value as a number
  reply = response.SerializeAsString();
}

TEST_F(ClusterSessionTest, WhichValueCannotBeReadIsSaid) {
  const Output small =
      b_.Op("Reshape", {b_.Const("three", Number(3)), b_.Const("one", Tensor::Vector<int>({1}))}, {.name = "small"});
  const Tensor many(DType::kDouble, {5000});
  const Output large = b_.Op("AddV2", {b_.Const("zeros", many), w_.read}, {.name = "large"});
  ASSERT_TRUE(b_.status().ok()) << b_.status();
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  const auto remote = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  for (const Output fetch : {small, large}) {
    const std::string name = graph_.NameOf(fetch);
    network_.ChangeReplies("RunStep", 1,
                           [](absl::Cord& reply) { Spoil(&proto::RunStepResponse::mutable_tensor, reply); });
    EXPECT_THAT(Text(RunAll(*remote, {v_.read, fetch}).status),
                StartsWith("INVALID_ARGUMENT: The tensor '" + name + "' cannot be read: "));
  }
  network_.ChangeReplies("RunGraph", 1,
                         [](absl::Cord& reply) { Spoil(&proto::RunGraphResponse::mutable_recv, reply); });
  EXPECT_THAT(Text(RunAll(*session, {w_.read}).status),
              StartsWith("INVALID_ARGUMENT: The tensor 'w/read:0' cannot be read: "));
  EXPECT_EQ(Fetch(*session, w_.read), 10);
}

// Prepared by names, fed in the middle: what is fed is not computed, on whichever task it stands.
TEST_F(ClusterSessionTest, PreparedRuns) {
  cluster_.StartAll();
  for (const bool is_remote : {false, true}) {
    const auto session =
        is_remote ? cluster_.NewRemoteSession("worker", 0, graph_) : cluster_.NewSession("worker", 0, graph_);
    EXPECT_EQ(Run(*session, init_), "OK");
    const absl::StatusOr<CallableHandle> product =
        session->MakeCallable({.feed = {"sum:0", "x:0"}, .fetch = {"product:0", "sum"}, .target = {"v/add"}});
    ASSERT_TRUE(product.ok()) << product.status();
    for (int i = 0; i < 3; ++i) {
      std::vector<Tensor> out;
      const std::vector<Tensor> feeds = {Number(7), Number(2)};
      EXPECT_EQ(Text(session->RunCallable(*product, feeds, &out)), "OK");
      ASSERT_EQ(out.size(), 2u);
      EXPECT_EQ(out[0].scalar<double>(), 14);
      EXPECT_EQ(out[1].scalar<double>(), 7);
    }
    EXPECT_EQ(Fetch(*session, v_.read), 1 + 3 * 14);
    EXPECT_EQ(Text(session->RunCallable(*product, std::vector<Tensor>{Number(7), Number(2)}, nullptr)), "OK");
    const absl::StatusOr<CallableHandle> gradient = session->MakeCallable({.feed = {"v/read:0"}, .fetch = {"sum"}});
    ASSERT_TRUE(gradient.ok()) << gradient.status();
    std::vector<Tensor> out;
    const std::vector<Tensor> fed = {Number(5)};
    EXPECT_EQ(Text(session->RunCallable(*gradient, fed, &out)), "OK");
    EXPECT_EQ(out[0].scalar<double>(), 15);
    EXPECT_EQ(CodeOf(session->RunCallable(*gradient, {}, &out)), Code::kInvalidArgument);
    EXPECT_EQ(Text(session->ReleaseCallable(*gradient)), "OK");
    EXPECT_EQ(CodeOf(session->RunCallable(*gradient, fed, &out)), Code::kInvalidArgument);
    const CallableOptions partitions{.fetch = {"sum"}, .run_options = {.output_partition_graphs = true}};
    const absl::StatusOr<CallableHandle> refused = session->MakeCallable(partitions);
    const absl::Status why = refused.ok() ? session->RunCallable(*refused, {}, &out) : refused.status();
    EXPECT_THAT(Text(why), StartsWith("UNIMPLEMENTED: RunOptions.output_partition_graphs: "));
    std::string handle;
    EXPECT_EQ(CodeOf(session->PRunSetup({"x:0"}, {"product:0"}, {}, &handle)), Code::kUnimplemented);
    EXPECT_EQ(Text(session->Close()), "OK");
    const std::vector<Tensor> both = {Number(7), Number(2)};
    EXPECT_EQ(Text(session->RunCallable(*product, both, &out)), "CANCELLED: Session has been closed.");
  }
  ExpectNoSteps();
}

TEST_F(ClusterSessionTest, WhoWantsATraceButHasNoPlaceForItGetsNone) {
  cluster_.StartAll();
  const RunOptions options{.trace_level = TraceLevel::kFullTrace};
  for (const bool is_remote : {false, true}) {
    const auto session =
        is_remote ? cluster_.NewRemoteSession("worker", 0, graph_) : cluster_.NewSession("worker", 0, graph_);
    EXPECT_EQ(Run(*session, init_, &options), "OK");
  }
}

TEST_F(ClusterSessionTest, MetadataTellsOfAllTasks) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const RunSpec spec{.fetches = {sum_}};
  const RunOptions options{.trace_level = TraceLevel::kFullTrace};
  RunMetadata metadata;
  std::vector<Tensor> out;
  EXPECT_EQ(Text(session->Run({.spec = spec, .options = &options, .metadata = &metadata}, &out)), "OK");
  std::vector<std::string> nodes;
  for (const NodeStats& stats : metadata.step_stats) nodes.push_back(stats.node_name);
  EXPECT_THAT(nodes, testing::IsSupersetOf({"sum", "v/read", "w/read"}));
  for (const NodeStats& stats : metadata.step_stats) {
    const std::string_view task = stats.node_name == "sum"      ? "/job:worker/replica:0/task:0"
                                  : stats.node_name == "v/read" ? "/job:ps/replica:0/task:0"
                                  : stats.node_name == "w/read" ? "/job:ps/replica:0/task:1"
                                                                : "/job:";
    EXPECT_THAT(stats.device, AllOf(StartsWith(std::string(task)), HasSubstr("/device:CPU:0"))) << stats.node_name;
  }
  EXPECT_EQ(Text(session->Run({.spec = spec, .metadata = &metadata}, &out)), "OK");
  EXPECT_TRUE(metadata.step_stats.empty());
}

// What TensorFlow's clients read, and what ours do: they tell the same.
TEST_F(ClusterSessionTest, ATraceIsToldToClientsAsTensorFlowTellsIt) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const RunSpec spec{.fetches = {sum_}};
  const RunOptions options{.trace_level = TraceLevel::kFullTrace};
  RunMetadata ours;
  proto::RunStepResponse said;
  network_.ChangeReplies("RunStep", 1, [&](absl::Cord& reply) { EXPECT_TRUE(ParseBody(reply, &said)); });
  std::vector<Tensor> out;
  EXPECT_EQ(Text(session->Run({.spec = spec, .options = &options, .metadata = &ours}, &out)), "OK");
  std::vector<std::string> devices;
  for (const auto& device : said.metadata().step_stats().dev_stats()) devices.push_back(device.device());
  EXPECT_THAT(devices, testing::UnorderedElementsAre("/job:worker/replica:0/task:0/device:CPU:0",
                                                     "/job:ps/replica:0/task:0/device:CPU:0",
                                                     "/job:ps/replica:0/task:1/device:CPU:0"));
  EXPECT_EQ(said.metadata().SerializeAsString(), ToProto(ours).SerializeAsString());
  // As a server of TensorFlow's, which has no fields of ours, says it.
  network_.ChangeReplies("RunStep", 1, [&](absl::Cord& reply) {
    ASSERT_TRUE(ParseBody(reply, &said));
    said.clear_node_stats();
    reply = said.SerializeAsString();
  });
  RunMetadata theirs;
  EXPECT_EQ(Text(session->Run({.spec = spec, .options = &options, .metadata = &theirs}, &out)), "OK");
  EXPECT_EQ(theirs.step_stats.size(), ours.step_stats.size());
  EXPECT_EQ(said.metadata().SerializeAsString(), ToProto(theirs).SerializeAsString());
}

// TensorFlow's servers refuse what is fed and fetched, and give each name once, in an order of their own.
TEST_F(ClusterSessionTest, ARemoteMasterIsNotAskedForWhatIsFedAndAnswersInAnyOrderAndOnce) {
  cluster_.StartAll();
  const auto session = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  std::vector<std::string> answered;
  network_.ChangeReplies("RunStep", 1, [&answered](absl::Cord& reply) {
    proto::RunStepResponse response;
    ASSERT_TRUE(ParseBody(reply, &response));
    for (const auto& tensor : response.tensor()) answered.push_back(tensor.name());
    response.mutable_tensor()->RemoveLast();
    std::ranges::reverse(*response.mutable_tensor());
    reply = response.SerializeAsString();
  });
  const RunOutcome out = RunAll(*session, {v_.read, x_, product_, w_.read, x_, v_.read}, {}, {{x_, Number(3)}});
  EXPECT_EQ(Text(out.status), "OK");
  EXPECT_THAT(answered, ElementsAre("v/read:0", "product:0", "w/read:0", "v/read:0"));
  std::vector<double> values;
  for (const Tensor& value : out.values) values.push_back(value.scalar<double>());
  EXPECT_THAT(values, ElementsAre(1, 3, 33, 10, 3, 1));
  const int asked = network_.count("RunStep");
  const RunOutcome fed = RunAll(*session, {x_}, {}, {{x_, Number(3)}});
  ASSERT_EQ(Text(fed.status), "OK");
  EXPECT_EQ(fed.values[0].scalar<double>(), 3);
  EXPECT_EQ(network_.count("RunStep"), asked);
  network_.ChangeReplies("RunStep", 1, [](absl::Cord& reply) {
    proto::RunStepResponse response;
    ASSERT_TRUE(ParseBody(reply, &response));
    response.mutable_tensor(0)->set_name("another:0");
    reply = response.SerializeAsString();
  });
  EXPECT_EQ(Text(RunAll(*session, {sum_, v_.read}).status), "INTERNAL: RunStep: malformed response");
}

TEST_F(ClusterSessionTest, OnlyAFullTraceTraces) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  const auto remote = cluster_.NewRemoteSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const RunSpec spec{.fetches = {sum_}};
  for (const TraceLevel level :
       {TraceLevel::kNoTrace, TraceLevel::kSoftwareTrace, TraceLevel::kHardwareTrace, TraceLevel::kFullTrace}) {
    for (const bool reports : {false, true}) {
      const RunOptions options{.trace_level = level, .report_tensor_allocations_upon_oom = reports};
      RunMetadata metadata;
      std::vector<Tensor> out;
      for (Session* const each : {session.get(), remote.get()}) {
        EXPECT_EQ(Text(each->Run({.spec = spec, .options = &options, .metadata = &metadata}, &out)), "OK");
        EXPECT_EQ(!metadata.step_stats.empty(), level == TraceLevel::kFullTrace) << static_cast<int>(level) << reports;
      }
    }
  }
}

// It may be large, and the next step of the same kind far away.
TEST_F(ClusterSessionTest, WhatWasFedAndFetchedIsNotKept) {
  RunSpec spec;
  std::vector<Tensor> feeds;
  for (const std::string device : {"/job:ps/task:0", "/job:worker/task:0"}) {
    DeviceScope scope(b_, device);
    spec.feeds.push_back(ops::Placeholder(b_, "fed", DType::kDouble));
    spec.fetches.push_back(b_.Op("Neg", {spec.feeds.back()}, {.name = "negative"}));
    feeds.emplace_back(DType::kDouble, Shape({5000}));
  }
  ASSERT_TRUE(b_.status().ok()) << b_.status();
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  std::vector<Tensor> fetched;
  EXPECT_EQ(Text(session->Run({.spec = spec, .feed_values = feeds}, &fetched)), "OK");
  fake_.tasks.RunReady();
  ASSERT_EQ(fetched.size(), 2U);
  for (const Tensor& fed : feeds) EXPECT_TRUE(fed.unique());
  for (const Tensor& value : fetched) EXPECT_TRUE(value.unique());
}

TEST_F(ClusterSessionTest, AResetForgetsWhatTheMastersOwnTaskHas) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("ps", 0, graph_);
  EXPECT_EQ(Run(*session, v_.initializer), "OK");
  EXPECT_EQ(Text(ResetCluster(cluster_.client(), cluster_.server("ps", 0).target())), "OK");
  const auto again = cluster_.NewSession("ps", 0, graph_);
  EXPECT_THAT(Text(RunAll(*again, {v_.read}).status),
              StartsWith("FAILED_PRECONDITION: Attempting to use uninitialized"));
}

// Else who trains anew would go on with half of what was there.
TEST_F(ClusterSessionTest, AResetThatATaskDoesNotHearOfFails) {
  cluster_.StartAll();
  const std::string target = cluster_.server("worker", 0).target();
  cluster_.Crash("ps", 0);
  EXPECT_EQ(CodeOf(ResetCluster(cluster_.env("worker", 0), target)), Code::kUnavailable);
}

TEST_F(ClusterSessionTest, ResetForgetsResourcesAndClosesSessions) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  EXPECT_EQ(Fetch(*session, sum_), 11);
  const auto hanging = HangIn(*session);
  const std::string target = cluster_.server("worker", 0).target();
  EXPECT_EQ(Text(ResetCluster(cluster_.client(), target, {"a container of others"})), "OK");
  hanging->task->Join(kNever);
  EXPECT_EQ(CodeOf(hanging->outcome.status), Code::kCancelled);
  const auto again = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Fetch(*again, sum_), 11);
  EXPECT_EQ(Text(ResetCluster(cluster_.env("worker", 0), target)), "OK");
  const auto third = cluster_.NewSession("worker", 0, graph_);
  EXPECT_THAT(Text(RunAll(*third, {sum_}).status), StartsWith("FAILED_PRECONDITION: Attempting to use uninitialized"));
}

}  // namespace
}  // namespace vigil
