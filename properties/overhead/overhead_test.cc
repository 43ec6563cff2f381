// What is measured is exactly what a hook takes of a clock that it turns itself: nothing else turns it.
#include "vigil/properties/overhead/overhead.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/properties/overhead/bench_hook.h"
#include "vigil/properties/overhead/overhead_report.h"

namespace vigil {
namespace {

using std::chrono::nanoseconds;
using testing::HasSubstr;
using testing::SizeIs;

// Each run takes `first` of the clock, and `more` more than the one before.
class Takes : public SessionRunHook {
 public:
  Takes(fakes::FakeEnv& fake, nanoseconds first, nanoseconds more) : fake_(fake), next_(first), more_(more) {}
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    fake_.clock.Advance(next_);
    next_ += more_;
    return absl::OkStatus();
  }

 private:
  fakes::FakeEnv& fake_;
  nanoseconds next_;
  const nanoseconds more_;
};

class OverheadTest : public testing::Test {
 protected:
  HookToMeasure Taking(std::string name, nanoseconds first, nanoseconds more = {}) {
    return {std::move(name), [this, first, more](HookWorld&) -> absl::StatusOr<HookPtr> {
              return std::make_shared<Takes>(fake_, first, more);
            }};
  }

  fakes::FakeEnv fake_;
  OverheadOptions options_{.blocks = 5, .runs = 10, .directory = "/bench"};
};

TEST_F(OverheadTest, WhatAHookTakesOfTheClockIsWhatItCosts) {
  const auto report =
      MeasureOverhead(fake_.env(), {Taking("little", nanoseconds(7)), Taking("much", nanoseconds(900))}, options_);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_THAT(report->hooks, SizeIs(3));
  EXPECT_EQ(report->run_ns, 0);
  EXPECT_EQ(report->hooks[0].name, kFloorName);
  EXPECT_EQ(report->hooks[0].ns, 0);
  EXPECT_EQ(report->hooks[1].ns, 7);
  EXPECT_EQ(report->hooks[2].ns, 900);
  EXPECT_EQ(report->hooks[2].ns_later, 0);
  EXPECT_FALSE(report->counts_allocations);
}

TEST_F(OverheadTest, AHookThatBecomesDearerSaysHowFast) {
  const auto report = MeasureOverhead(fake_.env(), {Taking("grows", nanoseconds(0), nanoseconds(3))}, options_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_DOUBLE_EQ(report->hooks[1].ns_later, 3000);
  // Runs 10 to 59 are measured; the block in the middle begins with run 30 and takes 30 * 3 to 39 * 3.
  EXPECT_DOUBLE_EQ(report->hooks[1].ns, 34.5 * 3);
  EXPECT_LT(report->hooks[1].low, report->hooks[1].ns);
  EXPECT_GT(report->hooks[1].high, report->hooks[1].ns);
}

TEST_F(OverheadTest, AllocationsAreThoseOfTheHookAlone) {
  std::uint64_t allocated = 0;
  options_.allocations = [&allocated] { return allocated; };
  class Allocates : public SessionRunHook {
   public:
    explicit Allocates(std::uint64_t& count) : count_(count) {}
    absl::Status AfterRun(RunContext&, const RunValues&) override {
      count_ += 2;
      return absl::OkStatus();
    }

   private:
    std::uint64_t& count_;
  };
  const HookToMeasure hook{"allocates", [&allocated](HookWorld&) -> absl::StatusOr<HookPtr> {
                             return std::make_shared<Allocates>(allocated);
                           }};
  const auto report = MeasureOverhead(fake_.env(), {hook}, options_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->counts_allocations);
  EXPECT_EQ(report->hooks[0].allocations, 0);
  EXPECT_EQ(report->hooks[1].allocations, 2);
}

TEST_F(OverheadTest, WhoStopsTheTrainingIsNamed) {
  class Stops : public SessionRunHook {
   public:
    absl::Status AfterRun(RunContext& context, const RunValues&) override {
      if (++runs_ == 10) context.RequestStop();
      return absl::OkStatus();
    }

   private:
    int runs_ = 0;
  };
  const auto report = MeasureOverhead(
      fake_.env(), {{"stops", [](HookWorld&) -> absl::StatusOr<HookPtr> { return std::make_shared<Stops>(); }}},
      options_);
  EXPECT_EQ(CodeOf(report.status()), Code::kUsage);
  EXPECT_THAT(std::string(MessageOf(report.status())), HasSubstr("The hook 'stops' was not measured: It stops"));
}

TEST_F(OverheadTest, AMakerThatFailsIsNamed) {
  const auto report = MeasureOverhead(
      fake_.env(),
      {{"none", [](HookWorld&) -> absl::StatusOr<HookPtr> { return UsageError("There is no such file."); }}}, options_);
  EXPECT_THAT(std::string(MessageOf(report.status())),
              HasSubstr("The hook 'none' was not measured: There is no such file."));
  const auto null = MeasureOverhead(
      fake_.env(), {{"null", [](HookWorld&) -> absl::StatusOr<HookPtr> { return HookPtr(); }}}, options_);
  EXPECT_THAT(std::string(MessageOf(null.status())), HasSubstr("'null' was not measured: The maker"));
}

TEST_F(OverheadTest, EachHookOfTheLibraryCanBeMeasured) {
  const auto report =
      MeasureOverhead(fake_.env(), BuiltInHooksToMeasure(), {.blocks = 2, .runs = 60, .directory = "/bench"});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->hooks, SizeIs(BuiltInHooksToMeasure().size() + 1));
}

OverheadReport Forged() {
  return {.run_ns = 512.4,
          .blocks = 3,
          .runs = 10,
          .counts_allocations = true,
          .hooks = {{.name = kFloorName, .ns = 12, .low = 11, .high = 14, .ns_later = 0.25, .allocations = 0},
                    {.name = "a<\"b\"", .ns = 1234.4, .low = 1200, .high = 1300, .ns_later = -3, .allocations = 1.5}}};
}

TEST(OverheadReportTest, TheTableHasALineForEachHook) {
  EXPECT_EQ(
      OverheadTable(Forged()),
      "hook             ns a run            quartiles    ns later  allocs\n"
      "(does nothing)         12             11 to 14        0.25    0.00\n"
      "a<\"b\"                1234         1200 to 1300       -3.00    1.50\n"
      "A run without hooks takes 512 ns. Each hook: 3 pairs of 10 runs, with it less without; \"ns later\" is by\n"
      "which a run becomes dearer with each thousand runs.\n");
}

TEST(OverheadReportTest, TheJsonCanBeRead) {
  OverheadReport report = Forged();
  nlohmann::json read = nlohmann::json::parse(OverheadJson(report));
  EXPECT_EQ(read["hooks"][1]["name"], "a<\"b\"");
  EXPECT_EQ(read["hooks"][1]["ns"], 1234.4);
  EXPECT_EQ(read["hooks"][1]["allocations"], 1.5);
  EXPECT_EQ(read["runs"], 10);
  report.counts_allocations = false;
  read = nlohmann::json::parse(OverheadJson(report));
  EXPECT_TRUE(read["hooks"][1]["allocations"].is_null());
}

TEST(OverheadReportTest, ThePictureHasABarForEachHook) {
  const std::string svg = OverheadSvg(Forged());
  EXPECT_THAT(svg, HasSubstr(">a&lt;\"b\"</text><rect x=\"114.8\""));
  // 1234.4 ns on four decades of 105 each.
  EXPECT_THAT(svg, HasSubstr("width=\"324.6\" height=\"12\""));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
}

int Bench(std::vector<const char*> words, const std::vector<HookToMeasure>& known) {
  words.insert(words.begin(), "bench");
  return BenchHooks(static_cast<int>(words.size()), words.data(), known);
}

TEST(BenchHookTest, MisuseIsTold) {
  EXPECT_EQ(Bench({"--hook", "nobody"}, {}), 2);
  for (const char* const number : {"0", "-1", "010", "0x10", "1e3", "100001", "1 "}) {
    EXPECT_EQ(Bench({"--list", "--blocks", number}, {}), 2) << number;
    EXPECT_EQ(Bench({"--list", "--runs", number}, {}), std::string(number) == "100001" ? 0 : 2) << number;
  }
  EXPECT_EQ(Bench({"--list"}, {}), 0);
  EXPECT_EQ(Bench({"--help"}, {}), 0);
}

VIGIL_BENCH_HOOK(Registered, [](HookWorld&) -> absl::StatusOr<HookPtr> { return UsageError("It is not to be made."); });

TEST(BenchHookTest, ARegisteredHookIsMeasured) {
  ASSERT_THAT(RegisteredHooksToMeasure(), SizeIs(1));
  EXPECT_EQ(RegisteredHooksToMeasure()[0].name, "Registered");
  EXPECT_EQ(Bench({"--alone", "--blocks", "1", "--runs", "1"}, RegisteredHooksToMeasure()), 1);
}

}  // namespace
}  // namespace vigil
