// TensorFlow's own tests of whole sessions with built-in hooks (monitored_session_test.py,
// basic_session_run_hooks_test.py), as far as no other test has them. docs/upstream_tests.md says which is where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/hooks/stop_at_step_hook.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using testing::ElementsAre;
using testing::HasSubstr;
using Lines = std::vector<std::string>;

constexpr char kModelDir[] = "/checkpoints";

// Fails one of its calls of BeforeRun, once.
class FailOnce : public SessionRunHook {
 public:
  FailOnce(int call, Code code) : call_(call), code_(code) {}
  absl::Status BeforeRun(RunContext&, RunArgs&) override {
    return ++calls_ == call_ ? MakeStatus(code_, "as planned") : absl::OkStatus();
  }

 private:
  const int call_;
  const Code code_;
  int calls_ = 0;
};

// A global step, an op that moves it, and what a process makes of them; a new graph is a new process on the same files.
class UpstreamSessionTest : public testing::Test {
 protected:
  UpstreamSessionTest() {
    EXPECT_EQ(Text(fake_.files.MakeDirectory(kModelDir)), "OK");
    NewGraph();
  }
  Env env() { return fake_.env(); }
  void NewGraph() {
    graph_ = std::make_unique<Graph>(BuiltinOps());
    Builder b(*graph_);
    step_ = *GetOrCreateGlobalStep(env(), b);
    train_ = ops::AssignAdd(b, "train", step_, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
    EXPECT_EQ(Text(b.status()), "OK");
    scaffold_ = std::make_shared<Scaffold>(env(), *graph_);
  }
  HookPtr StopAt(StopAtStepHookOptions options) {
    auto hook = StopAtStepHook::Create(env(), options);
    EXPECT_EQ(Text(hook.status()), "OK");
    return *std::move(hook);
  }
  HookPtr SaveEveryStep(std::vector<CheckpointSaverListenerPtr> listeners = {}) {
    auto hook = CheckpointSaverHook::Create(
        env(),
        {.checkpoint_dir = kModelDir, .save_steps = 1, .scaffold = scaffold_, .listeners = std::move(listeners)});
    EXPECT_EQ(Text(hook.status()), "OK");
    return *std::move(hook);
  }
  std::unique_ptr<MonitoredSession> Monitored(std::vector<HookPtr> hooks, ChiefSessionCreatorOptions creator = {}) {
    creator.scaffold = scaffold_;
    auto made = MonitoredSession::Create(
        env(), *graph_,
        {.session_creator = std::make_shared<ChiefSessionCreator>(env(), *graph_, std::move(creator)),
         .hooks = std::move(hooks)});
    EXPECT_EQ(Text(made.status()), "OK");
    return *std::move(made);
  }
  std::unique_ptr<SingularMonitoredSession> Singular(std::vector<HookPtr> hooks, std::string directory = "") {
    auto made = SingularMonitoredSession::Create(
        env(), *graph_, {.hooks = std::move(hooks), .scaffold = scaffold_, .checkpoint_dir = std::move(directory)});
    EXPECT_EQ(Text(made.status()), "OK");
    return *std::move(made);
  }
  // The step after a training run; -1 if it fails.
  std::int64_t Train(MonitoredSessionBase& session) { return Value(session.Run(train_)); }
  std::int64_t Step(MonitoredSessionBase& session) { return Value(session.RunWithoutHooks(step_)); }
  static std::int64_t Value(const absl::StatusOr<RunResult>& result) {
    EXPECT_EQ(Text(result.status()), "OK");
    return result.ok() ? result->values().scalar<std::int64_t>() : -1;
  }
  // Trains until the session should stop; the step after each run.
  std::vector<std::int64_t> TrainToTheEnd(MonitoredSessionBase& session) {
    std::vector<std::int64_t> steps;
    while (!*session.ShouldStop()) steps.push_back(Train(session));
    return steps;
  }
  // What is in the directory when the process that wrote it has gone.
  void SaveAfter(int runs) {
    const auto session = Monitored({SaveEveryStep()});
    for (int i = 0; i < runs; ++i) Train(*session);
    EXPECT_EQ(Text(session->Close()), "OK");
    NewGraph();
  }

  fakes::FakeEnv fake_;
  std::unique_ptr<Graph> graph_;
  Output step_, train_;
  std::shared_ptr<Scaffold> scaffold_;
};

TEST_F(UpstreamSessionTest, ADefaultSessionIsInitialised) {
  const auto session = MonitoredSession::Create(env(), *graph_, {});
  ASSERT_EQ(Text(session.status()), "OK");
  EXPECT_EQ(Step(**session), 0);
}

TEST_F(UpstreamSessionTest, TrainsToTheLastStepAndFurtherAfterARestore) {
  auto session = Monitored({SaveEveryStep(), StopAt({.last_step = 3})});
  EXPECT_THAT(TrainToTheEnd(*session), ElementsAre(1, 2, 3));
  EXPECT_EQ(Text(session->Close()), "OK");
  NewGraph();
  session = Monitored({StopAt({.last_step = 5})}, {.checkpoint_dir = kModelDir});
  EXPECT_THAT(TrainToTheEnd(*session), ElementsAre(4, 5));
}

TEST_F(UpstreamSessionTest, TrainsThatManyStepsAndMoreAfterARestore) {
  auto session = Monitored({SaveEveryStep(), StopAt({.num_steps = 3})});
  EXPECT_THAT(TrainToTheEnd(*session), ElementsAre(1, 2, 3));
  EXPECT_EQ(Text(session->Close()), "OK");
  NewGraph();
  session = Monitored({StopAt({.num_steps = 4})}, {.checkpoint_dir = kModelDir});
  EXPECT_THAT(TrainToTheEnd(*session), ElementsAre(4, 5, 6, 7));
}

TEST_F(UpstreamSessionTest, IsRestoredFromADirectoryOrAFile) {
  SaveAfter(2);
  EXPECT_EQ(Step(*Monitored({}, {.checkpoint_dir = kModelDir})), 2);
  NewGraph();
  const std::string file = JoinPath(kModelDir, "model.ckpt-2");
  EXPECT_EQ(Step(*Monitored({}, {.checkpoint_filename_with_path = file})), 2);
  NewGraph();
  auto singular = SingularMonitoredSession::Create(env(), *graph_, {.checkpoint_filename_with_path = file});
  ASSERT_EQ(Text(singular.status()), "OK");
  EXPECT_EQ(Step(**singular), 2);
}

TEST_F(UpstreamSessionTest, InitialisingIsRetriedAfterAPreemption) {
  int calls = 0;
  ScaffoldOptions options;
  options.init_fn = [&](Scaffold&, Session&) {
    return ++calls == 1 ? MakeStatus(Code::kAborted, "preempted") : absl::OkStatus();
  };
  scaffold_ = std::make_shared<Scaffold>(env(), *graph_, options);
  const auto session = Monitored({});
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(Train(*session), 1);
}

TEST_F(UpstreamSessionTest, WithoutACheckpointARecoveryStartsOver) {
  for (const Code code : {Code::kAborted, Code::kUnavailable}) {
    NewGraph();
    const auto session = Monitored({std::make_shared<FailOnce>(4, code)});
    for (const int step : {1, 2, 3}) EXPECT_EQ(Train(*session), step);
    EXPECT_EQ(Train(*session), 1) << "initialised anew";
  }
}

TEST_F(UpstreamSessionTest, WithACheckpointARecoveryGoesOn) {
  const auto session =
      Monitored({std::make_shared<FailOnce>(3, Code::kAborted), SaveEveryStep()}, {.checkpoint_dir = kModelDir});
  for (const int step : {1, 2}) EXPECT_EQ(Train(*session), step);
  EXPECT_EQ(Train(*session), 3);
  EXPECT_EQ(session->recoveries(), 1);
}

TEST_F(UpstreamSessionTest, ARunAfterTheEndOfTheInputIsNotMade) {
  const auto session = Monitored({});
  bool reached = false;
  const absl::Status end = WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    VIGIL_RETURN_IF_ERROR(s.RunStepFn([](StepContext& context) { return context.RequestStop(); }));
    reached = true;
    return absl::OkStatus();
  });
  EXPECT_EQ(Text(end), "OK");
  EXPECT_FALSE(reached);
  EXPECT_TRUE(*session->ShouldStop());
}

TEST_F(UpstreamSessionTest, CloseInsideTheScopeIsReportedByIt) {
  const auto session = Monitored({});
  EXPECT_EQ(Text(WithSession(*session, [](MonitoredSession& s) { return s.Close(); })),
            "USAGE: Session is already closed.");
}

// ---- Step functions

// Its method is a step function.
class Model {
 public:
  explicit Model(Output train) : train_(train) {}
  absl::Status Step(StepContext& context) {
    ++calls;
    return context.RunWithHooks(train_).status();
  }
  int calls = 0;

 private:
  const Output train_;
};

TEST_F(UpstreamSessionTest, AStepFunctionReturnsWhatItLikesByWhatItCaptures) {
  const auto session = Monitored({});
  std::int64_t step = 0;
  EXPECT_EQ(Text(session->RunStepFn([&](StepContext& context) {
              step = Value(context.RunWithHooks(train_));
              return absl::OkStatus();
            })),
            "OK");
  EXPECT_EQ(step, 1);
  Model model(train_);
  EXPECT_EQ(Text(session->RunStepFn(std::bind_front(&Model::Step, &model))), "OK");
  EXPECT_EQ(model.calls, 1);
}

TEST_F(UpstreamSessionTest, ALoopIsLeftByTheStepFunctionThatStops) {
  const auto session = Monitored({});
  int turns = 0;
  const absl::Status end = WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    while (!*s.ShouldStop()) {
      ++turns;
      VIGIL_RETURN_IF_ERROR(s.RunStepFn([](StepContext& context) { return context.RequestStop(); }));
      ADD_FAILURE() << "not reached";
    }
    return absl::OkStatus();
  });
  EXPECT_EQ(Text(end), "OK");
  EXPECT_EQ(turns, 1);
}

// Fetches the step, and runs the raw session before and after the run.
class Reader : public SessionRunHook {
 public:
  Reader(Output step, Lines& lines) : step_(step), lines_(lines) {}
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override {
    args.fetches = step_;
    return Say("before", context);
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    lines_.push_back("fetched " + std::to_string(values.results.scalar<std::int64_t>()));
    return Say("after", context);
  }

 private:
  absl::Status Say(const std::string& what, RunContext& context) {
    VIGIL_ASSIGN_OR_RETURN(const std::int64_t step, ReadGlobalStep(context.session(), step_));
    lines_.push_back(what + " " + std::to_string(step));
    return absl::OkStatus();
  }
  const Output step_;
  Lines& lines_;
};

TEST_F(UpstreamSessionTest, HooksSeeTheRunWithHooksOnly) {
  for (const bool singular : {false, true}) {
    NewGraph();
    Lines lines;
    const std::vector<HookPtr> hooks = {std::make_shared<Reader>(train_, lines)};
    const std::unique_ptr<MonitoredSessionBase> session =
        singular ? std::unique_ptr<MonitoredSessionBase>(Singular(hooks)) : Monitored(hooks);
    const auto step_fn = [&](StepContext& context) -> absl::Status {
      VIGIL_RETURN_IF_ERROR(RunTarget(context.session(), train_.node));
      lines.push_back("raw");
      VIGIL_ASSIGN_OR_RETURN(const RunResult result, context.RunWithHooks(train_));
      lines.push_back("step " + std::to_string(result.values().scalar<std::int64_t>()));
      return absl::OkStatus();
    };
    EXPECT_EQ(Text(session->RunStepFn(step_fn)), "OK");
    // What the hook fetches trains as well: once a run, with the caller's.
    EXPECT_THAT(lines, ElementsAre("raw", "before 2", "fetched 3", "after 4", "step 3"));
  }
}

TEST_F(UpstreamSessionTest, AStopBeforeTheRunWithHooksCallsNoHook) {
  Lines lines;
  const auto session = Monitored({std::make_shared<Reader>(step_, lines)});
  const absl::Status status = session->RunStepFn([&](StepContext& context) -> absl::Status {
    VIGIL_RETURN_IF_ERROR(context.RequestStop());
    return context.RunWithHooks(train_).status();
  });
  EXPECT_EQ(CodeOf(status), Code::kStopIteration);
  EXPECT_TRUE(lines.empty());
}

TEST_F(UpstreamSessionTest, AnAbortedStepFunctionIsMadeAgainAsAWhole) {
  for (const bool after_hooks : {false, true}) {
    NewGraph();
    const auto session = Monitored({});
    int attempts = 0;
    double side_effect = 0;
    const absl::Status status = session->RunStepFn([&](StepContext& context) -> absl::Status {
      side_effect += 0.31;
      if (after_hooks) VIGIL_RETURN_IF_ERROR(context.RunWithHooks(train_).status());
      return ++attempts == 1 ? MakeStatus(Code::kAborted, "preempted") : absl::OkStatus();
    });
    EXPECT_EQ(Text(status), "OK");
    EXPECT_DOUBLE_EQ(side_effect, 0.62);
    EXPECT_EQ(session->recoveries(), 1);
    EXPECT_FALSE(*session->ShouldStop());
  }
}

TEST_F(UpstreamSessionTest, AnAbortInBeforeRunRepeatsTheStepFunctionToo) {
  const auto session = Monitored({std::make_shared<FailOnce>(1, Code::kAborted)});
  double side_effect = 0;
  EXPECT_EQ(Text(session->RunStepFn([&](StepContext& context) {
              side_effect += 0.31;
              return context.RunWithHooks(train_).status();
            })),
            "OK");
  EXPECT_DOUBLE_EQ(side_effect, 0.62);
}

TEST_F(UpstreamSessionTest, ASingularSessionDoesNotRepeatAStepFunction) {
  const auto session = Singular({});
  int calls = 0;
  EXPECT_EQ(Text(session->RunStepFn([&](StepContext&) {
              ++calls;
              return MakeStatus(Code::kAborted, "preempted");
            })),
            "ABORTED: preempted");
  EXPECT_EQ(calls, 1);
}

TEST_F(UpstreamSessionTest, ASingularSessionReportsAnAbortInTheScopeAndOutOfIt) {
  const auto session = Singular({std::make_shared<FailOnce>(1, Code::kAborted)});
  const absl::Status end = WithSession(*session, [&](SingularMonitoredSession& s) {
    const absl::Status inside = s.Run(train_).status();
    EXPECT_EQ(Text(inside), "ABORTED: as planned");
    EXPECT_FALSE(*s.ShouldStop());
    return inside;
  });
  EXPECT_EQ(Text(end), "ABORTED: as planned");
  EXPECT_EQ(session->raw_session(), nullptr);
}

// ---- CheckpointSaverHookTest: listeners in a session

// Counts its calls, and asks for a stop in one of them.
class Counter : public CheckpointSaverListener {
 public:
  absl::Status Begin(BeginContext&) override { return Count(begin); }
  absl::Status BeforeSave(Session&, std::int64_t) override { return Count(before); }
  absl::StatusOr<bool> AfterSave(Session&, std::int64_t) override { return ++after == stop_at; }
  absl::Status End(Session&, std::int64_t) override { return Count(end); }

  int begin = 0, before = 0, after = 0, end = 0;
  int stop_at = 0;

 private:
  static absl::Status Count(int& what) {
    ++what;
    return absl::OkStatus();
  }
};

TEST_F(UpstreamSessionTest, ListenersOfASession) {
  const auto first = std::make_shared<Counter>();
  const auto second = std::make_shared<Counter>();
  const auto session = Singular({SaveEveryStep({first, second})}, kModelDir);
  for (const auto& listener : {first, second}) EXPECT_EQ(listener->begin, 1);
  Train(*session);
  Train(*session);
  EXPECT_EQ(Text(session->Close()), "OK");
  for (const auto& listener : {first, second}) {
    EXPECT_EQ(listener->begin, 1);
    EXPECT_EQ(listener->before, 3) << "at the start and after each run; the end has nothing new to save";
    EXPECT_EQ(listener->after, 3);
    EXPECT_EQ(listener->end, 1);
  }
  NewGraph();
  EXPECT_EQ(Step(*Singular({}, kModelDir)), 2);
}

TEST_F(UpstreamSessionTest, AListenerEndsTheTraining) {
  const auto listener = std::make_shared<Counter>();
  listener->stop_at = 4;  // after the third run
  const auto session = Singular({SaveEveryStep({listener})}, kModelDir);
  EXPECT_THAT(TrainToTheEnd(*session), ElementsAre(1, 2, 3));
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_EQ(listener->after, 4);
}

// test_save_secs_calls_listeners_periodically
TEST_F(UpstreamSessionTest, ListenersAreCalledAtEachPeriod) {
  const auto listener = std::make_shared<Counter>();
  auto hook = CheckpointSaverHook::Create(env(), {.checkpoint_dir = kModelDir,
                                                  .save_secs = std::chrono::seconds(2),
                                                  .scaffold = scaffold_,
                                                  .listeners = {listener}});
  ASSERT_EQ(Text(hook.status()), "OK");
  const auto session = Singular({*hook}, kModelDir);
  std::vector<int> saves;
  for (const int wait_ms : {500, 500, 1000, 100, 2000, 100}) {
    fake_.clock.Advance(std::chrono::milliseconds(wait_ms));
    Train(*session);
    EXPECT_EQ(listener->before, listener->after);
    saves.push_back(listener->after);
  }
  EXPECT_THAT(saves, ElementsAre(1, 1, 2, 2, 3, 3)) << "the first one was made at the start";
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_EQ(listener->after, 4) << "the end saves what is new";
  EXPECT_EQ(listener->end, 1);
}

TEST_F(UpstreamSessionTest, ASaverHookWithoutAScaffoldFindsTheSessionsSaver) {
  const auto listener = std::make_shared<Counter>();
  auto hook =
      CheckpointSaverHook::Create(env(), {.checkpoint_dir = kModelDir, .save_steps = 1, .listeners = {listener}});
  ASSERT_EQ(Text(hook.status()), "OK");
  const auto session = Singular({*hook}, kModelDir);
  Train(*session);
  Train(*session);
  EXPECT_EQ(Text(session->Close()), "OK");
  EXPECT_EQ(listener->before, 3);
  NewGraph();
  EXPECT_EQ(Step(*Singular({}, kModelDir)), 2);
}

}  // namespace
}  // namespace vigil
