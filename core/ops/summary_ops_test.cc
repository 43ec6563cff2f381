#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

#include "vigil/core/io/summary.pb.h"
#include "vigil/core/ops/testing.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;

class SummaryOpsTest : public OpsTest<fakes::FakeEnv> {
 protected:
  std::string Text(Output output) {
    const absl::StatusOr<Tensor> value = Get(output);
    proto::Summary summary;
    if (!value.ok() || !summary.ParseFromString(value->scalar<std::string>())) return vigil::Show(value);
    std::string out;
    for (const proto::Summary::Value& each : summary.value()) {
      out += each.tag() + "=" + std::to_string(each.simple_value()) + " ";
    }
    return out;
  }
};

TEST_F(SummaryOpsTest, AScalarSummaryIsCollected) {
  const Output loss = ops::ScalarSummary(b_, "loss_summary", "loss", Scalar<float>(0.5F));
  const Output step = ops::ScalarSummary(b_, "step_summary", "step", Scalar<std::int64_t>(7));
  EXPECT_EQ(Text(loss), "loss=0.500000 ");
  EXPECT_THAT(graph_.Collection(kSummaries), ElementsAre(loss, step));
  EXPECT_EQ(Text(ops::MergeAllSummaries(b_)), "loss=0.500000 step=7.000000 ");
}

TEST_F(SummaryOpsTest, TheBytesAreTensorFlows) {
  const absl::StatusOr<Tensor> value = Get(ops::ScalarSummary(b_, "s", "a", Scalar<float>(1)));
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->scalar<std::string>(), std::string("\x0a\x08\x0a\x01"
                                                      "a\x15\x00\x00\x80\x3f",
                                                      10));
}

std::string Hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

TEST_F(SummaryOpsTest, AHistogramIsTensorFlows) {
  const Output node = ops::HistogramSummary(b_, "h", "w", Vec<float>({-0.5F, 0, 0, 1.5F, 1e-13F}));
  EXPECT_THAT(graph_.Collection(kSummaries), ElementsAre(node));
  const absl::StatusOr<Tensor> value = Get(node);
  ASSERT_TRUE(value.ok()) << value.status();
  // tf.raw_ops.HistogramSummary of TensorFlow 2.21.
  EXPECT_EQ(Hex(value->scalar<std::string>()),
            "0aa7010a01772aa10109000000000000e0bf11000000000000f83f19000000000000144021c20100000000f03f290000"
            "0000000004403238b03125ee8091e0bffae55a25d31fdebf000000000000000011ea2d819997713d8545cc9fc0a2f73f"
            "794cfae2d3fff93fffffffffffffef7f3a380000000000000000000000000000f03f0000000000000000000000000000"
            "08400000000000000000000000000000f03f0000000000000000");
}

TEST_F(SummaryOpsTest, AHistogramIsOfNumbers) {
  const auto of = [this](double value) { return Show(ops::HistogramSummary(b_, "h", "w", Scalar<double>(value))); };
  EXPECT_EQ(of(std::numeric_limits<double>::quiet_NaN()), "INVALID_ARGUMENT: Nan in summary histogram for: h");
  EXPECT_EQ(of(-std::numeric_limits<double>::infinity()), "INVALID_ARGUMENT: Infinity in summary histogram for: h_1");
  EXPECT_EQ(Show(b_.Op("HistogramSummary", {Vec<std::string>({"a", "b"}), Scalar<float>(1)})),
            "INVALID_ARGUMENT: tags must be scalar");
}

TEST_F(SummaryOpsTest, TheLargestNumbersAreInTheLastBucket) {
  proto::Summary summary;
  const auto value = Get(ops::HistogramSummary(b_, "h", "w", Scalar<double>(std::numeric_limits<double>::max())));
  ASSERT_TRUE(value.ok() && summary.ParseFromString(value->scalar<std::string>()));
  EXPECT_THAT(summary.value(0).histo().bucket(), ElementsAre(0, 1));
}

TEST_F(SummaryOpsTest, NothingToMerge) { EXPECT_EQ(ops::MergeAllSummaries(b_).node, kNoNode); }

TEST_F(SummaryOpsTest, TagsMustDiffer) {
  ops::ScalarSummary(b_, "s", "a", Scalar<float>(1));
  ops::ScalarSummary(b_, "s", "a", Scalar<float>(2));
  EXPECT_EQ(Text(ops::MergeAllSummaries(b_)), "INVALID_ARGUMENT: Duplicate tag a found in summary inputs");
}

TEST_F(SummaryOpsTest, TagsAndValuesHaveOneShape) {
  EXPECT_EQ(Show(b_.Op("ScalarSummary", {Vec<std::string>({"a", "b"}), Scalar<float>(1)})),
            "INVALID_ARGUMENT: tags and values are not the same shape: [2] != []");
}

}  // namespace
}  // namespace vigil
