#include "vigil/properties/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "vigil/properties/verify/findings.h"
#include "vigil/properties/verify/verify_hook.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::Field;

// Stops after so many steps.
class StopsLate : public SessionRunHook {
 public:
  explicit StopsLate(Output step) : step_(step) {}
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args.fetches = step_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (values.results.scalar<std::int64_t>() >= 4) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  const Fetches step_;
};

// Counts in BeforeRun, and so counts runs that fail.
class CountsInBeforeRun : public SessionRunHook {
 public:
  absl::Status Begin(BeginContext&) override {
    runs_ = 0;
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext&, RunArgs&) override {
    ++runs_;
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues&) override {
    if (runs_ >= 5) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  int runs_ = 0;
};

VIGIL_VERIFY_HOOK(StopsLate, [](HookWorld& w) { return std::make_unique<StopsLate>(w.train_op()); });

TEST(VerifyHook, FindsWhatCountsInBeforeRun) {
  const HookReport report = VerifyHook([](HookWorld&) { return std::make_unique<CountsInBeforeRun>(); });
  EXPECT_EQ(report.error, "");
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].promise, promise::kRepeat) << ReportText("x", report, "again {}");
}

}  // namespace
}  // namespace vigil
