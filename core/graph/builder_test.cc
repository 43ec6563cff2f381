#include "vigil/core/graph/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/op.h"

namespace vigil {
namespace {

using testing::HasSubstr;

// Ops that do nothing: devices are given before anything runs.
OpRegistry Ops() {
  OpRegistry ops;
  ops.Register({.name = "NoOp", .inputs = -1});
  ops.Register({.name = "Const", .output_types = Always({DType::kInt64})});
  ops.Register(
      {.name = "Var", .output_types = Always({DType::kInt64}), .is_resource = true, .read = [](KernelContext&) {
         return absl::OkStatus();
       }});
  ops.Register({.name = "Assign", .inputs = 2, .output_types = Always({DType::kInt64}), .ref_inputs = 1});
  ops.Register({.name = "Identity", .inputs = 1, .output_types = Always({DType::kInt64})});
  return ops;
}

class BuilderTest : public testing::Test {
 protected:
  std::string DeviceOf(Output node) { return b_.status().ok() ? graph_.node(node.node).device : "failed"; }
  Output Const() { return b_.Op("Const", {}); }

  const OpRegistry ops_ = Ops();
  Graph graph_{ops_};
  Builder b_{graph_};
};

TEST_F(BuilderTest, WithoutScopesTheDeviceIsTakenAsItIs) {
  EXPECT_EQ(DeviceOf(Const()), "");
  b_.device = "anything";
  EXPECT_EQ(DeviceOf(Const()), "anything");
}

TEST_F(BuilderTest, WhatHasStateIsInTheContainer) {
  const auto container_of = [this](Output output) {
    const Attrs& attrs = graph_.node(output.node).attrs;
    return attrs.contains("container") ? std::get<std::string>(attrs.at("container")) : "none";
  };
  EXPECT_EQ(container_of(b_.Op("Var", {})), "none");
  b_.container = "experiment";
  EXPECT_EQ(container_of(b_.Op("Var", {})), "experiment");
  EXPECT_EQ(container_of(b_.Op("Var", {}, {.attrs = {{"container", "own"}}})), "own");
  EXPECT_EQ(container_of(Const()), "none");
}

TEST_F(BuilderTest, AFunctionThatThrowsFailsTheBuilder) {
  DeviceScope scope(b_, [](const Node&) -> absl::StatusOr<std::string> { throw std::runtime_error("no such task"); });
  EXPECT_EQ(DeviceOf(Const()), "failed");
  EXPECT_EQ(CodeOf(b_.status()), Code::kOther);
  EXPECT_EQ(MessageOf(b_.status()), "no such task");
}

TEST_F(BuilderTest, StringsNestAndTheInnerOneWins) {
  DeviceScope worker(b_, "/job:worker/cpu:0");
  EXPECT_EQ(DeviceOf(Const()), "/job:worker/device:CPU:0");
  {
    DeviceScope gpu(b_, "/gpu:1");
    EXPECT_EQ(DeviceOf(Const()), "/job:worker/device:GPU:1");
    b_.device = "/job:ps";
    EXPECT_EQ(DeviceOf(Const()), "/job:ps/device:GPU:1");
    b_.device.clear();
  }
  EXPECT_EQ(DeviceOf(Const()), "/job:worker/device:CPU:0");
}

TEST_F(BuilderTest, AFunctionSeesTheNodeWithTheDeviceFromFurtherIn) {
  std::vector<std::string> seen;
  DeviceScope outer(b_, [&seen](const Node& node) {
    seen.push_back(node.op + " " + node.device);
    return node.op == "Const" ? "/job:x" : "/job:y";
  });
  DeviceScope inner(b_, "/task:3");
  EXPECT_EQ(DeviceOf(Const()), "/job:x");
  EXPECT_EQ(DeviceOf(b_.Op("NoOp", {})), "/job:y");
  EXPECT_THAT(seen, testing::ElementsAre("Const /task:3", "NoOp /task:3"));
}

TEST_F(BuilderTest, ANullFunctionHidesTheScopesFurtherOut) {
  DeviceScope outer(b_, "/job:worker");
  DeviceScope none(b_, nullptr);
  EXPECT_EQ(DeviceOf(Const()), "");
  DeviceScope inner(b_, "/task:1");
  EXPECT_EQ(DeviceOf(Const()), "/task:1");
}

TEST_F(BuilderTest, WhatRefersToAVariableGoesWhereTheVariableIs) {
  DeviceScope by_op(b_, [](const Node& node) { return node.op == "Var" ? "/job:ps" : "/job:worker"; });
  const Output variable = b_.Op("Var", {});
  EXPECT_EQ(DeviceOf(variable), "/job:ps");
  EXPECT_EQ(DeviceOf(b_.Op("Assign", {variable, Const()})), "/job:ps");
  EXPECT_EQ(DeviceOf(b_.Op("Identity", {variable})), "/job:worker") << "it takes the value, not a reference";
  EXPECT_EQ(DeviceOf(b_.Op("Identity", {variable}, {.colocate_with = variable.node})), "/job:ps");
}

TEST_F(BuilderTest, WhatIsBesideANodeWithoutADeviceIsPlacedByTheScopes) {
  const Output variable = b_.Op("Var", {});
  DeviceScope worker(b_, "/job:worker");
  EXPECT_EQ(DeviceOf(b_.Op("Assign", {variable, Const()})), "/job:worker");
}

TEST_F(BuilderTest, ErrorsOfDevicesFailTheBuilder) {
  {
    Builder b(graph_);
    DeviceScope scope(b, "/foo:0");
    EXPECT_THAT(std::string(MessageOf(b.status())), HasSubstr("Unknown attribute 'foo'"));
  }
  {
    Builder b(graph_);
    DeviceScope scope(b, [](const Node&) { return UsageError("nowhere"); });
    const int before = graph_.size();
    EXPECT_EQ(b.Op("Const", {}).node, kNoNode);
    EXPECT_EQ(MessageOf(b.status()), "nowhere");
    EXPECT_EQ(graph_.size(), before);
  }
  {
    Builder b(graph_);
    DeviceScope scope(b, "/job:worker");
    b.device = "zzz";  // was never checked before there was a scope to merge it with
    EXPECT_EQ(b.Op("Const", {}).node, kNoNode);
    EXPECT_EQ(CodeOf(b.status()), Code::kUsage);
  }
}

TEST_F(BuilderTest, ErrorsOfTheGraphAreReportedAsBefore) {
  DeviceScope scope(b_, "/job:worker");
  b_.Op("Nonesuch", {});
  EXPECT_EQ(CodeOf(b_.status()), Code::kNotFound);
  Builder other(graph_);
  other.Op("Identity", {Output{77, 0}});
  EXPECT_EQ(CodeOf(other.status()), Code::kUsage);
}

}  // namespace
}  // namespace vigil
