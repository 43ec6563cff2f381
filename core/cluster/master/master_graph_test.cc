#include "vigil/core/cluster/master/master_graph.h"

#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/ops/ops.h"

namespace vigil {
namespace {

// A value made on a parameter server and fetched by the worker, one of two.
class MasterGraphTest : public testing::Test {
 protected:
  MasterGraphTest() : graphs_(BuiltinOps()), client_(BuiltinOps()) {
    Builder b(client_);
    DeviceScope scope(b, "/job:ps/task:0");
    const Output there = b.Op("Square", {b.Const("two", Tensor::Scalar<double>(2))}, {.name = "there"});
    DeviceScope own(b, "/job:worker/task:0");
    b.Op("Square", {there}, {.name = "here"});
    EXPECT_TRUE(b.status().ok()) << b.status();
  }

  static TaskDevices Devices(std::uint64_t ps, std::uint64_t other_worker) {
    return std::make_shared<const std::vector<TaskDevice>>(
        std::vector<TaskDevice>{{"ps", 0, ps}, {"worker", 0, 20}, {"worker", 1, other_worker}});
  }
  std::shared_ptr<MasterGraph> Get() {
    const auto graph = graphs_.Get(**GraphDefBytes(client_));
    EXPECT_TRUE(graph.ok()) << graph.status();
    return *graph;
  }
  static std::shared_ptr<const CutGraph> Cut(MasterGraph& graph, const TaskDevices& devices,
                                             const std::string& fetch = "here:0") {
    const auto cut = graph.Cut({.fetches = {fetch}}, devices, 1);
    EXPECT_TRUE(cut.ok()) << cut.status();
    return *cut;
  }

  MasterGraphs graphs_;
  Graph client_;
};

TEST_F(MasterGraphTest, AGraphIsKnownByItsBytes) {
  const auto graph = Get();
  EXPECT_EQ(Get(), graph);
  EXPECT_EQ(ToGraphDef(graph->graph()).DebugString(), ToGraphDef(client_).DebugString());
  Builder b(client_);
  b.Group("more", {});
  EXPECT_NE(Get(), graph);
  EXPECT_EQ(Get()->graph().size(), client_.size());
}

TEST_F(MasterGraphTest, OnlyTheLatestGraphsAreKept) {
  const auto first = Get();
  const std::string bytes = **GraphDefBytes(client_);
  for (std::size_t i = 0; i < MasterGraphs::kMostKept; ++i) {
    EXPECT_EQ(*graphs_.Get(bytes), first);
    Builder b(client_);
    b.Group("more", {});
    Get();
  }
  EXPECT_NE(*graphs_.Get(bytes), first);
}

TEST_F(MasterGraphTest, WhatIsNoGraphIsRefused) {
  EXPECT_EQ(CodeOf(graphs_.Get("\x01\x02").status()), Code::kInvalidArgument);
  proto::GraphDef def;
  def.add_node()->set_name("x");
  def.mutable_node(0)->set_op("Nope");
  EXPECT_EQ(CodeOf(graphs_.Get(def.SerializeAsString()).status()), Code::kNotFound);
}

TEST_F(MasterGraphTest, AKindOfStepIsCutUpOnce) {
  const auto graph = Get();
  const auto cut = Cut(*graph, Devices(10, 21));
  ASSERT_EQ(cut->parts.size(), 2u);
  EXPECT_EQ(cut->parts[0].device, 0);
  EXPECT_EQ(cut->parts[1].device, 1);
  EXPECT_EQ(Cut(*graph, Devices(10, 21)), cut);
  EXPECT_NE(Cut(*graph, Devices(10, 21), "there:0"), cut);
  EXPECT_EQ(Cut(*graph, Devices(10, 21)), cut);
}

TEST_F(MasterGraphTest, ARestartedTaskMattersWhereItTakesPart) {
  const auto graph = Get();
  const auto cut = Cut(*graph, Devices(10, 21));
  EXPECT_EQ(Cut(*graph, Devices(10, 22)), cut) << "the other worker has no part in it";
  const auto other = Cut(*graph, Devices(11, 21));
  EXPECT_NE(other, cut);
  EXPECT_NE(other->parts[0].graph, cut->parts[0].graph) << "the new incarnation stands there";
  const auto elsewhere = graph->Cut({.fetches = {"here:0"}}, Devices(11, 21), 2);
  ASSERT_TRUE(elsewhere.ok());
  EXPECT_NE(*elsewhere, other);
}

TEST_F(MasterGraphTest, WhatCannotBeCutUpIsNotKept) {
  const auto graph = Get();
  const auto nowhere = std::make_shared<const std::vector<TaskDevice>>(std::vector<TaskDevice>{{"worker", 0, 20}});
  EXPECT_EQ(CodeOf(graph->Cut({.fetches = {"here:0"}}, nowhere, 0).status()), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(graph->Cut({.fetches = {"nothing:0"}}, nowhere, 0).status()), Code::kUsage);
  EXPECT_EQ(Cut(*graph, Devices(10, 21))->parts.size(), 2u);
}

}  // namespace
}  // namespace vigil
