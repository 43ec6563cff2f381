#include "vigil/core/train/monitored_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Lines = std::vector<std::string>;

// Writes down what it is called for, and does what the test tells it to.
class Scribe : public SessionRunHook {
 public:
  Scribe(std::string name, Lines& lines) : name_(std::move(name)), lines_(lines) {}
  std::string_view name() const override { return name_; }
  absl::Status Begin(BeginContext&) override { return Say("begin", begin); }
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& c) override {
    coord = c;
    const absl::Status status = Say("created", created);
    if (on_created) return on_created();
    return status.ok() ? fail_created : status;
  }
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override {
    if (before_run) before_run(context, args);
    return Say("before", before);
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (after_run) after_run(context, values);
    return Say("after", after);
  }
  absl::Status End(Session* session) override { return Say(session == nullptr ? "end without session" : "end", end); }

  absl::Status begin, created, before, after, end;
  absl::Status fail_created;  // each time
  std::function<absl::Status()> on_created;
  std::shared_ptr<Coordinator> coord;
  std::function<void(RunContext&, RunArgs&)> before_run;
  std::function<void(RunContext&, const RunValues&)> after_run;

 private:
  // The error is returned once.
  absl::Status Say(const std::string& what, absl::Status& error) {
    lines_.push_back(name_ + " " + what);
    return std::exchange(error, absl::OkStatus());
  }
  std::string name_;
  Lines& lines_;
};

class MonitoredSessionTest : public testing::Test {
 protected:
  MonitoredSessionTest() : graph_(BuiltinOps()) {
    Builder b(graph_);
    step_ = *GetOrCreateGlobalStep(env(), b);
    one_ = b.Const("one", Tensor::Scalar<std::int64_t>(1));
    train_ = ops::AssignAdd(b, "train", step_, one_);
    fed_ = ops::PlaceholderWithDefault(b, "fed", one_);
    EXPECT_TRUE(b.status().ok());
  }
  Env env() { return fake_.env(); }
  std::shared_ptr<Scribe> AddHook(const std::string& name) {
    hooks_.push_back(std::make_shared<Scribe>(name, lines_));
    return std::static_pointer_cast<Scribe>(hooks_.back());
  }
  std::unique_ptr<MonitoredSession> Monitored(Behaviour behaviour = Behaviour::Default()) {
    auto made = MonitoredSession::Create(env(), graph_, {.hooks = hooks_, .behaviour = behaviour});
    EXPECT_TRUE(made.ok()) << made.status();
    return std::move(made).value();
  }

  fakes::FakeEnv fake_;
  Graph graph_;
  Output step_, one_, train_, fed_;
  Lines lines_;
  std::vector<HookPtr> hooks_;
};

TEST_F(MonitoredSessionTest, HooksAreCalledInListOrderInEveryPhase) {
  AddHook("a");
  AddHook("b");
  auto session = Monitored();
  EXPECT_TRUE(graph_.finalized());
  const absl::Status end = WithSession(*session, [&](MonitoredSession& s) { return s.Run(train_).status(); });
  EXPECT_TRUE(end.ok()) << end;
  EXPECT_THAT(lines_, ElementsAre("a begin", "b begin", "a created", "b created", "a before", "b before", "a after",
                                  "b after", "a end", "b end"));
  EXPECT_FALSE(graph_.finalized()) << "the graph was open before, so it is open again";
  EXPECT_EQ(session->graph(), nullptr);
}

TEST_F(MonitoredSessionTest, AFinalizedGraphStaysFinalized) {
  {
    auto first = Monitored();
    EXPECT_TRUE(first->Close().ok());
  }
  Scaffold scaffold(env(), graph_);
  ASSERT_TRUE(scaffold.Finalize().ok());
  auto second = Monitored();
  EXPECT_TRUE(second->Close().ok());
  EXPECT_TRUE(graph_.finalized());
}

TEST_F(MonitoredSessionTest, CleanEndsAreSwallowedAndEndIsCalled) {
  for (const Code code : {Code::kOutOfRange, Code::kStopIteration}) {
    lines_.clear();
    hooks_.clear();
    AddHook("a");
    auto session = Monitored();
    EXPECT_TRUE(session->Exit(WithOrigin(MakeStatus(code, "the input has ended"), kOriginRun)).ok());
    EXPECT_THAT(lines_, ElementsAre("a begin", "a created", "a end"));
  }
}

TEST_F(MonitoredSessionTest, ACleanEndThatNoRunReturnedIsReportedWithItsOrigin) {
  AddHook("a")->before = MakeStatus(Code::kOutOfRange, "the evaluation's input");
  auto session = Monitored();
  const absl::Status end = WithSession(*session, [&](MonitoredSession& s) { return s.Run(train_).status(); });
  EXPECT_EQ(CodeOf(end), Code::kOutOfRange);
  EXPECT_THAT(std::string(MessageOf(end)),
              HasSubstr("the evaluation's input [from hook 'a' in before_run, not from a run"));
  EXPECT_THAT(lines_, ElementsAre("a begin", "a created", "a before")) << "no end";

  auto second = Monitored();
  EXPECT_THAT(std::string(MessageOf(second->Exit(MakeStatus(Code::kStopIteration, "mine")))),
              HasSubstr("mine [from the scope's own code"));
}

TEST_F(MonitoredSessionTest, TheEndOfTheInputOfAStepFunctionIsThatOfRunsOfTheMonitoredSession) {
  Builder b(graph_);
  const Output input = ops::RangeIterator(b, "input", 0);
  AddHook("a");
  const auto ended_by = [&](const Behaviour& behaviour, auto run) {
    lines_.clear();
    auto session = Monitored(behaviour);
    return WithSession(*session, [&](MonitoredSession& s) {
      return s.RunStepFn([&](StepContext& context) -> absl::Status { return run(s, context); });
    });
  };
  const auto raw = [&](MonitoredSession&, StepContext& context) { return RunFetch(context.session(), input).status(); };
  const auto without_hooks = [&](MonitoredSession& s, StepContext&) { return s.RunWithoutHooks(input).status(); };
  EXPECT_THAT(std::string(MessageOf(ended_by(Behaviour::Default(), raw))),
              HasSubstr("[from the scope's own code, or the raw session of a step function, not from a run"));
  EXPECT_THAT(lines_, ElementsAre("a begin", "a created"));
  EXPECT_TRUE(ended_by(Behaviour::TensorFlow(), raw).ok());
  EXPECT_THAT(lines_, ElementsAre("a begin", "a created", "a end"));
  EXPECT_TRUE(ended_by(Behaviour::Default(), without_hooks).ok());
  EXPECT_THAT(lines_, ElementsAre("a begin", "a created", "a end"));
}

TEST_F(MonitoredSessionTest, TensorFlowTakesAnyCleanEndForTheEndOfTheInput) {
  AddHook("a")->before = MakeStatus(Code::kOutOfRange, "the evaluation's input");
  auto session = Monitored(Behaviour::TensorFlow());
  EXPECT_TRUE(WithSession(*session, [&](MonitoredSession& s) { return s.Run(train_).status(); }).ok());
  EXPECT_THAT(lines_, ElementsAre("a begin", "a created", "a before", "a end"));
}

TEST_F(MonitoredSessionTest, OtherErrorsComeOutAndEndIsNotCalled) {
  AddHook("a");
  auto session = Monitored();
  const absl::Status end = session->Exit(MakeStatus(Code::kInternal, "broken"));
  EXPECT_EQ(CodeOf(end), Code::kInternal);
  EXPECT_EQ(MessageOf(end), "broken");
  EXPECT_THAT(lines_, ElementsAre("a begin", "a created"));
}

TEST_F(MonitoredSessionTest, AnExceptionOfTheBodyLeavesTheScopeAsOther) {
  auto session = Monitored();
  const absl::Status end =
      WithSession(*session, [](MonitoredSession&) -> absl::Status { throw std::runtime_error("the user's own"); });
  EXPECT_EQ(CodeOf(end), Code::kOther);
  EXPECT_EQ(MessageOf(end), "the user's own");
  EXPECT_TRUE(session->closed());
}

TEST_F(MonitoredSessionTest, RecoversFromPreemptionOnlyAndRepeatsTheRun) {
  for (const Code code : {Code::kAborted, Code::kUnavailable}) {
    lines_.clear();
    hooks_.clear();
    AddHook("a")->after = MakeStatus(code, "preempted");
    auto session = Monitored();
    const auto result = session->Run(train_);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->values().scalar<std::int64_t>(), 1) << "a new session starts anew";
    EXPECT_TRUE(session->Close().ok());
    EXPECT_THAT(lines_, ElementsAre("a begin", "a created", "a before", "a after", "a created", "a before", "a after",
                                    "a end"));
  }
}

TEST_F(MonitoredSessionTest, SingularRecoversFromNothingAndShowsItsRawSession) {
  auto hook = AddHook("a");
  auto session = SingularMonitoredSession::Create(env(), graph_, {.hooks = hooks_});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_NE((*session)->raw_session(), nullptr);
  EXPECT_EQ(*ReadGlobalStep(*(*session)->raw_session(), step_), 0);
  hook->before = MakeStatus(Code::kAborted, "preempted");
  EXPECT_EQ(CodeOf((*session)->Run(train_).status()), Code::kAborted);
  EXPECT_TRUE((*session)->Close().ok());
  EXPECT_EQ((*session)->raw_session(), nullptr);
}

TEST_F(MonitoredSessionTest, AStopRequestEndsTheRuns) {
  AddHook("a")->after_run = [](RunContext& context, const RunValues&) { context.RequestStop(); };
  auto session = Monitored();
  EXPECT_FALSE(*session->ShouldStop());
  EXPECT_TRUE(session->Run(train_).ok());
  EXPECT_TRUE(*session->ShouldStop());
  const absl::Status again = session->Run(train_).status();
  EXPECT_EQ(CodeOf(again), Code::kUsage);
  EXPECT_THAT(std::string(MessageOf(again)), HasSubstr("Run called even after should_stop requested by hook 'a'."));
}

TEST_F(MonitoredSessionTest, FetchesOfHooksComeBackToThem) {
  std::int64_t got_a = 0;
  std::int64_t got_b = 0;
  auto a = AddHook("a");
  a->before_run = [this](RunContext&, RunArgs& args) { args.fetches = one_; };
  a->after_run = [&](RunContext&, const RunValues& values) { got_a = values.results.scalar<std::int64_t>(); };
  auto b = AddHook("b");
  b->before_run = [this](RunContext&, RunArgs& args) {
    args.fetches = Fetches::List({Fetches::Op(train_.node), fed_});
  };
  b->after_run = [&](RunContext&, const RunValues& values) { got_b = values.results[1].scalar<std::int64_t>(); };
  auto c = AddHook("c");
  c->after_run = [](RunContext&, const RunValues& values) { EXPECT_TRUE(values.results.none()); };
  auto session = Monitored();
  const auto result = session->Run(Fetches::Map({{"step", train_}}), {{fed_, Tensor::Scalar<std::int64_t>(7)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->values()["step"].scalar<std::int64_t>(), 1);
  EXPECT_EQ(got_a, 1);
  EXPECT_EQ(got_b, 7);
}

TEST_F(MonitoredSessionTest, AFeedConflictBetweenHooksIsFoundAtTheSecond) {
  const auto feed = [this](RunContext&, RunArgs& args) { args.feeds = {{fed_, Tensor::Scalar<std::int64_t>(5)}}; };
  AddHook("a")->before_run = feed;
  AddHook("b")->before_run = feed;
  AddHook("c");
  auto session = Monitored();
  lines_.clear();
  const absl::Status status = session->Run(train_).status();
  EXPECT_EQ(CodeOf(status), Code::kUsage);
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("Same tensor is fed by two hooks. Conflict(s): ['fed:0']"));
  EXPECT_THAT(lines_, ElementsAre("a before", "b before"));
}

TEST_F(MonitoredSessionTest, AFeedConflictWithTheCallerIsFoundAfterAllHooks) {
  AddHook("a")->before_run = [this](RunContext&, RunArgs& args) {
    args.feeds = {{fed_, Tensor::Scalar<std::int64_t>(5)}};
  };
  AddHook("b");
  auto session = Monitored();
  lines_.clear();
  const absl::Status status = session->Run(train_, {{fed_, Tensor::Scalar<std::int64_t>(6)}}).status();
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("Same tensor is fed by a SessionRunHook and user."));
  EXPECT_THAT(lines_, ElementsAre("a before", "b before"));
}

TEST_F(MonitoredSessionTest, OptionsAreMergedAndSeenByEveryHook) {
  RunOptions seen;
  AddHook("a")->before_run = [](RunContext&, RunArgs& args) {
    args.options =
        RunOptions{.trace_level = TraceLevel::kFullTrace, .timeout_in_ms = 10, .debug_tensor_watch_opts = {{"x"}}};
  };
  auto b = AddHook("b");
  b->before_run = [](RunContext&, RunArgs& args) {
    args.options = RunOptions{.timeout_in_ms = 5, .reset_disk_byte_usage = true};
  };
  b->after_run = [&](RunContext&, const RunValues& values) {
    seen = values.options;
    EXPECT_FALSE(values.metadata.step_stats.empty()) << "a full trace was asked for";
  };
  auto session = Monitored();
  const RunOptions mine{.timeout_in_ms = 7, .debug_tensor_watch_opts = {{"mine"}}};
  ASSERT_TRUE(session->Run(train_, {}, mine).ok());
  EXPECT_EQ(seen, (RunOptions{.trace_level = TraceLevel::kFullTrace,
                              .timeout_in_ms = 10,
                              .debug_tensor_watch_opts = {{"mine"}, {"x"}},
                              .reset_disk_byte_usage = true}));
}

TEST_F(MonitoredSessionTest, RepeatedAfterARecoveryGivenOptionsKeepWhatWasMerged) {
  std::size_t watches = 0;
  auto a = AddHook("a");
  a->after = MakeStatus(Code::kAborted, "preempted");
  a->before_run = [](RunContext&, RunArgs& args) { args.options = RunOptions{.debug_tensor_watch_opts = {{"x"}}}; };
  a->after_run = [&](RunContext&, const RunValues& values) { watches = values.options.debug_tensor_watch_opts.size(); };
  auto session = Monitored();
  ASSERT_TRUE(session->Run(train_, {}, RunOptions{.debug_tensor_watch_opts = {{"mine"}}}).ok());
  EXPECT_EQ(watches, 3u) << "the caller's and the hook's, twice";
  a->after = MakeStatus(Code::kAborted, "preempted");
  ASSERT_TRUE(session->Run(train_).ok());
  EXPECT_EQ(watches, 1u) << "without options of its own the repetition starts anew";
}

TEST_F(MonitoredSessionTest, AStepFunctionIsCalledAgainAfterARecovery) {
  for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
    hooks_.clear();
    AddHook("a")->after = MakeStatus(Code::kAborted, "preempted");
    auto session = Monitored(behaviour);
    std::vector<bool> closed;
    const absl::Status status = session->RunStepFn([&](StepContext& context) -> absl::Status {
      closed.push_back(context.session().closed());
      return context.RunWithHooks(train_).status();
    });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_THAT(closed, ElementsAre(false, !behaviour.step_fn_sees_new_session));
    EXPECT_EQ(session->recoveries(), 1);
  }
}

TEST_F(MonitoredSessionTest, AStepFunctionsRequestStopIsACleanEndThatIsKept) {
  for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
    auto session = Monitored(behaviour);
    const absl::Status status = session->RunStepFn([](StepContext& context) { return context.RequestStop(); });
    EXPECT_EQ(CodeOf(status), Code::kStopIteration);
    EXPECT_EQ(*session->ShouldStop(), behaviour.step_fn_stop_is_kept);
    EXPECT_TRUE(session->Exit(status).ok());
  }
}

TEST_F(MonitoredSessionTest, AStopRequestSurvivesARecovery) {
  for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
    hooks_.clear();
    auto a = AddHook("a");
    int runs = 0;
    a->before_run = [&](RunContext& context, RunArgs&) {
      if (++runs == 1) context.RequestStop();
    };
    a->after = MakeStatus(Code::kAborted, "preempted after the request");
    auto session = Monitored(behaviour);
    EXPECT_TRUE(session->Run(train_).ok()) << "the run that was asked for is made";
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(*session->ShouldStop(), behaviour.stop_survives_recovery);
  }
}

TEST_F(MonitoredSessionTest, AStopOfTheCoordinatorSurvivesARecovery) {
  for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
    hooks_.clear();
    auto a = AddHook("a");
    a->after = MakeStatus(Code::kAborted, "preempted after the request");
    a->after_run = [&, first = true](RunContext&, const RunValues&) mutable {
      if (!std::exchange(first, false)) return;
      EXPECT_TRUE(a->coord->RequestStop().ok());
    };
    auto session = Monitored(behaviour);
    EXPECT_TRUE(session->Run(train_).ok()) << "the run that was under way is made";
    EXPECT_EQ(*session->ShouldStop(), behaviour.stop_survives_recovery);
    a->coord = nullptr;
    a->after_run = nullptr;
  }
}

// Reports an error to the coordinator of each session that is created, the first of `codes` to the first.
class Reporter : public SessionRunHook {
 public:
  explicit Reporter(std::vector<Code> codes) : codes_(std::move(codes)) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& c) override {
    coord = c;
    const Code code = created < codes_.size() ? codes_[created] : Code::kOk;
    ++created;
    return code == Code::kOk ? absl::OkStatus() : c->RequestStop(MakeStatus(code, "reported"));
  }
  std::size_t created = 0;
  std::shared_ptr<Coordinator> coord;

 private:
  const std::vector<Code> codes_;
};

TEST_F(MonitoredSessionTest, ShouldStopRecoversFromWhatTheNewSessionReports) {
  for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
    const auto reporter =
        std::make_shared<Reporter>(std::vector<Code>{Code::kOk, Code::kAborted, Code::kUnavailable, Code::kOk});
    hooks_ = {reporter};
    const auto session = Monitored(behaviour);
    ASSERT_TRUE(reporter->coord->RequestStop(MakeStatus(Code::kAborted, "reported")).ok());
    const absl::StatusOr<bool> stop = session->ShouldStop();
    if (behaviour.should_stop_recovers) {
      ASSERT_TRUE(stop.ok()) << stop.status();
      EXPECT_FALSE(*stop);
      EXPECT_EQ(reporter->created, 4u);
      EXPECT_EQ(session->recoveries(), 3);
    } else {
      EXPECT_EQ(CodeOf(stop.status()), Code::kAborted) << "of the second session";
      EXPECT_EQ(reporter->created, 2u);
      EXPECT_EQ(CodeOf(session->ShouldStop().status()), Code::kUnavailable) << "of the third";
      EXPECT_FALSE(*session->ShouldStop());
      EXPECT_EQ(reporter->created, 4u);
    }
    EXPECT_TRUE(session->Run(train_).ok());
  }
}

TEST_F(MonitoredSessionTest, WhatANewSessionReportsAndIsNoPreemptionStops) {
  for (const Behaviour& behaviour : {Behaviour::Default(), Behaviour::TensorFlow()}) {
    const auto reporter = std::make_shared<Reporter>(std::vector<Code>{Code::kOk, Code::kInternal});
    hooks_ = {reporter};
    const auto session = Monitored(behaviour);
    ASSERT_TRUE(reporter->coord->RequestStop(MakeStatus(Code::kAborted, "reported")).ok());
    const absl::StatusOr<bool> stop = session->ShouldStop();
    if (behaviour.should_stop_recovers) {
      ASSERT_TRUE(stop.ok()) << stop.status();
      EXPECT_TRUE(*stop);
    } else {
      EXPECT_EQ(CodeOf(stop.status()), Code::kInternal);
    }
    EXPECT_EQ(CodeOf(session->Close()), Code::kInternal);
    EXPECT_EQ(reporter->created, 2u);
  }
}

TEST_F(MonitoredSessionTest, RecoveryWaitsLongerEachTimeAndGivesUpWithTheHistory) {
  auto a = AddHook("a");
  a->fail_created = MakeStatus(Code::kUnavailable, "the parameter server is gone");
  const Time start = fake_.clock.Monotonic();
  const auto made = MonitoredSession::Create(env(), graph_, {.hooks = hooks_});
  EXPECT_EQ(CodeOf(made.status()), Code::kDeadlineExceeded);
  EXPECT_THAT(std::string(MessageOf(made.status())), HasSubstr("the parameter server is gone"));
  EXPECT_THAT(std::string(MessageOf(made.status())), HasSubstr("Gave up after"));
  EXPECT_EQ(fake_.clock.Monotonic() - start, std::chrono::minutes(30));
  EXPECT_LT(lines_.size(), 50u) << "attempts must get rarer";
}

TEST_F(MonitoredSessionTest, TheHistoryNamesTheFirstFailuresAndTheLast) {
  int failures = 0;
  const auto hook = AddHook("a");
  hook->on_created = [&] { return MakeStatus(Code::kUnavailable, "failure <" + std::to_string(++failures) + ">"); };
  const std::string text(MessageOf(MonitoredSession::Create(env(), graph_, {.hooks = hooks_}).status()));
  ASSERT_GT(failures, 9);
  for (int i = 1; i <= failures; ++i) {
    const bool shown = i <= 4 || i > failures - 4;
    EXPECT_EQ(text.find("failure <" + std::to_string(i) + ">") != text.npos, shown) << i << " of " << text;
  }
  EXPECT_THAT(text, HasSubstr("... " + std::to_string(failures - 8) + " more ..."));
}

TEST_F(MonitoredSessionTest, WhatFailsAfterACompletedRunIsAFirstFailure) {
  RecoveryPolicy policy(env(), std::chrono::seconds(100));
  const absl::Status why = MakeStatus(Code::kUnavailable, "gone");
  EXPECT_TRUE(policy.BeforeNextAttempt(why, Duration::zero()).ok());
  policy.Completed();
  fake_.clock.Advance(std::chrono::seconds(200));
  EXPECT_TRUE(policy.BeforeNextAttempt(why, Duration::zero()).ok());
  fake_.clock.Advance(std::chrono::seconds(200));
  EXPECT_EQ(CodeOf(policy.BeforeNextAttempt(why, Duration::zero())), Code::kDeadlineExceeded);
}

TEST_F(MonitoredSessionTest, ARunWithoutHooksCallsNone) {
  auto a = AddHook("a");
  auto session = Monitored();
  lines_.clear();
  const auto result = session->RunWithoutHooks(step_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->values().scalar<std::int64_t>(), 0);
  EXPECT_TRUE(lines_.empty()) << "no hook was called";
}

TEST_F(MonitoredSessionTest, WhoAskedForTheStopIsNamed) {
  AddHook("first");
  AddHook("second")->before_run = [](RunContext& context, RunArgs&) { context.RequestStop(); };
  const auto session = Monitored();
  ASSERT_TRUE(session->Run(train_).ok());
  EXPECT_THAT(std::string(MessageOf(session->Run(train_).status())), HasSubstr("requested by hook 'second'"));
}

TEST_F(MonitoredSessionTest, AHookInAnOpenSessionCannotBeginAnother) {
  AddHook("a");
  auto first = Monitored();
  const auto second = MonitoredSession::Create(env(), graph_, {.hooks = hooks_});
  EXPECT_EQ(CodeOf(second.status()), Code::kUsage);
  EXPECT_THAT(std::string(MessageOf(second.status())), HasSubstr("Hook number 1 ('a') is in an open session already"));
  EXPECT_TRUE(first->Close().ok());
  EXPECT_TRUE(Monitored()->Close().ok()) << "after the close it may";
}

TEST_F(MonitoredSessionTest, AStepFunctionMayUseTheMonitoredSessionThatIsRecovering) {
  auto hook = AddHook("a");
  auto session = Monitored();
  int calls = 0;
  const absl::Status status = session->RunStepFn([&](StepContext& context) -> absl::Status {
    if (++calls == 1) hook->before = MakeStatus(Code::kAborted, "preempted");
    VIGIL_RETURN_IF_ERROR(session->Run(train_).status());  // gives up the session that this function runs on
    return context.RunWithHooks(train_).status();
  });
  EXPECT_EQ(CodeOf(status), Code::kUsage);
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("closed by a recovery"));
}

TEST_F(MonitoredSessionTest, AfterCloseEverythingSaysSo) {
  AddHook("a");
  auto session = Monitored();
  EXPECT_TRUE(session->Close().ok());
  EXPECT_TRUE(*session->ShouldStop());
  EXPECT_THAT(std::string(MessageOf(session->Run(train_).status())), HasSubstr("closed session"));
  EXPECT_THAT(std::string(MessageOf(session->RunStepFn([](StepContext&) { return absl::OkStatus(); }))),
              HasSubstr("closed session"));
  lines_.clear();
  EXPECT_EQ(session->Close(), UsageError("Session is already closed."));
  EXPECT_THAT(lines_, ElementsAre("a end without session"));
}

TEST_F(MonitoredSessionTest, AnErrorOfBeginFailsTheConstruction) {
  AddHook("a")->begin = MakeStatus(Code::kAborted, "even this");
  AddHook("b");
  EXPECT_EQ(CodeOf(MonitoredSession::Create(env(), graph_, {.hooks = hooks_}).status()), Code::kAborted);
  EXPECT_THAT(lines_, ElementsAre("a begin"));
}

TEST_F(MonitoredSessionTest, AnErrorOfEndStopsTheOtherEndsAndStillCloses) {
  AddHook("a")->end = MakeStatus(Code::kInternal, "no");
  AddHook("b");
  auto session = Monitored();
  EXPECT_EQ(CodeOf(session->Close()), Code::kInternal);
  EXPECT_THAT(lines_, ElementsAre("a begin", "b begin", "a created", "b created", "a end"));
  EXPECT_TRUE(session->closed());
  EXPECT_FALSE(graph_.finalized());
}

TEST_F(MonitoredSessionTest, AHookThatThrowsFailsThePhaseAsOther) {
  AddHook("a")->before_run = [](RunContext&, RunArgs&) { throw std::runtime_error("oops"); };
  auto session = Monitored();
  const absl::Status status = session->Run(train_).status();
  EXPECT_EQ(CodeOf(status), Code::kOther);
  EXPECT_EQ(MessageOf(status), "oops");
}

TEST_F(MonitoredSessionTest, AddingToTheGraphOfAnOpenSessionIsRefused) {
  auto session = Monitored();
  Builder b(graph_);
  b.Const("late", Tensor::Scalar<std::int64_t>(1));
  EXPECT_EQ(CodeOf(b.status()), Code::kUsage);
  EXPECT_THAT(std::string(MessageOf(b.status())), HasSubstr("Graph is finalized and cannot be modified."));
}

TEST_F(MonitoredSessionTest, ARunWithoutHooksIsFed) {
  AddHook("a");
  const auto session = Monitored();
  lines_.clear();
  const auto result = session->RunWithoutHooks(fed_, {{fed_, Tensor::Scalar<std::int64_t>(42)}});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->values().scalar<std::int64_t>(), 42);
  EXPECT_THAT(lines_, testing::IsEmpty());
}

TEST_F(MonitoredSessionTest, ARunWithoutHooksThatFailsGivesItsError) {
  const auto session = Monitored();
  const auto result = session->RunWithoutHooks(fed_, {{fed_, Tensor::Scalar<float>(1)}});
  EXPECT_EQ(CodeOf(result.status()), Code::kInvalidArgument);
  EXPECT_THAT(std::string(MessageOf(result.status())), HasSubstr("fed:0"));
}

// Input by a queue that a task fills: the runners of the graph's collection start with the session, and the end of what
// they bring is the end of the scope.
TEST_F(MonitoredSessionTest, QueueRunnersOfTheGraphFeedTheTraining) {
  Builder b(graph_);
  const ops::Queue queue = ops::FifoQueue(b, "queue", 2);
  const Output next = ops::RangeIterator(b, "input", 5);
  const Output batch = b.Op("Reshape", {next, b.Const("one_element", Tensor::Vector<std::int32_t>({1}))});
  const NodeId enqueue = ops::EnqueueMany(b, "enqueue", queue, batch);
  const Output taken = ops::Dequeue(b, "take", queue);
  ASSERT_TRUE(b.status().ok()) << b.status();
  graph_.AddToCollection(kQueueRunners, *QueueRunner::Create(env(), {.queue_name = "queue",
                                                                     .enqueue_ops = {enqueue},
                                                                     .close_op = queue.close,
                                                                     .cancel_op = queue.cancel}));
  AddHook("a");
  const auto session = Monitored();
  std::vector<std::int64_t> seen;
  const absl::Status end = WithSession(*session, [&](MonitoredSession& s) -> absl::Status {
    while (true) {
      VIGIL_ASSIGN_OR_RETURN(const RunResult result, s.Run(taken));
      seen.push_back(result.values().scalar<std::int64_t>());
    }
  });
  EXPECT_TRUE(end.ok()) << end;
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(lines_.back(), "a end");
  int started = 0;
  for (const Event& event : fake_.events.events()) started += event.kind == EventKind::kQueueRunners ? 1 : 0;
  EXPECT_EQ(started, 1);
}

}  // namespace
}  // namespace vigil
