#include "vigil/core/train/hooks/step_counter_hook.h"

#include <chrono>

#include "vigil/core/base/code.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/hooks/testing.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/summary/scribe_writer.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class StepCounterHookTest : public HookTest {
 protected:
  std::shared_ptr<StepCounterHook> Make(StepCounterHookOptions options) {
    auto hook = StepCounterHook::Create(env(), std::move(options));
    EXPECT_TRUE(hook.ok()) << hook.status();
    return *std::move(hook);
  }
  void RunTimes(int runs, Duration each, const Fetches& what) {
    for (int i = 0; i < runs; ++i) {
      fake_.clock.Advance(each);
      ASSERT_TRUE(Run(what).ok());
    }
  }
  std::shared_ptr<fakes::ScribeWriter> writer_ = std::make_shared<fakes::ScribeWriter>();
};

TEST_F(StepCounterHookTest, TakesExactlyOnePeriod) {
  const std::string_view refused = "exactly one of every_n_steps and every_n_secs should be provided.";
  EXPECT_EQ(MessageOf(StepCounterHook::Create(env(), {.every_n_secs = 1s}).status()), refused)
      << "every_n_steps has a default";
  EXPECT_EQ(MessageOf(StepCounterHook::Create(env(), {.every_n_steps = std::nullopt}).status()), refused);
  EXPECT_TRUE(StepCounterHook::Create(env()).ok());
}

TEST_F(StepCounterHookTest, TellsWhetherItMakesItsWriter) {
  Start(Make({.every_n_steps = 10, .summary_writer = writer_}));
  EXPECT_THAT(Details(HookDetail::kCountsSteps), ElementsAre(0));
}

TEST_F(StepCounterHookTest, EveryTenSteps) {
  Start(Make({.every_n_steps = 10, .summary_writer = writer_}));
  RunTimes(30, 10ms, train_);
  EXPECT_THAT(writer_->lines,
              ElementsAre("summary step=11 global_step/sec=100", "summary step=21 global_step/sec=100"));
  EXPECT_THAT(TakeLog(), ElementsAre("global_step/sec: 100", "global_step/sec: 100"));
  EXPECT_THAT(TakeLog(Severity::kWarning), IsEmpty());
}

TEST_F(StepCounterHookTest, EveryTenthOfASecond) {
  Start(Make({.every_n_steps = std::nullopt, .every_n_secs = 100ms, .summary_writer = writer_}));
  ASSERT_TRUE(Run().ok());
  fake_.clock.Advance(200ms);
  ASSERT_TRUE(Run().ok());
  fake_.clock.Advance(200ms);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(writer_->lines, ElementsAre("summary step=2 global_step/sec=5", "summary step=3 global_step/sec=5"));
}

TEST_F(StepCounterHookTest, TheTagHasTheNameOfTheStep) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output zero = b.Const("zero", Tensor::Scalar<std::int64_t>(0));
  const ops::Variable step = ops::MakeVariable(b, "bar/foo", zero);
  graph.AddToCollection(kGlobalStep, step.ref);
  const Output train = ops::AssignAdd(b, "train", step.ref, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
  ASSERT_TRUE(b.status().ok());
  const std::vector<HookPtr> hooks = {Make({.every_n_steps = 1, .summary_writer = writer_})};
  const Env begin_env = env();
  BeginContext context{begin_env, graph};
  ASSERT_TRUE(hooks[0]->Begin(context).ok());
  const std::shared_ptr<Session> session = NewDirectSession(env(), graph);
  ASSERT_TRUE(RunTarget(*session, step.initializer).ok());
  SessionLife life;
  HookedSession hooked(env(), session, hooks, life);
  const Fetches fetches(train);
  for (int i = 0; i < 2; ++i) {
    const Feeds no_feeds;
    LayerRun run{.fetches = fetches, .feeds = no_feeds, .options = merged_options_, .result = &result_};
    fake_.clock.Advance(1s);
    ASSERT_TRUE(hooked.Run(run).ok());
  }
  EXPECT_THAT(writer_->lines, ElementsAre("summary step=2 bar/foo/sec=1"));
}

TEST_F(StepCounterHookTest, TheTagHasTheNameOfAStepWithAHandle) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const Output zero = b.Const("zero", Tensor::Scalar<std::int64_t>(0));
  graph.AddToCollection(kGlobalStep, ops::MakeResourceVariable(b, "bar/foo", zero).ref);
  ASSERT_TRUE(b.status().ok());
  EXPECT_EQ(NameOfStep(graph, **GetGlobalStep(env(), graph)), "bar/foo");
  const Output train =
      b.Op("AssignAddVariableOp", {graph.Collection(kGlobalStep)[0], b.Const("one", Tensor::Scalar<std::int64_t>(1))});
  const auto hook = Make({.every_n_steps = 1, .summary_writer = writer_});
  const auto session = MonitoredSession::Create(env(), graph, {.hooks = {hook}});
  ASSERT_TRUE(session.ok()) << session.status();
  for (int i = 0; i < 2; ++i) {
    fake_.clock.Advance(1s);
    ASSERT_TRUE((*session)->Run(Fetches::Op(train.node)).ok());
  }
  EXPECT_THAT(writer_->lines, ElementsAre("summary step=2 bar/foo/sec=1"));
}

TEST_F(StepCounterHookTest, RunsThatTrainNothingDoNotCount) {
  Start(Make({.every_n_steps = 100}));
  RunTimes(3, 1s, fed_);
  RunTimes(2, 1s, train_);
  RunTimes(1, 1s, fed_);
  RunTimes(1, 1s, train_);
  EXPECT_THAT(TakeLog(Severity::kWarning), IsEmpty());
  const Output frozen = ops::AssignAdd(b(), "", global_step_, b().Const("", Tensor::Scalar<std::int64_t>(0)));
  RunTimes(3, 1s, frozen);
  EXPECT_THAT(TakeLog(Severity::kWarning), SizeIs(2)) << "these train, and nothing moves";
}

TEST_F(StepCounterHookTest, WarnsFiveTimesInTheLifeOfTheProcess) {
  Start(Make({.every_n_steps = 1, .behaviour = Behaviour::TensorFlow()}));
  RunTimes(4, 1s, fed_);
  auto warnings = TakeLog(Severity::kWarning);
  EXPECT_THAT(warnings, SizeIs(3));
  EXPECT_THAT(warnings[0], HasSubstr("It seems that global step (tf.train.get_global_step) has not been increased. "
                                     "Current value (could be stable): 0 vs previous value: 0."));
  Start(Make({.every_n_steps = 1, .behaviour = Behaviour::TensorFlow()}));
  RunTimes(10, 1s, fed_);
  EXPECT_THAT(TakeLog(Severity::kWarning), SizeIs(2)) << "another hook, the same process";
}

TEST_F(StepCounterHookTest, TheStaleStepIsKeptThroughARecovery) {
  auto hook = Make({});
  Start(hook);
  ASSERT_TRUE(Run().ok());  // fetches 0
  ASSERT_TRUE(NewSession().ok());
  ASSERT_TRUE(Run().ok());  // 0 again
  EXPECT_THAT(TakeLog(Severity::kWarning), SizeIs(1));
}

TEST_F(StepCounterHookTest, NoTimeMakesAnInfiniteRate) {
  Start(Make({.every_n_steps = 1, .summary_writer = writer_}));
  RunTimes(2, 0s, train_);
  EXPECT_THAT(TakeLog(), ElementsAre("global_step/sec: inf"));
  EXPECT_THAT(writer_->lines, ElementsAre("summary step=2 global_step/sec=inf"));
}

// Upstream: a loop of several steps in each run, and periods shorter, as long and longer than it.
class StepCounterHookMultiStepTest : public StepCounterHookTest {
 protected:
  std::vector<std::string> Summaries(std::int64_t every, std::int64_t steps_per_run) {
    auto hook = Make({.every_n_steps = every, .summary_writer = writer_});
    hook->set_steps_per_run(steps_per_run);
    const Output step = b().Const("", Tensor::Scalar<std::int64_t>(steps_per_run));
    const Output train = ops::AssignAdd(b(), "", global_step_, step);
    Start(hook);
    RunTimes(5, 1s, train);
    std::vector<std::string> steps;
    for (const std::string& said : writer_->lines) steps.push_back(said.substr(0, said.rfind(' ')));
    return steps;
  }
};

TEST_F(StepCounterHookMultiStepTest, LessThanThePeriod) {
  EXPECT_THAT(Summaries(10, 5), ElementsAre("summary step=15", "summary step=25"));
}

TEST_F(StepCounterHookMultiStepTest, AsManyAsThePeriod) {
  EXPECT_THAT(Summaries(5, 5), ElementsAre("summary step=10", "summary step=15", "summary step=20", "summary step=25"));
}

TEST_F(StepCounterHookMultiStepTest, MoreThanThePeriod) {
  EXPECT_THAT(Summaries(5, 10),
              ElementsAre("summary step=20", "summary step=30", "summary step=40", "summary step=50"));
}

TEST_F(StepCounterHookTest, WritesToTheWriterOfItsDirectory) {
  Start(Make({.every_n_steps = 1, .output_dir = "/logs"}));
  RunTimes(2, 1s, train_);
  EXPECT_THAT(TakeWriterCalls(), ElementsAre("summary step=2"));
}

}  // namespace
}  // namespace vigil
