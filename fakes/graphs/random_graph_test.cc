#include "vigil/fakes/graphs/random_graph.h"

#include <gtest/gtest.h>

#include <limits>

#include "vigil/fakes/graphs/random_steps.h"

namespace vigil::fakes {
namespace {

TEST(RandomGraph, WhatHasGrownIsWhatALargerOneIs) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RandomGraph large({.seed = seed, .size = 12});
    RandomGraph grows({.seed = seed, .size = 5});
    EXPECT_TRUE(large.Describe().starts_with(grows.Describe()));
    grows.Grow(0);
    grows.Grow(7);
    EXPECT_EQ(grows.Describe(), large.Describe()) << seed;
    EXPECT_EQ(grows.values, large.values) << seed;
  }
  EXPECT_NE(RandomGraph({.seed = 1, .size = 5}).Describe(), RandomGraph({.seed = 2, .size = 5}).Describe());
}

TEST(RandomGraph, StandsWhereItMayAndKeepsItsStateInItsContainer) {
  const RandomGraph graph(
      {.seed = 3, .size = 12, .places = {{.devices = {"/job:ps/task:3"}}}, .container = "experiment"});
  for (NodeId id = 0; id < graph.graph.size(); ++id) {
    const Node& node = graph.graph.node(id);
    EXPECT_TRUE(node.device == "/job:ps/task:3" || node.device.empty()) << node.name << " on " << node.device;
    EXPECT_EQ(node.attrs.contains("container"), node.def->is_resource) << node.name;
  }
}

TEST(RandomSteps, WhetherAStepChangesAVariable) {
  const RandomGraph graph({.seed = 1, .size = 30});
  const RunSpec init{.targets = {graph.init}};
  EXPECT_FALSE(Updates(graph, init)) << "it gives it a value, as each client's first step does";
  bool any = false;
  for (const auto& updates : graph.updates) {
    for (const NodeId update : updates) any = Updates(graph, {.feeds = graph.numbers, .targets = {update}}) || any;
  }
  EXPECT_TRUE(any);
  EXPECT_FALSE(Updates(graph, {.fetches = {graph.numbers[0]}}));
}

TEST(RandomSteps, WhatIsNotANumberIsTheSameAsItself) {
  const Tensor nan = Tensor::Scalar<double>(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(AreSame({nan}, {nan}));
  EXPECT_FALSE(AreSame({nan}, {Tensor::Scalar<double>(0)}));
  EXPECT_FALSE(AreSame({nan}, {}));
  EXPECT_EQ(ValueText(Tensor::Vector<double>({0.5, -2})), "[0.5, -2]");
}

}  // namespace
}  // namespace vigil::fakes
