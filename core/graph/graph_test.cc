#include "vigil/core/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/group.h"
#include "vigil/core/graph/kernel.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

absl::Status NoCompute(KernelContext&) { return absl::OkStatus(); }

OpRegistry OpsOfTheTest() {
  OpRegistry registry;
  registry.Register({.name = "NoOp"});
  registry.Register({.name = "Number", .output_types = FromAttr("dtype"), .compute = NoCompute});
  registry.Register({.name = "Pass", .inputs = 1, .output_types = SameAsInput(0), .compute = NoCompute});
  registry.Register({.name = "Cell", .output_types = Always({DType::kInt64}), .is_resource = true, .read = NoCompute});
  registry.Register({.name = "Handle", .output_types = Always({DType::kResource}), .is_resource = true});
  registry.Register({.name = "Set",
                     .inputs = 2,
                     .output_types = SameAsInput(0),
                     .compute = NoCompute,
                     .ref_inputs = 1,
                     .forwards_ref = true});
  return registry;
}

class GraphTest : public testing::Test {
 protected:
  GraphTest() : ops_(OpsOfTheTest()), graph_(ops_), b_(graph_) {}
  Output Number(const std::string& name) {
    return b_.Op("Number", {}, {.name = name, .attrs = {{"dtype", DType::kInt64}}});
  }
  // The first error of what was built so far, and a builder without it.
  std::string TakeError() {
    const absl::Status status = std::exchange(b_, Builder(graph_)).status();
    return std::string(CodeName(CodeOf(status))) + ": " + std::string(MessageOf(status));
  }

  const OpRegistry ops_;
  Graph graph_;
  Builder b_;
};

TEST_F(GraphTest, AGroupStandsForTheWorkThatItWaitsFor) {
  const Output a = Number("a");
  const Output b = Number("b");
  const Output c = Number("c");
  const Output inner = b_.Group("inner", {c.node, a.node});
  const Output again = b_.Group("again", {inner.node});
  const Output outer = b_.Group("outer", {b.node, again.node, inner.node});
  ASSERT_TRUE(b_.status().ok()) << b_.status();
  EXPECT_THAT(NodesOfGroup(graph_, outer.node), ElementsAre(a.node, b.node, c.node));
  EXPECT_THAT(NodesOfGroup(graph_, inner.node), ElementsAre(a.node, c.node));
  EXPECT_THAT(NodesOfGroup(graph_, b.node), ElementsAre(b.node));
  EXPECT_THAT(NodesOfGroup(graph_, b_.Group("empty", {}).node), IsEmpty());
}

TEST_F(GraphTest, TakenNamesGetASuffix) {
  EXPECT_EQ(graph_.NameOf(Number("x")), "x:0");
  EXPECT_EQ(graph_.NameOf(Number("x")), "x_1:0");
  EXPECT_EQ(graph_.NameOf(Number("x_2")), "x_2:0");
  EXPECT_EQ(graph_.NameOf(Number("x")), "x_3:0");
  EXPECT_EQ(graph_.NameOf(Number("")), "Number:0");
}

TEST_F(GraphTest, FindsNodesAndOutputsByName) {
  const Output x = Number("a/x");
  EXPECT_EQ(graph_.Find("a/x"), x.node);
  EXPECT_EQ(graph_.FindOutput("a/x:0"), x);
  EXPECT_EQ(graph_.FindOutput("a/x"), x);
  EXPECT_EQ(graph_.FindOutput("a/x:1"), std::nullopt);
  EXPECT_EQ(graph_.FindOutput("a/x:one"), std::nullopt);
  EXPECT_EQ(graph_.FindOutput("a/x:"), std::nullopt);
  EXPECT_EQ(graph_.Find("missing"), std::nullopt);
  const Output nothing = b_.Group("nothing", {});
  EXPECT_EQ(graph_.FindOutput("nothing"), std::nullopt);  // a node without values
  EXPECT_EQ(graph_.Find("nothing"), nothing.node);
}

TEST_F(GraphTest, AFinalizedGraphRefusesNodesButTakesCollections) {
  graph_.Finalize();
  Number("x");
  EXPECT_EQ(TakeError(), "USAGE: Graph is finalized and cannot be modified.");
  graph_.AddToCollection(kSummaries, Output{0, 0});
  EXPECT_THAT(graph_.Collection(kSummaries), ElementsAre(Output{0, 0}));
  graph_.Unfinalize();
  Number("x");
  EXPECT_TRUE(b_.status().ok());
}

TEST_F(GraphTest, RefusesWhatDoesNotFit) {
  b_.Op("Nonsense", {});
  EXPECT_EQ(TakeError(), "NOT_FOUND: Op type not registered 'Nonsense'");
  b_.Op("Pass", {}, {.name = "p"});
  EXPECT_EQ(TakeError(), "USAGE: 'Pass' Op takes 1 inputs, but 'p' is given 0.");
  b_.Op("Pass", {{42, 0}}, {.name = "p"});
  EXPECT_EQ(TakeError(), "USAGE: Input 0 of 'p' (Pass) is not an output of a node of this graph.");
  b_.Op("Number", {}, {.name = "n"});
  EXPECT_THAT(TakeError(), HasSubstr("needs an attribute 'dtype' of type DType"));
  b_.Group("g", {42});
  EXPECT_THAT(TakeError(), HasSubstr("A control input of 'g' is not a node of this graph."));
  Number("bad name");
  EXPECT_EQ(TakeError(), "USAGE: 'bad name' is not a valid node name");
  EXPECT_EQ(graph_.size(), 0);
}

TEST_F(GraphTest, ReferencesComeFromResourcesOnly) {
  const Output cell = b_.Op("Cell", {});
  const Output handle = b_.Op("Handle", {});
  const Output one = Number("one");
  const Output set = b_.Op("Set", {cell, one});
  b_.Op("Set", {set, one});  // passes the reference on
  b_.Op("Pass", {cell});     // takes the value
  EXPECT_TRUE(b_.status().ok());
  b_.Op("Set", {one, one});
  EXPECT_EQ(TakeError(), "USAGE: Input 0 of 'Set' Op must be a reference to a resource; 'one' (Number) is none.");
  b_.Op("Pass", {handle});
  EXPECT_EQ(TakeError(), "USAGE: Input 0 of 'Pass' Op takes a value, but 'Handle' (Handle) is a handle.");
}

TEST_F(GraphTest, TheFirstErrorOfABuilderSticks) {
  b_.Op("Nonsense", {});
  EXPECT_EQ(Number("x"), Output());
  EXPECT_THAT(TakeError(), HasSubstr("Nonsense"));
  EXPECT_EQ(graph_.size(), 0);
}

TEST_F(GraphTest, ABuilderAddsItsDeviceAndControlInputs) {
  const NodeId first = Number("first").node;
  const NodeId second = Number("second").node;
  b_.device = "/job:ps";
  b_.control_inputs = {first};
  const Output x = b_.Op("Number", {}, {.control_inputs = {second}, .attrs = {{"dtype", DType::kFloat}}});
  EXPECT_EQ(graph_.node(x.node).device, "/job:ps");
  EXPECT_THAT(graph_.node(x.node).control_inputs, ElementsAre(first, second));
  EXPECT_EQ(graph_.TypeOf(x), DType::kFloat);
}

TEST_F(GraphTest, CollectionsKeepTheirOrder) {
  EXPECT_THAT(graph_.Collection(kGlobalVariables), IsEmpty());
  graph_.AddToCollection(kGlobalVariables, Output{1, 0});
  graph_.AddToCollection(kGlobalVariables, Output{0, 0});
  EXPECT_THAT(graph_.Collection(kGlobalVariables), ElementsAre(Output{1, 0}, Output{0, 0}));
  graph_.ClearCollection(kGlobalVariables.name);
  EXPECT_THAT(graph_.Collection(kGlobalVariables), IsEmpty());
}

TEST_F(GraphTest, AGraphInThePlaceOfAnotherOneIsAnotherOne) {
  std::optional<Graph> graph(std::in_place, ops_);
  const Graph::Identity first = graph->identity();
  EXPECT_EQ(first, graph->Share()->identity());
  EXPECT_NE(first, Graph::Identity());
  graph.emplace(ops_);
  EXPECT_NE(first, graph->identity());
  EXPECT_NE(graph_.identity(), graph->identity());
}

TEST_F(GraphTest, NodesStayWhereTheyAre) {
  const Node* const first = &graph_.node(Number("x").node);
  for (int i = 0; i < 1000; ++i) Number("x");
  EXPECT_EQ(first, &graph_.node(0));
  EXPECT_EQ(first->name, "x");
}

TEST_F(GraphTest, AttachmentsAreFoundNewestFirstAndDieWithTheGraph) {
  struct Counted : Attachment {
    Counted(int& alive, int number) : Attachment("test"), alive_(alive), number_(number) { ++alive_; }
    ~Counted() override { --alive_; }
    int& alive_;
    int number_;
  };
  int alive = 0;
  {
    Graph graph(ops_);
    EXPECT_EQ(graph.attachments(), nullptr);
    graph.Finalize();
    graph.Attach(std::make_unique<Counted>(alive, 1));
    graph.Attach(std::make_unique<Counted>(alive, 2));
    const Attachment* const newest = graph.attachments();
    EXPECT_EQ(static_cast<const Counted*>(newest)->number_, 2);
    EXPECT_EQ(static_cast<const Counted*>(newest->next())->number_, 1);
    EXPECT_EQ(newest->next()->next(), nullptr);
    EXPECT_EQ(alive, 2);
  }
  EXPECT_EQ(alive, 0);
}

TEST(OpRegistryDeathTest, ANameIsRegisteredOnce) {
  OpRegistry registry;
  registry.Register({.name = "X"});
  EXPECT_DEATH(registry.Register({.name = "X"}), "CHECK failed");
}

TEST_F(GraphTest, WhatWasAddedIsTakenBack) {
  Builder b(graph_);
  const Output kept = b.Op("Cell", {}, {.name = "x"});
  graph_.AddToCollection(kGlobalVariables, kept);
  const Graph::Mark mark = graph_.Now();
  graph_.AddToCollection(kGlobalVariables, b.Op("Cell", {}, {.name = "x"}));
  graph_.AddToCollection(kLocalVariables, kept);
  graph_.TakeBack(mark);
  EXPECT_EQ(graph_.size(), 1);
  EXPECT_THAT(graph_.CollectionNames(), ElementsAre("variables"));
  EXPECT_THAT(graph_.Collection(kGlobalVariables), ElementsAre(kept));
  EXPECT_EQ(graph_.node(b.Op("Cell", {}, {.name = "x"}).node).name, "x_1") << "as if nothing had been";
}

TEST_F(GraphTest, ACollectionOfOtherItemsIsNamed) {
  graph_.AddToCollection(kGlobalVariables, Output{0, 0});
  EXPECT_DEATH(graph_.AddToCollection(CollectionKey<int>{"variables"}, 1),
               "the collection 'variables' holds items of another type");
}

}  // namespace
}  // namespace vigil
