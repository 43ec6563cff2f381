#include <gmock/gmock.h>

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
