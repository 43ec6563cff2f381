// A master of ours whose tasks answer as TensorFlow's workers do: with TensorFlow itself see interop/mixed.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/cluster/worker.pb.h"

namespace vigil {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class TensorFlowWorkersTest : public ClusterSessionTest {
 protected:
  static constexpr int kAlways = 1000;

  // What a task says of its device, and of a step that is traced.
  void AnswerAsTensorFlow() {
    network_.ChangeReplies("GetStatus", kAlways, [](absl::Cord& reply) {
      proto::GetStatusResponse response;
      ASSERT_TRUE(ParseBody(reply, &response));
      response.mutable_device_attributes(0)->set_memory_limit(1 << 28);
      reply = response.SerializeAsString();
    });
    network_.ChangeReplies("RunGraph", kAlways, [](absl::Cord& reply) {
      proto::RunGraphResponse response;
      ASSERT_TRUE(ParseBody(reply, &response));
      for (const proto::NodeStatsProto& node : response.node_stats()) {
        proto::DeviceStepStats& device = *response.mutable_step_stats()->add_dev_stats();
        device.set_device("/job:ps/replica:0/task:0/device:CPU:0");
        device.add_node_stats()->set_node_name(node.node_name());
      }
      response.clear_node_stats();
      response.clear_recv();
      reply = response.SerializeAsString();
    });
  }
};

TEST_F(TensorFlowWorkersTest, WhatIsFetchedThereComesByWayOfTheMastersTask) {
  cluster_.StartAll();
  const auto ours = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*ours, init_), "OK");
  EXPECT_EQ(Fetch(*ours, v_.read), 1);
  EXPECT_EQ(network_.count("RecvTensor"), 0);
  AnswerAsTensorFlow();
  const auto theirs = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Fetch(*theirs, v_.read), 1);
  EXPECT_EQ(network_.count("RecvTensor"), 1);
  const RunOutcome both = RunAll(*theirs, {w_.read, v_.read, w_.read});
  ASSERT_TRUE(both.status.ok()) << both.status;
  for (const std::size_t i : {0u, 1u, 2u}) EXPECT_EQ(both.values[i].scalar<double>(), i == 1 ? 1 : 10);
}

TEST_F(TensorFlowWorkersTest, TheirTracesAreRead) {
  cluster_.StartAll();
  AnswerAsTensorFlow();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  EXPECT_EQ(Run(*session, init_), "OK");
  const RunOptions options{.trace_level = TraceLevel::kFullTrace};
  RunMetadata metadata;
  std::vector<Tensor> out;
  const RunSpec spec{.fetches = {v_.read}};
  EXPECT_EQ(Text(session->Run({.spec = spec, .options = &options, .metadata = &metadata}, &out)), "OK");
  std::vector<std::string> seen;
  for (const NodeStats& stats : metadata.step_stats) seen.push_back(stats.node_name + " on " + stats.device);
  EXPECT_THAT(seen, testing::Contains("v/read on /job:ps/replica:0/task:0/device:CPU:0"));
}

TEST_F(TensorFlowWorkersTest, TheirHandlesAreTaken) {
  cluster_.StartAll();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  network_.ChangeReplies("RegisterGraph", 1, [](absl::Cord& reply) {
    proto::RegisterGraphResponse response;
    response.set_graph_handle("one of theirs");
    reply = response.SerializeAsString();
  });
  EXPECT_THAT(Text(RunAll(*session, {v_.read}).status),
              AllOf(StartsWith("ABORTED"), HasSubstr("Graph handle is not found: one of theirs")));
}

// They know none of ours: that there is none is no reason to say it again.
TEST_F(TensorFlowWorkersTest, WhatTheyGaveNoHandleIsNotGivenBack) {
  cluster_.StartAll();
  AnswerAsTensorFlow();
  const auto session = cluster_.NewSession("worker", 0, graph_);
  network_.LoseRequests("RegisterGraph", 1);
  EXPECT_FALSE(RunAll(*session, {v_.read}).status.ok());
  EXPECT_EQ(network_.count("DeregisterGraph"), 0);
}

// They number them anew with each start: what is said again may meet a graph of somebody else.
TEST_F(TensorFlowWorkersTest, TheirHandlesAreGivenBackOnce) {
  cluster_.StartAll();
  auto session = cluster_.NewSession("worker", 0, graph_);
  network_.ChangeReplies("RegisterGraph", 1, [](absl::Cord& reply) {
    proto::RegisterGraphResponse response;
    response.set_graph_handle("0000000000000001");
    reply = response.SerializeAsString();
  });
  EXPECT_FALSE(RunAll(*session, {v_.read}).status.ok());
  network_.LoseRequests("DeregisterGraph", 1000);
  EXPECT_TRUE(session->Close().ok());
  EXPECT_EQ(network_.count("DeregisterGraph"), 1);
  network_.Heal();
  EXPECT_NE(cluster_.NewSession("worker", 0, graph_), nullptr);  // its server has been heard of
  EXPECT_EQ(network_.count("DeregisterGraph"), 1);
}

}  // namespace
}  // namespace vigil
