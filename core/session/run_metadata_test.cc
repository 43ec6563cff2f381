#include "vigil/core/session/run_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/session/run_metadata.pb.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kPs[] = "/job:ps/replica:0/task:0/device:CPU:0";

RunMetadata OfTwoDevices() {
  return {.step_stats = {{.node_name = "a", .op = "Const", .device = kPs, .start_ns = 5'000'001, .end_ns = 5'002'501},
                         {.node_name = "sum",
                          .op = "AddV2",
                          .inputs = {"a", "b:1", "^c"},
                          .start_ns = 6'000'000,
                          .end_ns = 6'000'400,
                          .output_bytes = 8},
                         {.node_name = "b", .op = "Split", .inputs = {"a"}, .device = kPs}}};
}

TEST(RunMetadataTest, EachDeviceHasItsNodes) {
  const proto::RunMetadata got = ToProto(OfTwoDevices());
  ASSERT_EQ(got.step_stats().dev_stats_size(), 2);
  const proto::DeviceStepStats& ps = got.step_stats().dev_stats(0);
  EXPECT_EQ(ps.device(), kPs);
  ASSERT_EQ(ps.node_stats_size(), 2);
  EXPECT_EQ(ps.node_stats(0).ShortDebugString(),
            "node_name: \"a\" all_start_micros: 5000 op_end_rel_micros: 2 all_end_rel_micros: 2 "
            "timeline_label: \"a = Const()\" all_start_nanos: 5000001 op_end_rel_nanos: 2500 all_end_rel_nanos: 2500");
  EXPECT_EQ(ps.node_stats(1).node_name(), "b");
  const proto::DeviceStepStats& local = got.step_stats().dev_stats(1);
  EXPECT_EQ(local.device(), "/job:localhost/replica:0/task:0/device:CPU:0");
  ASSERT_EQ(local.node_stats_size(), 1);
  EXPECT_EQ(local.node_stats(0).timeline_label(), "sum = AddV2(a, b:1, ^c)");
  ASSERT_EQ(local.node_stats(0).output_size(), 1);
  EXPECT_EQ(local.node_stats(0).output(0).tensor_description().allocation_description().ShortDebugString(),
            "requested_bytes: 8 allocated_bytes: 8 allocator_name: \"cpu\"");
}

TEST(RunMetadataTest, ARunThatWasNotTracedSaysNothing) { EXPECT_EQ(ToProto(RunMetadata()).ByteSizeLong(), 0u); }

TEST(RunMetadataTest, ComesBackAsItWas) {
  const RunMetadata sent = OfTwoDevices();
  const RunMetadata got = FromProto(ToProto(sent));
  ASSERT_EQ(got.step_stats.size(), 3u);
  const NodeStats& sum = got.step_stats[2];  // of the second device
  EXPECT_EQ(sum.node_name, "sum");
  EXPECT_EQ(sum.op, "AddV2");
  EXPECT_THAT(sum.inputs, ElementsAre("a", "b:1", "^c"));
  EXPECT_EQ(sum.device, "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(sum.start_ns, 6'000'000);
  EXPECT_EQ(sum.end_ns, 6'000'400);
  EXPECT_EQ(sum.output_bytes, 8);
  EXPECT_EQ(got.step_stats[0].device, kPs);
  EXPECT_THAT(got.step_stats[0].inputs, IsEmpty());
  EXPECT_THAT(got.step_stats[1].inputs, ElementsAre("a"));
}

// Older ones of TensorFlow's know microseconds only; a label may have anything before it, or be none.
TEST(RunMetadataTest, OthersWriteOtherwise) {
  proto::RunMetadata said;
  proto::DeviceStepStats& device = *said.mutable_step_stats()->add_dev_stats();
  const auto add = [&device](const char* label) {
    proto::NodeExecStats& node = *device.add_node_stats();
    node.set_node_name("n");
    node.set_timeline_label(label);
    node.set_all_start_micros(3);
    node.set_all_end_rel_micros(2);
  };
  for (const char* label : {"[Peak 4 MB] n = Op(a, b)", "n = Op(a", "n = Op", "other = Op(a)", "", "n = Op()"})
    add(label);
  const RunMetadata got = FromProto(said);
  ASSERT_EQ(got.step_stats.size(), 6u);
  EXPECT_EQ(got.step_stats[0].start_ns, 3000);
  EXPECT_EQ(got.step_stats[0].end_ns, 5000);
  EXPECT_EQ(got.step_stats[0].op, "Op");
  EXPECT_THAT(got.step_stats[0].inputs, ElementsAre("a", "b"));
  for (int i = 1; i < 5; ++i) {
    EXPECT_EQ(got.step_stats[static_cast<std::size_t>(i)].op, "") << i;
    EXPECT_THAT(got.step_stats[static_cast<std::size_t>(i)].inputs, IsEmpty()) << i;
  }
  EXPECT_EQ(got.step_stats[5].op, "Op");
  EXPECT_THAT(got.step_stats[5].inputs, IsEmpty());
}

}  // namespace
}  // namespace vigil
