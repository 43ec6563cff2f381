#include "vigil/core/cluster/partition/partition.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/ops/ops.h"

namespace vigil {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Edges and their names without their numbers: "_Send(v) edge v".
class PartitionTest : public testing::Test {
 protected:
  PartitionTest() : graph_(BuiltinOps()), b_(graph_) {
    for (const int i : {0, 1})
      devices_.push_back({.job = "ps", .task = i, .incarnation = 100u + static_cast<unsigned>(i)});
    devices_.push_back({.job = "worker", .task = 0, .incarnation = 200});
  }

  ops::Variable MakeVariable(const std::string& device, const std::string& name) {
    DeviceScope scope(b_, device);
    return ops::MakeVariable(b_, name, b_.Const(name + "/initial", Tensor::Scalar<double>(1)));
  }
  Output On(const std::string& device, const std::string& op, const std::string& name, std::vector<Output> inputs,
            std::vector<NodeId> after = {}) {
    DeviceScope scope(b_, device);
    return b_.Op(op, std::move(inputs), {.name = name, .control_inputs = std::move(after)});
  }

  absl::StatusOr<PartitionedGraph> Cut(const RunSpec& spec) {
    EXPECT_TRUE(b_.status().ok()) << b_.status();
    return PartitionGraph(graph_, spec, devices_, 2);
  }

  // By task: its nodes in order, as "name", "send name" or "recv name", with what they come from.
  std::map<std::string, std::vector<std::string>> Nodes(const RunSpec& spec) {
    const absl::StatusOr<PartitionedGraph> cut = Cut(spec);
    EXPECT_TRUE(cut.ok()) << cut.status();
    std::map<std::string, std::vector<std::string>> out;
    if (!cut.ok()) return out;
    for (const Partition& part : cut->parts) {
      Graph check(BuiltinOps());
      EXPECT_EQ(ImportGraphDef(part.graph, check), absl::OkStatus());
      const TaskDevice& device = devices_[static_cast<std::size_t>(part.device)];
      std::vector<std::string>& nodes = out[fmt::format("{}{}", device.job, device.task)];
      for (const proto::NodeDef& node : part.graph.node()) {
        EXPECT_EQ(node.device(), device.device_name()) << node.name();
        nodes.push_back(Describe(part.graph, node));
      }
    }
    return out;
  }

  static std::string Describe(const proto::GraphDef& graph, const proto::NodeDef& node) {
    if (node.op() != "_Send" && node.op() != "_Recv") return node.name();
    const std::string& edge = node.attr().at("tensor_name").s();
    const std::string from = edge.substr(edge.find('_', 5) + 1);
    if (node.op() == "_Recv") return "recv " + from;
    for (const proto::NodeDef& input : graph.node()) {
      if (input.name() == node.input(0) && node.input_size() > 1) return fmt::format("signal {}", from);
    }
    return "send " + from;
  }

  Graph graph_;
  Builder b_;
  std::vector<TaskDevice> devices_;
};

TEST_F(PartitionTest, ValuesAreSentRightAfterTheirNodeAndReceivedWhereTheyAreWantedFirst) {
  const ops::Variable v = MakeVariable("/job:ps/task:0", "v");
  const Output other = ops::Identity(b_, "other", v.read);
  const Output sum = b_.Op("AddV2", {other, v.read}, {.name = "sum"});
  EXPECT_THAT(Nodes({.fetches = {sum}}),
              ElementsAre(testing::Pair("ps0", ElementsAre("v", "v/read", "send v/read")),
                          testing::Pair("worker0", ElementsAre("recv v/read", "other", "sum"))));
}

TEST_F(PartitionTest, TheValueOfAVariableIsSentWhereItsConsumerStands) {
  const ops::Variable v = MakeVariable("/job:ps/task:0", "v");
  const Output one = b_.Const("one", Tensor::Scalar<double>(1));
  const Output before = ops::Identity(b_, "before", v.ref);
  const Output add = ops::AssignAdd(b_, "add", v.ref, one);
  const Output after = b_.Op("Identity", {v.ref}, {.name = "after", .control_inputs = {add.node}});
  // "after" waits for nothing else: that "add" has run is implied by its own value.
  EXPECT_THAT(Nodes({.fetches = {before, after, v.ref}, .targets = {add.node}}),
              ElementsAre(testing::Pair("ps0", ElementsAre("v", "send v", "one", "add", "send v")),
                          testing::Pair("worker0", ElementsAre("recv v", "before", "recv v", "after"))));
}

// Tasks run in order: the last of what has to run before says it of all, in whatever order they are named.
TEST_F(PartitionTest, OfSeveralThatHaveToRunBeforeTheLastSignals) {
  const ops::Variable v = MakeVariable("/job:ps/task:0", "v");
  Output one;
  {
    const DeviceScope scope(b_, "/job:ps/task:0");
    one = b_.Const("one", Tensor::Scalar<double>(1));
  }
  const Output first = On("/job:ps/task:0", "AssignAdd", "first", {v.ref, one});
  const Output second = On("/job:ps/task:0", "AssignAdd", "second", {v.ref, one});
  const Output zero = b_.Const("zero", Tensor::Scalar<double>(0));
  const Output here = On("/job:worker/task:0", "Identity", "here", {zero}, {second.node, first.node});
  EXPECT_THAT(Nodes({.fetches = {here}})["worker0"], ElementsAre("recv second", "zero", "here"));
}

TEST_F(PartitionTest, WhatTakesAReferenceGoesToItsVariable) {
  const ops::Variable v = MakeVariable("/job:ps/task:1", "v");
  const Output one = On("/job:worker/task:0", "Identity", "one", {b_.Const("c", Tensor::Scalar<double>(1))});
  const Output add = On("/job:worker/task:0", "AssignAdd", "add", {v.ref, one});
  EXPECT_THAT(Nodes({.targets = {add.node}}),
              ElementsAre(testing::Pair("ps1", ElementsAre("recv one", "v", "add")),
                          testing::Pair("worker0", ElementsAre("c", "one", "send one"))));
}

TEST_F(PartitionTest, ConstantsAreCopiedToWhoWantsThemAndFedValuesSentFromTheMastersTask) {
  const Output x = ops::Placeholder(b_, "x", DType::kDouble);
  const Output c = b_.Const("c", Tensor::Scalar<double>(1));
  const Output here = b_.Op("AddV2", {x, c}, {.name = "here"});
  const Output there = On("/job:ps/task:0", "AddV2", "there", {x, c});
  const Output again = On("/job:ps/task:0", "Neg", "again", {x});
  const RunSpec spec{.feeds = {x}, .fetches = {here, there, x, c, there, again}};
  const absl::StatusOr<PartitionedGraph> cut = Cut(spec);
  ASSERT_TRUE(cut.ok()) << cut.status();
  ASSERT_EQ(cut->parts.size(), 2u);
  const Partition& ps = cut->parts[0];
  const Partition& own = cut->parts[1];
  EXPECT_THAT(ps.feeds, IsEmpty());
  ASSERT_EQ(own.feeds.size(), 1u);
  EXPECT_EQ(own.feeds[0].feed, 0);
  EXPECT_EQ(own.graph.node(0).op(), "Placeholder");
  EXPECT_EQ(own.feeds[0].name, own.graph.node(0).name() + ":0");
  EXPECT_THAT(Nodes(spec), ElementsAre(testing::Pair("ps0", ElementsAre("recv x", "c", "there", "again")),
                                       testing::Pair("worker0", ElementsAre("x/_0", "c", "here", "send x"))));
  EXPECT_THAT(cut->fed_fetches, ElementsAre(std::pair(2, 0)));
  ASSERT_EQ(ps.fetches.size(), 2u);
  EXPECT_THAT(ps.fetches[0].fetches, ElementsAre(1, 4));
  EXPECT_EQ(ps.fetches[0].name, "there:0");
  ASSERT_EQ(own.fetches.size(), 2u);
  EXPECT_EQ(own.fetches[1].name, "c:0");
}

TEST_F(PartitionTest, WhatIsFetchedFromATaskOfTensorFlowsIsSentToTheMastersTask) {
  const ops::Variable v = MakeVariable("/job:ps/task:0", "v");
  const Output twice = On("/job:ps/task:0", "Square", "twice", {v.read});
  const RunSpec spec{.fetches = {twice, v.read, twice}};
  EXPECT_EQ(Cut(spec)->parts.size(), 1u);
  devices_[0].of_tensorflow = true;
  const absl::StatusOr<PartitionedGraph> cut = Cut(spec);
  ASSERT_EQ(cut->parts.size(), 2u);
  EXPECT_THAT(cut->parts[0].fetches, IsEmpty());
  EXPECT_EQ(Nodes(spec)["worker0"], (std::vector<std::string>{"recv twice", "recv v/read"}));
  const std::vector<PartitionFetch>& fetches = cut->parts[1].fetches;
  ASSERT_EQ(fetches.size(), 2u);
  EXPECT_THAT(fetches[0].fetches, ElementsAre(0, 2));
  EXPECT_THAT(fetches[1].fetches, ElementsAre(1));
  EXPECT_EQ(fetches[0].name, cut->parts[1].graph.node(0).name() + ":0");
}

TEST_F(PartitionTest, ControlEdgesAreSignals) {
  const ops::Variable v = MakeVariable("/job:ps/task:0", "v");
  const ops::Variable w = MakeVariable("/job:ps/task:1", "w");
  const Output one = b_.Const("one", Tensor::Scalar<double>(1));
  const Output first = ops::AssignAdd(b_, "first", v.ref, one);
  const Output again = ops::AssignAdd(b_, "again", v.ref, one);
  const Output second =
      b_.Op("AssignAdd", {w.ref, one}, {.name = "second", .control_inputs = {first.node, again.node}});
  // One signal says it of both.
  EXPECT_THAT(Nodes({.targets = {second.node}}),
              ElementsAre(testing::Pair("ps0", ElementsAre("v", "one", "first", "again", testing::_, "signal again")),
                          testing::Pair("ps1", ElementsAre("recv again", "w", "one", "second"))));
}

TEST_F(PartitionTest, NodesWithoutWorkAreNoStopsForControlEdges) {
  const ops::Variable v = MakeVariable("/job:ps/task:0", "v");
  const ops::Variable w = MakeVariable("/job:ps/task:1", "w");
  const Output one = b_.Const("one", Tensor::Scalar<double>(1));
  const Output first = ops::AssignAdd(b_, "first", v.ref, one);
  const Output second = ops::AssignAdd(b_, "second", w.ref, one);
  const Output both = b_.Group("both", {first.node, second.node});
  const Output step = b_.Op("AssignAdd", {v.ref, one}, {.name = "step", .control_inputs = {both.node}});
  const Output train = b_.Group("train", {step.node});
  EXPECT_THAT(Nodes({.targets = {train.node}}),
              ElementsAre(testing::Pair("ps0", ElementsAre("v", "one", "first", "recv second", "step")),
                          testing::Pair("ps1", ElementsAre("w", "one", "second", testing::_, "signal second"))));
}

// A constant is copied to who takes it; what it waits for is then waited for there.
TEST_F(PartitionTest, WhoTakesAConstantWaitsForWhatItWaitsFor) {
  const ops::Variable v = MakeVariable("/job:ps/task:0", "v");
  const ops::Variable w = MakeVariable("/job:ps/task:1", "w");
  const Output first = ops::AssignAdd(b_, "first", v.ref, b_.Const("one", Tensor::Scalar<double>(1)));
  const Attrs two{{"value", Tensor::Scalar<double>(2)}, {"dtype", DType::kDouble}};
  const Output late = b_.Op("Const", {}, {.name = "two", .control_inputs = {first.node}, .attrs = two});
  const Output second = ops::AssignAdd(b_, "second", w.ref, late);
  EXPECT_THAT(Nodes({.targets = {second.node}}),
              ElementsAre(testing::Pair("ps0", ElementsAre("v", "one", "first", testing::_, "signal first")),
                          testing::Pair("ps1", testing::IsSupersetOf({"recv first", "second"}))));
  const absl::StatusOr<PartitionedGraph> cut = Cut({.targets = {second.node}});
  const proto::NodeDef& taker = cut->parts[1].graph.node(cut->parts[1].graph.node_size() - 1);
  EXPECT_EQ(taker.name(), "second");
  EXPECT_THAT(taker.input(taker.input_size() - 1), testing::StartsWith("^first/_"));
}

TEST_F(PartitionTest, AControlEdgeThatIsImpliedIsNotCut) {
  const ops::Variable v = MakeVariable("/job:ps/task:0", "v");
  const Output one = b_.Const("one", Tensor::Scalar<double>(1));
  const Output bump = ops::AssignAdd(b_, "bump", v.ref, one);
  const Output value = On("/job:ps/task:0", "Identity", "value", {v.ref}, {bump.node});
  const Output here = b_.Op("Identity", {value}, {.name = "here", .control_inputs = {bump.node}});
  EXPECT_THAT(Nodes({.fetches = {here}}),
              ElementsAre(testing::Pair("ps0", ElementsAre("v", "one", "bump", "value", "send value")),
                          testing::Pair("worker0", ElementsAre("recv value", "here"))));
}

TEST_F(PartitionTest, ATargetWithoutWorkIsHeardOfOnItsTask) {
  const Output there = On("/job:ps/task:1", "NoOp", "there", {});
  const Output here = On("", "NoOp", "here", {});
  EXPECT_THAT(Nodes({.targets = {there.node, here.node}}), ElementsAre(testing::Pair("ps1", ElementsAre("there"))));
}

TEST_F(PartitionTest, EdgesSayWhereFromAndWhereToAndEveryAttributeStays) {
  const Output c = b_.Const("c", Tensor::Scalar<double>(1));
  DeviceScope scope(b_, "/job:ps");
  const Output there = b_.Op("Identity", {c}, {.name = "there", .attrs = {{"_mine", std::string("kept")}}});
  DeviceScope back(b_, "/job:worker");
  const Output here = ops::Identity(b_, "here", there);
  const absl::StatusOr<PartitionedGraph> cut = Cut({.fetches = {here}});
  ASSERT_TRUE(cut.ok()) << cut.status();
  const proto::NodeDef& kept = cut->parts[0].graph.node(1);
  EXPECT_EQ(kept.attr().at("_mine").s(), "kept");
  for (const proto::NodeDef& node : {cut->parts[0].graph.node(2), cut->parts[1].graph.node(0)}) {
    EXPECT_EQ(node.attr().at("send_device").s(), "/job:ps/replica:0/task:0/device:CPU:0");
    EXPECT_EQ(node.attr().at("recv_device").s(), "/job:worker/replica:0/task:0/device:CPU:0");
    EXPECT_EQ(node.attr().at("send_device_incarnation").i(), 100);
    EXPECT_THAT(node.attr().at("tensor_name").s(), testing::MatchesRegex("edge_[0-9]+_there"));
  }
  EXPECT_EQ(cut->parts[0].graph.node(2).attr().at("T").type(), proto::DT_DOUBLE);
  EXPECT_EQ(cut->parts[1].graph.node(0).attr().at("tensor_type").type(), proto::DT_DOUBLE);
}

TEST_F(PartitionTest, EachPartIsAGraphThatOthersRead) {
  const Output first = On("/job:ps/task:0", "Identity", "first", {b_.Const("c", Tensor::Scalar<double>(1))});
  const Output here = On("/job:worker/task:0", "Identity", "here", {b_.Const("d", Tensor::Scalar<double>(1))},
                         {first.node, first.node});
  const absl::StatusOr<PartitionedGraph> cut = Cut({.fetches = {here}});
  ASSERT_TRUE(cut.ok()) << cut.status();
  ASSERT_EQ(cut->parts.size(), 2u);
  int signals = 0;
  for (const Partition& part : cut->parts) {
    EXPECT_EQ(part.graph.versions().producer(), kGraphDefVersion);
    for (const proto::NodeDef& node : part.graph.node()) {
      EXPECT_EQ(node.attr().contains("dtype"), node.op() == "Const") << node.name();
      signals += node.op() == "_Send" ? 1 : 0;
    }
  }
  EXPECT_EQ(signals, 1) << "said twice, sent once";
}

TEST_F(PartitionTest, OneSignalIsEnoughForAllOnATask) {
  const Output first = On("/job:ps/task:0", "Identity", "first", {b_.Const("c", Tensor::Scalar<double>(1))});
  const Output d = b_.Const("d", Tensor::Scalar<double>(1));
  const Output one = On("/job:worker/task:0", "Identity", "one", {d}, {first.node});
  const Output two = On("/job:worker/task:0", "Neg", "two", {d}, {first.node});
  EXPECT_THAT(Nodes({.fetches = {two, one}})["ps0"], ElementsAre("c", "first", testing::_, "signal first"));
}

TEST_F(PartitionTest, WhatTakesAReferenceGoesToItsVariableOnTheFirstTaskToo) {
  const ops::Variable v = MakeVariable("/job:ps/task:0", "v");
  const Output one = b_.Const("one", Tensor::Scalar<double>(1));
  // As in a graph that somebody else has made: a builder would have written the variable's device.
  const NodeId add =
      *graph_.Add({.name = "add", .op = "AssignAdd", .inputs = {v.ref, one}, .device = "/job:worker/task:0"});
  EXPECT_THAT(Nodes({.targets = {add}}), ElementsAre(testing::Pair("ps0", ElementsAre("v", "one", "add"))));
}

TEST_F(PartitionTest, WhatTakesReferencesOfTwoTasksIsRefused) {
  OpRegistry ops = BuiltinOps();
  ops.Register({.name = "Swap", .inputs = 2, .ref_inputs = 0b11});
  Graph graph(ops);
  Builder b(graph);
  std::vector<Output> refs;
  for (const char* const device : {"/job:ps/task:0", "/job:ps/task:1"}) {
    DeviceScope scope(b, device);
    refs.push_back(ops::MakeVariable(b, device[12] == '0' ? "v" : "w", b.Const("c", Tensor::Scalar<double>(1))).ref);
  }
  const Output swap = b.Op("Swap", refs, {.name = "swap"});
  ASSERT_TRUE(b.status().ok()) << b.status();
  EXPECT_EQ(std::string(MessageOf(PartitionGraph(graph, {.targets = {swap.node}}, devices_, 2).status())),
            "Cannot colocate 'swap' with all of its references: they are on /job:ps/replica:0/task:0/device:CPU:0 and "
            "/job:ps/replica:0/task:1/device:CPU:0.");
}

TEST_F(PartitionTest, DevicesThatAreNotThereAreRefused) {
  for (const char* const device : {"/job:ps/task:2", "/job:chief", "/job:ps/device:GPU:0", "/job:ps/replica:1"}) {
    const absl::Status status =
        Cut({.fetches = {On(device, "Identity", "i", {b_.Const("c", Tensor::Scalar<double>(1))})}}).status();
    EXPECT_EQ(CodeOf(status), Code::kInvalidArgument) << device;
    EXPECT_THAT(std::string(MessageOf(status)),
                AllOf(HasSubstr(fmt::format(" was explicitly assigned to {} but available devices are [ "
                                            "/job:ps/replica:0/task:0/device:CPU:0, ",
                                            device)),
                      HasSubstr("Make sure the device specification refers to a valid device.")));
  }
}

TEST_F(PartitionTest, AFedReferenceIsRefused) {
  const ops::Variable v = MakeVariable("/job:ps/task:0", "v");
  const Output add = ops::AssignAdd(b_, "add", v.ref, b_.Const("one", Tensor::Scalar<double>(1)));
  EXPECT_EQ(CodeOf(Cut({.feeds = {v.ref}, .targets = {add.node}}).status()), Code::kInvalidArgument);
}

TEST_F(PartitionTest, AnIncompleteDeviceIsTheOwnOneOrElseTheFirst) {
  EXPECT_EQ(FindDevice(devices_, 2, ""), 2);
  EXPECT_EQ(FindDevice(devices_, 2, "/task:0"), 2);
  EXPECT_EQ(FindDevice(devices_, 2, "/job:ps"), 0);
  EXPECT_EQ(FindDevice(devices_, 2, "/job:ps/task:1/cpu:0"), 1);
  EXPECT_EQ(FindDevice(devices_, 2, "/job:evaluator"), -1);
}

}  // namespace
}  // namespace vigil
