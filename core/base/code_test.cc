#include "vigil/core/base/code.h"

#include <gtest/gtest.h>

#include "absl/status/statusor.h"

namespace vigil {
namespace {

TEST(CodeTest, EveryCodeComesBackFromItsStatusAndItsName) {
  for (int i = 1; i <= static_cast<int>(Code::kNanLoss); ++i) {
    const Code code = static_cast<Code>(i);
    const absl::Status status = MakeStatus(code, "scenario");
    EXPECT_EQ(CodeOf(status), code) << CodeName(code);
    EXPECT_EQ(MessageOf(status), "scenario");
    EXPECT_EQ(CodeFromName(CodeName(code)), code);
    EXPECT_EQ(CodeOf(WithMessage(status, "other words")), code) << CodeName(code);
  }
  EXPECT_EQ(CodeOf(absl::OkStatus()), Code::kOk);
  EXPECT_EQ(CodeFromName("NO_SUCH"), std::nullopt);
}

TEST(CodeTest, ExtraCodesTravelAsUnknown) {
  EXPECT_TRUE(absl::IsUnknown(MakeStatus(Code::kStopIteration, "")));
  EXPECT_TRUE(absl::IsUnknown(MakeStatus(Code::kUsage, "")));
}

TEST(CodeTest, CopiesOfAnErrorAreTheSameEqualOnesAreNot) {
  for (const Code code : {Code::kInternal, Code::kStopIteration}) {
    const absl::Status error = MakeStatus(code, "scenario");
    const absl::StatusOr<int> passed_on = error;
    EXPECT_TRUE(IsSameError(error, passed_on.status()));
    EXPECT_FALSE(IsSameError(error, MakeStatus(code, "scenario")));
    EXPECT_FALSE(IsSameError(error, absl::OkStatus()));
  }
  EXPECT_TRUE(IsSameError(absl::OkStatus(), absl::OkStatus()));
}

TEST(CodeTest, PreemptionIsExactlyAbortedOrUnavailable) {
  for (int i = 1; i <= static_cast<int>(Code::kNanLoss); ++i) {
    const Code code = static_cast<Code>(i);
    EXPECT_EQ(IsPreemption(MakeStatus(code, "")), code == Code::kAborted || code == Code::kUnavailable);
    EXPECT_EQ(IsCleanEnd(MakeStatus(code, "")), code == Code::kOutOfRange || code == Code::kStopIteration);
  }
  EXPECT_FALSE(IsPreemption(absl::OkStatus()));
  EXPECT_FALSE(IsCleanEnd(absl::OkStatus()));
}

TEST(CodeTest, TheFirstOriginStays) {
  const absl::Status error =
      WithOrigin(WithOrigin(MakeStatus(Code::kOutOfRange, "end"), kOriginRun), "hook 'a' in after_run");
  EXPECT_EQ(OriginOf(error), kOriginRun);
  EXPECT_EQ(CodeOf(error), Code::kOutOfRange);
  EXPECT_EQ(OriginOf(MakeStatus(Code::kOutOfRange, "end")), "");
  EXPECT_TRUE(WithOrigin(absl::OkStatus(), kOriginRun).ok());
}

}  // namespace
}  // namespace vigil
