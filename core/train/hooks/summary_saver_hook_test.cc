#include "vigil/core/train/hooks/summary_saver_hook.h"

#include <chrono>

#include "vigil/core/base/code.h"
#include "vigil/core/train/hooks/testing.h"
#include "vigil/fakes/summary/scribe_writer.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class SummarySaverHookTest : public HookTest {
 protected:
  SummarySaverHookTest() {
    summary_ = ops::ScalarSummary(b(), "s", "my_summary", loss_);
    other_summary_ = ops::ScalarSummary(b(), "s2", "other", loss_);
    EXPECT_TRUE(b().status().ok());
  }
  std::shared_ptr<SummarySaverHook> Make(SummarySaverHookOptions options) {
    auto hook = SummarySaverHook::Create(env(), std::move(options));
    EXPECT_TRUE(hook.ok()) << hook.status();
    return *std::move(hook);
  }
  std::string Refused(SummarySaverHookOptions options) {
    const absl::Status status = SummarySaverHook::Create(env(), std::move(options)).status();
    EXPECT_EQ(CodeOf(status), Code::kUsage);
    return std::string(MessageOf(status));
  }
  void RunTimes(int runs, Duration each = Duration::zero()) {
    for (int i = 0; i < runs; ++i) {
      ASSERT_TRUE(Run().ok());
      fake_.clock.Advance(each);
    }
  }
  Output summary_, other_summary_;
  std::shared_ptr<fakes::ScribeWriter> writer_ = std::make_shared<fakes::ScribeWriter>();
};

TEST_F(SummarySaverHookTest, RefusesItsArguments) {
  const std::string source = "Exactly one of scaffold or summary_op must be provided.";
  EXPECT_EQ(Refused({.save_steps = 10}), source);
  EXPECT_EQ(
      Refused({.save_steps = 10, .scaffold = std::make_shared<Scaffold>(env(), graph_), .summary_op = {summary_}}),
      source);
  EXPECT_EQ(Refused({.save_steps = 10, .save_secs = 10s, .summary_op = {summary_}}),
            "Can not provide both every_secs and every_steps.");
  EXPECT_EQ(Refused({.summary_op = {summary_}}), "Either every_secs or every_steps should be provided.");
}

TEST_F(SummarySaverHookTest, NeedsAGlobalStep) {
  Graph without(BuiltinOps());
  const Env begin_env = env();
  BeginContext context{begin_env, without};
  const absl::Status status = Make({.save_steps = 1, .summary_op = {summary_}})->Begin(context);
  EXPECT_EQ(MessageOf(status), "Global step should be created to use SummarySaverHook.");
}

TEST_F(SummarySaverHookTest, TellsItsPeriod) {
  Start(Make({.save_steps = 8, .summary_writer = writer_, .summary_op = {summary_}}));
  EXPECT_THAT(Details(HookDetail::kEverySteps), ElementsAre(8));
}

TEST_F(SummarySaverHookTest, EveryEighthStep) {
  Start(Make({.save_steps = 8, .summary_writer = writer_, .summary_op = {summary_}}));
  RunTimes(30);
  EXPECT_THAT(writer_->lines,
              ElementsAre("session_log START step=1", "summary step=1 my_summary=0.5", "summary step=9 my_summary=0.5",
                          "summary step=17 my_summary=0.5", "summary step=25 my_summary=0.5"));
  writer_->lines.clear();
  ASSERT_TRUE(End().ok());
  EXPECT_THAT(writer_->lines, ElementsAre("flush"));
}

TEST_F(SummarySaverHookTest, SeveralSummaryOps) {
  Start(Make({.save_steps = 8, .summary_writer = writer_, .summary_op = {summary_, other_summary_}}));
  RunTimes(10);
  EXPECT_THAT(writer_->lines,
              ElementsAre("session_log START step=1", "summary step=1 my_summary=0.5", "summary step=1 other=0.5",
                          "summary step=9 my_summary=0.5", "summary step=9 other=0.5"));
}

TEST_F(SummarySaverHookTest, EverySecondOnceForEachStep) {
  Start(Make({.save_secs = 500ms, .summary_writer = writer_, .summary_op = {summary_}}));
  RunTimes(4, 500ms);
  EXPECT_THAT(writer_->lines,
              ElementsAre("session_log START step=1", "summary step=1 my_summary=0.5", "summary step=2 my_summary=0.5",
                          "summary step=3 my_summary=0.5", "summary step=4 my_summary=0.5"));
}

TEST_F(SummarySaverHookTest, EverySecondsOnceForThreeSteps) {
  Start(Make({.save_secs = 9s, .summary_writer = writer_, .summary_op = {summary_}}));
  RunTimes(8, 3s);
  EXPECT_THAT(writer_->lines, ElementsAre("session_log START step=1", "summary step=1 my_summary=0.5",
                                          "summary step=4 my_summary=0.5", "summary step=7 my_summary=0.5"));
}

TEST_F(SummarySaverHookTest, TheScaffoldsOpIsLookedUpLate) {
  auto scaffold = std::make_shared<Scaffold>(env(), graph_);
  auto hook = Make({.save_steps = 1, .summary_writer = writer_, .scaffold = scaffold});
  ASSERT_TRUE(Begin(hook).ok());
  ASSERT_TRUE(scaffold->Finalize().ok());
  ASSERT_TRUE(NewSession().ok());
  RunTimes(1);
  EXPECT_THAT(writer_->lines, ElementsAre("session_log START step=1", "summary step=1 my_summary=0.5 other=0.5"));
}

TEST_F(SummarySaverHookTest, AScaffoldWithoutSummariesStillStarts) {
  graph_.ClearCollection(kSummaries.name);
  auto scaffold = std::make_shared<Scaffold>(env(), graph_);
  auto hook = Make({.save_steps = 1, .summary_writer = writer_, .scaffold = scaffold});
  ASSERT_TRUE(Begin(hook).ok());
  ASSERT_TRUE(scaffold->Finalize().ok());
  ASSERT_TRUE(NewSession().ok());
  RunTimes(3);
  EXPECT_THAT(writer_->lines, ElementsAre("session_log START step=1"));
}

TEST_F(SummarySaverHookTest, StartIsNotRepeatedAfterARecovery) {
  Start(Make({.save_steps = 1, .summary_writer = writer_, .summary_op = {summary_}}));
  RunTimes(1);
  ASSERT_TRUE(NewSession().ok());
  RunTimes(2);  // the steps 1 and 2 are made again, and the first of them was written already
  EXPECT_THAT(writer_->lines, ElementsAre("session_log START step=1", "summary step=1 my_summary=0.5",
                                          "summary step=1 my_summary=0.5", "summary step=2 my_summary=0.5"));
}

TEST_F(SummarySaverHookTest, AHookThatBeginsAgainBeginsItsLogAgain) {
  const auto hook = Make({.save_steps = 8, .summary_writer = writer_, .summary_op = {summary_}});
  for (int i = 0; i < 2; ++i) {
    Start(hook);
    RunTimes(1);
    EXPECT_THAT(writer_->lines, ElementsAre("session_log START step=1", "summary step=1 my_summary=0.5"));
    writer_->lines.clear();
  }
}

TEST_F(SummarySaverHookTest, WithoutAWriterTheSummaryIsFetchedInEveryRun) {
  auto hook = Make({.save_steps = 100, .summary_op = {summary_}});
  Start(hook);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Run(train_).ok());
    EXPECT_EQ(result_.tensors().size(), 3u) << "train, step, summary: as in TensorFlow";
  }
  EXPECT_TRUE(hook->End(nullptr).ok());
}

TEST_F(SummarySaverHookTest, ASummaryOpGivesSummaries) {
  Start(Make({.save_steps = 1, .summary_writer = writer_, .summary_op = {loss_}}));
  EXPECT_EQ(CodeOf(Run()), Code::kUsage);
}

TEST_F(SummarySaverHookTest, WritesToTheWriterOfItsDirectory) {
  auto hook = Make({.save_steps = 1, .output_dir = "/logs", .summary_op = {summary_}});
  Start(hook);
  RunTimes(1);
  ASSERT_TRUE(hook->End(nullptr).ok()) << "flushes without a session";
  EXPECT_THAT(TakeWriterCalls(), ElementsAre("session_log step=1", "summary step=1", "flush"));
}

}  // namespace
}  // namespace vigil
