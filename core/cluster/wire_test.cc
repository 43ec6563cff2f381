#include "vigil/core/cluster/wire.h"

#include <gtest/gtest.h>

namespace vigil {
namespace {

TEST(WireTest, WhatANodeDidComesAsItWas) {
  const NodeStats stats{.node_name = "sum", .op = "AddV2", .start_ns = 7, .end_ns = 9, .output_bytes = 4};
  proto::NodeStatsProto sent;
  ToProto(stats, &sent);
  const NodeStats got = FromProto(sent);
  EXPECT_EQ(got.node_name, stats.node_name);
  EXPECT_EQ(got.op, stats.op);
  EXPECT_EQ(got.start_ns, stats.start_ns);
  EXPECT_EQ(got.end_ns, stats.end_ns);
  EXPECT_EQ(got.output_bytes, stats.output_bytes);
}

}  // namespace
}  // namespace vigil
