#include "vigil/core/train/run_events.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using ::testing::ElementsAre;

class AskingHook : public SessionRunHook {
 public:
  explicit AskingHook(RunArgs args) : args_(std::move(args)) {}
  absl::Status BeforeRun(RunContext&, RunArgs& args) override {
    args = args_;
    return absl::OkStatus();
  }

 private:
  RunArgs args_;
};

class RunEventsTest : public testing::Test {
 protected:
  RunEventsTest() {
    Builder b(graph_);
    one_ = b.Const("one", Tensor::Scalar<std::int64_t>(1));
    a_ = ops::PlaceholderWithDefault(b, "a", one_);
    b_ = ops::PlaceholderWithDefault(b, "b", one_);
    EXPECT_TRUE(b.status().ok()) << b.status();
  }

  // "0 fetches a:0 ", "-1 feed a:0 = 7", in order.
  std::vector<std::string> Parts() const {
    std::vector<std::string> out;
    for (const Event& event : fake_.events.events()) {
      if (event.kind != EventKind::kRunPart) continue;
      out.push_back(fmt::format("{} {} {}{}", event.index, DetailName(event.kind, event.call), event.subject,
                                event.has_value ? fmt::format(" = {}", event.value) : ""));
    }
    return out;
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Output one_, a_, b_;
};

TEST_F(RunEventsTest, SayWhatEachAskedForAndWhatTheSessionGot) {
  RunOptions asked;
  asked.timeout_in_ms = 5;
  RunOptions given;
  given.timeout_in_ms = 9;
  given.debug_tensor_watch_opts.push_back({.node_name = "a"});
  auto session = MonitoredSession::Create(
      fake_.env(), graph_,
      {.hooks = {std::make_shared<AskingHook>(RunArgs{.fetches = b_, .feeds = {}, .options = asked}),
                 std::make_shared<AskingHook>(
                     RunArgs{.fetches = one_, .feeds = {{b_, Tensor::Scalar<std::int64_t>(7)}}, .options = {}})}});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run(a_, {{a_, Tensor::Scalar<std::int64_t>(3)}}, given).ok());
  EXPECT_THAT(Parts(), ElementsAre("-1 feed a:0 = 3", "-1 option timeout_in_ms = 9", "-1 watch a:0", "0 fetches b:0 ",
                                   "0 option timeout_in_ms = 5", "1 fetches one:0 ", "1 feed b:0 = 7",
                                   "-2 feed b:0 = 7", "-2 feed a:0 = 3", "-2 option timeout_in_ms = 9", "-2 watch a:0",
                                   "0 results b:0 ", "1 results one:0 "));
}

TEST_F(RunEventsTest, EachOptionThatIsSetIsTold) {
  RunOptions options;
  options.trace_level = TraceLevel::kFullTrace;
  options.timeout_in_ms = 5;
  options.inter_op_thread_pool = 3;
  options.output_partition_graphs = true;
  options.report_tensor_allocations_upon_oom = true;
  options.reset_disk_byte_usage = true;
  RunEvents(fake_.env()).CallerGives(graph_, {}, options);
  EXPECT_THAT(Parts(),
              ElementsAre(fmt::format("-1 option trace_level = {}", static_cast<double>(TraceLevel::kFullTrace)),
                          "-1 option timeout_in_ms = 5", "-1 option inter_op_thread_pool = 3",
                          "-1 option output_partition_graphs = 1", "-1 option report_tensor_allocations_upon_oom = 1",
                          "-1 option reset_disk_byte_usage = 1"));
}

// What is fed and is no number has a checksum, which tells two values apart.
TEST_F(RunEventsTest, WhatIsFedAndIsNoNumberHasAChecksum) {
  const auto sum_of = [this](const Tensor& value) {
    RunEvents(fake_.env()).CallerGives(graph_, {{a_, value}}, {});
    EXPECT_FALSE(fake_.events.events().back().has_value);
    return fake_.events.events().back().value;
  };
  EXPECT_NE(sum_of(Tensor::Scalar<std::string>("left")), sum_of(Tensor::Scalar<std::string>("right")));
  EXPECT_EQ(sum_of(Tensor::Scalar<std::string>("left")), sum_of(Tensor::Scalar<std::string>("left")));
  EXPECT_NE(sum_of(Tensor::Vector<std::int64_t>({1, 2})), sum_of(Tensor::Vector<std::int64_t>({1, 3})));
  EXPECT_EQ(sum_of(Tensor()), 0);
}

TEST_F(RunEventsTest, WhatIsOfAnotherGraphIsRefused) {
  const Output foreign{9999, 0};
  const Feeds feeds{{foreign, Tensor::Scalar<std::int64_t>(1)}};
  const auto code_with = [&](RunArgs args, const Feeds& of_caller) {
    auto session = MonitoredSession::Create(fake_.env(), graph_, {.hooks = {std::make_shared<AskingHook>(args)}});
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? CodeOf((*session)->Run(a_, of_caller).status()) : Code::kOk;
  };
  EXPECT_EQ(code_with({}, feeds), Code::kUsage);
  EXPECT_EQ(code_with({.fetches = foreign, .feeds = {}, .options = {}}, {}), Code::kUsage);
  EXPECT_EQ(code_with({.fetches = {}, .feeds = feeds, .options = {}}, {}), Code::kUsage);
  EXPECT_EQ(code_with({.fetches = {}, .feeds = feeds, .options = {}}, feeds), Code::kUsage);
  EXPECT_THAT(Parts(), testing::IsSupersetOf({"-1 feed ?:0 = 1", "0 fetches ?:0 ", "0 feed ?:0 = 1"}));
}

TEST_F(RunEventsTest, ARunThatNobodyAsksAnythingOfHasNone) {
  auto session = MonitoredSession::Create(fake_.env(), graph_, {.hooks = {std::make_shared<AskingHook>(RunArgs())}});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run(a_).ok());
  EXPECT_THAT(Parts(), ElementsAre());
}

}  // namespace
}  // namespace vigil
