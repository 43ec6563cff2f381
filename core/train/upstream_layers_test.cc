// TensorFlow's own tests of the layers of a session (monitored_session_test.py), as far as no other test has them:
// wrapped, coordinated, recoverable and hooked sessions. docs/upstream_tests.md says which is where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/coord/queue_runner.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/recoverable_session.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using std::chrono::seconds;
using testing::HasSubstr;

Tensor Int(std::int64_t value) { return Tensor::Scalar<std::int64_t>(value); }

// A raw session that calls `around` with the number of the run (from 0) and the run itself.
class WatchedSession : public Session {
 public:
  using Around = std::function<absl::Status(int run, const std::function<absl::Status()>& inner)>;
  WatchedSession(std::unique_ptr<Session> inner, Around around)
      : inner_(std::move(inner)), around_(std::move(around)) {}
  std::int64_t number() const override { return inner_->number(); }
  const Graph& graph() const override { return inner_->graph(); }
  bool closed() const override { return inner_->closed(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    const auto run = [&] { return inner_->Run(call, fetched); };
    return around_ == nullptr ? run() : around_(runs_++, run);
  }
  absl::Status Close() override { return inner_->Close(); }

 private:
  const std::unique_ptr<Session> inner_;
  const Around around_;
  int runs_ = 0;
};

// Keeps the coordinator, and does what the test says before each run (numbered from 0) and after it.
class Observer : public SessionRunHook {
 public:
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& c) override {
    coord = c;
    return absl::OkStatus();
  }
  absl::Status BeforeRun(RunContext& context, RunArgs& args) override {
    return before_run ? before_run(context, args) : absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    return after_run ? after_run(context, values) : absl::OkStatus();
  }

  std::shared_ptr<Coordinator> coord;
  std::function<absl::Status(RunContext&, RunArgs&)> before_run;
  std::function<absl::Status(RunContext&, const RunValues&)> after_run;
};

// Sessions of a graph without variables: v is what c is fed with.
class LayersTest : public testing::Test {
 protected:
  // Makes a session whose runs go through what `around` gives for it, by its number from 0.
  class Creator : public SessionCreator {
   public:
    explicit Creator(LayersTest& test) : test_(test) {}
    absl::StatusOr<SessionPtr> CreateSession() override {
      const int number = created++;
      if (number == fails_at) return MakeStatus(Code::kInternal, "no more sessions");
      return std::make_shared<WatchedSession>(NewDirectSession(test_.env(), test_.graph_),
                                              around ? around(number) : nullptr);
    }
    int created = 0;
    int fails_at = -1;
    std::function<WatchedSession::Around(int session)> around;

   private:
    LayersTest& test_;
  };

  Env env() { return fake_.env(); }
  std::unique_ptr<MonitoredSession> Monitored(const Behaviour& behaviour = Behaviour::Default()) {
    auto made = MonitoredSession::Create(env(), graph_,
                                         {.session_creator = creator_, .hooks = {observer_}, .behaviour = behaviour});
    EXPECT_EQ(Text(made.status()), "OK");
    return *std::move(made);
  }
  std::int64_t Run(MonitoredSessionBase& session, std::int64_t value) {
    const auto result = session.Run(v_, {{c_, Int(value)}});
    EXPECT_EQ(Text(result.status()), "OK");
    return result.ok() ? result->values().scalar<std::int64_t>() : -1;
  }
  // A task that works until the coordinator stops; Join waits for it.
  TaskPtr StartWorker() {
    TaskPtr task = env().tasks->Spawn("worker", [coord = observer_->coord] { coord->WaitForStop(Duration::max()); });
    observer_->coord->Register(task);
    return task;
  }
  // A task reports that error to the coordinator; it has done so when this returns.
  void ReportFromATask(Code code) {
    const TaskPtr task = env().tasks->Spawn("reporter", [coord = observer_->coord, code] {
      EXPECT_EQ(Text(coord->StopOnError([code] { return MakeStatus(code, "reported by a task"); })), "OK");
    });
    observer_->coord->Register(task);
    observer_->coord->WaitForStop(Duration::max());
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  Output c_ = ops::Placeholder(b_, "c", DType::kInt64);
  Output v_ = ops::Identity(b_, "v", c_);
  Output w_ = ops::Placeholder(b_, "w", DType::kInt64);
  std::shared_ptr<Observer> observer_ = std::make_shared<Observer>();
  std::shared_ptr<Creator> creator_ = std::make_shared<Creator>(*this);
};

template <typename T>
concept Startable = requires(T& session) {
  StartQueueRunners(session, std::shared_ptr<Coordinator>());
};

// testStartQueueRunnersIgnoresMonitoredSession
TEST(MonitoredSessionTypes, AMonitoredSessionIsNotASession) {
  static_assert(Startable<std::shared_ptr<Session>>, "what is asked can be answered with yes");
  static_assert(!Startable<std::shared_ptr<MonitoredSession>>);
  static_assert(!Startable<std::shared_ptr<SingularMonitoredSession>>);
  static_assert(!std::is_convertible_v<MonitoredSession*, Session*>);
}

// ---- WrappedSessionTest, CoordinatedSessionTest

TEST_F(LayersTest, TheGraphOfTheSessionIsTheGivenOne) {
  EXPECT_EQ(Monitored()->graph(), &graph_);
  const auto singular = SingularMonitoredSession::Create(env(), graph_, {});
  ASSERT_EQ(Text(singular.status()), "OK");
  EXPECT_EQ((*singular)->graph(), &graph_);
  EXPECT_EQ(&(*singular)->raw_session()->graph(), &graph_);
}

TEST_F(LayersTest, ALayerMayBeClosedTwice) {
  SessionLife life;
  const std::vector<HookPtr> hooks;
  CoordinatedSessionCreator coordinated(env(), creator_, hooks, life, nullptr);
  const auto layer = RecoverableSession::Create(env(), coordinated, life);
  ASSERT_EQ(Text(layer.status()), "OK");
  EXPECT_FALSE(*(*layer)->ShouldStop());
  EXPECT_EQ(Text((*layer)->Close()), "OK");
  EXPECT_TRUE(*(*layer)->ShouldStop());
  EXPECT_EQ(Text((*layer)->Close()), "OK");
  EXPECT_TRUE(*(*layer)->ShouldStop());
}

TEST_F(LayersTest, WhatAnInnerLayerSaysComesOut) {
  auto session = Monitored();
  EXPECT_FALSE(*session->ShouldStop());
  EXPECT_EQ(Text(observer_->coord->RequestStop()), "OK");
  EXPECT_TRUE(*session->ShouldStop()) << "the coordinator's";
  EXPECT_EQ(Text(session->Close()), "OK");

  session = Monitored();
  observer_->before_run = [](RunContext& context, RunArgs&) {
    context.RequestStop();
    return absl::OkStatus();
  };
  Run(*session, 1);
  EXPECT_FALSE(observer_->coord->ShouldStop());
  EXPECT_TRUE(*session->ShouldStop()) << "the hooks'";
}

TEST_F(LayersTest, ARunPassesThrough) {
  const auto session = Monitored();
  EXPECT_EQ(Run(*session, 42), 42);
}

TEST_F(LayersTest, AnErrorOfTheCallerDoesNotStopTheCoordinator) {
  const auto session = Monitored();
  EXPECT_THAT(Text(session->Run(Fetches::Named("none:0")).status()), HasSubstr("USAGE"));
  EXPECT_FALSE(observer_->coord->ShouldStop());
  EXPECT_FALSE(*session->ShouldStop());
  EXPECT_EQ(Run(*session, 1), 1);
}

TEST_F(LayersTest, TasksAreJoinedOnCloseAlsoAfterAnError) {
  for (const bool error : {false, true}) {
    const auto session = Monitored();
    const std::vector<TaskPtr> tasks = {StartWorker(), StartWorker(), StartWorker()};
    fake_.tasks.RunReady();
    EXPECT_FALSE(*session->ShouldStop());
    if (error) {
      EXPECT_FALSE(session->Run(Fetches::Named("none:0")).ok());
    }
    for (const TaskPtr& task : tasks) EXPECT_FALSE(task->done());
    EXPECT_EQ(Text(session->Close()), "OK");
    for (const TaskPtr& task : tasks) EXPECT_TRUE(task->done());
    EXPECT_TRUE(*session->ShouldStop());
    EXPECT_TRUE(observer_->coord->ShouldStop());
  }
}

TEST_F(LayersTest, AStuckTaskCostsTheGracePeriod) {
  const auto close_with_stuck_task = [this](MonitoredSessionBase& session) {
    observer_->coord->Register(
        env().tasks->Spawn("stuck", [this] { env().tasks->SleepUntil({fake_.clock.Monotonic() + seconds(1000)}); }));
    fake_.tasks.RunReady();
    const Time start = fake_.clock.Monotonic();
    EXPECT_EQ(Text(session.Close()), "OK") << "what still runs is only logged";
    return std::chrono::round<seconds>(fake_.clock.Monotonic() - start);
  };
  const auto monitored =
      MonitoredSession::Create(env(), graph_, {.hooks = {observer_}, .stop_grace_period = seconds(7)});
  ASSERT_EQ(Text(monitored.status()), "OK");
  EXPECT_EQ(close_with_stuck_task(**monitored), seconds(7));
  const auto singular =
      SingularMonitoredSession::Create(env(), graph_, {.hooks = {observer_}, .stop_grace_period = seconds(9)});
  ASSERT_EQ(Text(singular.status()), "OK");
  EXPECT_EQ(close_with_stuck_task(**singular), seconds(9));
}

TEST_F(LayersTest, MasterAndConfigOfASingularSessionReachTheFactory) {
  // Remembers what it is asked for.
  class SeeingFactory : public SessionFactory {
   public:
    absl::StatusOr<std::unique_ptr<Session>> Create(const Graph&, const std::string& m,
                                                    const SessionConfig& c) override {
      master = m;
      config = c;
      return MakeStatus(Code::kInternal, "asked");
    }
    std::string master;
    SessionConfig config;
  };
  const auto factory = std::make_shared<SeeingFactory>();
  const auto session = SingularMonitoredSession::Create(
      env(), graph_, {.master = "grpc://there", .config = {.operation_timeout_in_ms = 250}, .factory = factory});
  EXPECT_EQ(Text(session.status()), "INTERNAL: asked");
  EXPECT_EQ(factory->master, "grpc://there");
  EXPECT_EQ(factory->config.operation_timeout_in_ms, 250);
}

TEST_F(LayersTest, TheRawSessionIsForSavers) {
  const ops::Variable x = ops::MakeVariable(b_, "x", b_.Const("three", Int(3)));
  const Output five = ops::Assign(b_, "five", x.ref, b_.Const("5", Int(5)));
  const auto saver = std::make_shared<Saver>(env());
  ASSERT_EQ(Text(saver->Build(graph_)), "OK");
  ASSERT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
  const auto made = SingularMonitoredSession::Create(env(), graph_, {});
  ASSERT_EQ(Text(made.status()), "OK");
  Session& raw = *(*made)->raw_session();
  EXPECT_EQ(Text(saver->Save(raw, "/d/m", 1).status()), "OK");
  EXPECT_EQ(Text(RunTarget(raw, five.node)), "OK");
  EXPECT_EQ(Text(saver->Restore(raw, "/d/m-1")), "OK");
  EXPECT_EQ(RunFetch(raw, x.ref)->scalar<std::int64_t>(), 3);
}

TEST_F(LayersTest, AnErrorOfTheGraphComesOutAsItWas) {
  const std::unique_ptr<Session> raw = NewDirectSession(env(), graph_);
  const absl::Status wanted = RunFetch(*raw, v_).status();
  EXPECT_THAT(Text(wanted), HasSubstr("You must feed a value for placeholder tensor 'c'"));
  const auto session = Monitored();
  EXPECT_EQ(Text(session->Run(v_).status()), Text(wanted));
}

// ---- RecoverableSessionTest

TEST_F(LayersTest, EachAbortIsAnsweredByANewSession) {
  creator_->fails_at = 3;
  creator_->around = [](int session) -> WatchedSession::Around {
    return [session](int run, const auto& inner) {
      return run > session ? MakeStatus(Code::kAborted, "preempted") : inner();
    };
  };
  const auto session = Monitored();
  for (int value = 1; value <= 1 + 2 + 3; ++value) EXPECT_EQ(Run(*session, value), value);
  EXPECT_EQ(creator_->created, 3);
  EXPECT_EQ(Text(session->Run(v_, {{c_, Int(7)}}).status()), "INTERNAL: no more sessions");
}

enum class Way { kRun, kStepFnHookReports, kStepFnSessionReports };

// An error that a task reports to the coordinator during the second run.
class ReportedErrorTest : public LayersTest, public testing::WithParamInterface<std::tuple<Way, Behaviour>> {
 protected:
  const Behaviour& behaviour() const { return std::get<Behaviour>(GetParam()); }
  // In the second run of the first session a task reports `code`, and the run itself ends with `run_ends`.
  std::unique_ptr<MonitoredSession> WithReport(Code code, const absl::Status& run_ends) {
    const bool by_hook = std::get<Way>(GetParam()) == Way::kStepFnHookReports;
    creator_->around = [=, this](int session) -> WatchedSession::Around {
      if (session > 0) return nullptr;
      return [=, this](int run, const auto& inner) {
        if (run == 1 && !by_hook) ReportFromATask(code);
        return run == 1 && !run_ends.ok() ? run_ends : inner();
      };
    };
    observer_->before_run = [=, this, run = 0](RunContext&, RunArgs&) mutable {
      if (run++ == 1 && by_hook) ReportFromATask(code);
      return absl::OkStatus();
    };
    return Monitored(behaviour());
  }
  std::int64_t RunThisWay(MonitoredSession& session, std::int64_t value) {
    if (std::get<Way>(GetParam()) == Way::kRun) return Run(session, value);
    std::int64_t out = -1;
    EXPECT_EQ(Text(session.RunStepFn([&](StepContext& context) {
                const auto result = context.RunWithHooks(v_, {{c_, Int(value)}});
                if (result.ok()) out = result->values().scalar<std::int64_t>();
                return result.status();
              })),
              "OK");
    return out;
  }
};

TEST_P(ReportedErrorTest, APreemptionIsRecoveredFromByShouldStop) {
  const auto session = WithReport(Code::kAborted, absl::OkStatus());
  EXPECT_EQ(RunThisWay(*session, 51), 51);
  EXPECT_FALSE(*session->ShouldStop());
  EXPECT_EQ(RunThisWay(*session, 42), 42);
  EXPECT_EQ(creator_->created, 1);
  EXPECT_FALSE(*session->ShouldStop());
  EXPECT_EQ(creator_->created, 2);
}

TEST_P(ReportedErrorTest, AnotherErrorStopsAndComesOutOfTheClose) {
  const auto session = WithReport(Code::kUnknown, absl::OkStatus());
  EXPECT_EQ(RunThisWay(*session, 51), 51);
  EXPECT_FALSE(*session->ShouldStop());
  EXPECT_EQ(RunThisWay(*session, 42), 42);
  EXPECT_TRUE(*session->ShouldStop());
  EXPECT_EQ(creator_->created, 1);
  EXPECT_EQ(Text(session->Close()), "UNKNOWN: reported by a task");
}

TEST_P(ReportedErrorTest, ARunThatGotStuckBecauseOfAPreemptionIsMadeAgain) {
  const auto session = WithReport(Code::kAborted, MakeStatus(Code::kCancelled, "the queue was closed"));
  EXPECT_EQ(RunThisWay(*session, 51), 51);
  EXPECT_FALSE(*session->ShouldStop());
  EXPECT_EQ(creator_->created, 1);
  EXPECT_EQ(RunThisWay(*session, 42), 42);
  EXPECT_EQ(creator_->created, 2);
  EXPECT_FALSE(*session->ShouldStop());
}

std::string NameOf(const testing::TestParamInfo<std::tuple<Way, Behaviour>>& param) {
  const auto& [way, behaviour] = param.param;
  std::string name = way == Way::kRun                 ? "Run"
                     : way == Way::kStepFnHookReports ? "StepFnHookReports"
                                                      : "StepFnSessionReports";
  return name + (behaviour == Behaviour::TensorFlow() ? "AsTensorFlow" : "ByDefault");
}
INSTANTIATE_TEST_SUITE_P(AllWays, ReportedErrorTest,
                         testing::Combine(testing::Values(Way::kRun, Way::kStepFnHookReports,
                                                          Way::kStepFnSessionReports),
                                          testing::Values(Behaviour::Default(), Behaviour::TensorFlow())),
                         NameOf);

TEST_F(LayersTest, AReportThatIsNoPreemptionComesOutOfTheScope) {
  for (const bool run_once_more : {true, false}) {
    const auto session = Monitored();
    const absl::Status end = WithSession(*session, [&](MonitoredSession& s) {
      ReportFromATask(Code::kInternal);
      if (run_once_more) {
        EXPECT_EQ(Run(s, 7), 7) << "the run itself succeeds";
      }
      EXPECT_TRUE(*s.ShouldStop());
      return absl::OkStatus();
    });
    EXPECT_EQ(Text(end), "INTERNAL: reported by a task");
    EXPECT_TRUE(*session->ShouldStop());
  }
}

// ---- HookedSessionTest

TEST_F(LayersTest, FeedsOptionsAndMetadataReachTheSession) {
  const auto session = Monitored();
  const auto result = session->Run(v_, {{c_, Int(5)}}, {.trace_level = TraceLevel::kFullTrace});
  ASSERT_EQ(Text(result.status()), "OK");
  EXPECT_EQ(result->values().scalar<std::int64_t>(), 5);
  EXPECT_FALSE(result->metadata().step_stats.empty());
}

TEST_F(LayersTest, AHookSeesWhatTheCallerAskedForAndTheRawSession) {
  auto made = SingularMonitoredSession::Create(env(), graph_, {.hooks = {observer_}});
  ASSERT_EQ(Text(made.status()), "OK");
  int seen = 0;
  const Fetches wanted = v_;
  const auto look = [&](RunContext& context) {
    EXPECT_EQ(context.original_fetches(), wanted);
    ASSERT_EQ(context.original_feeds().size(), 1u);
    EXPECT_EQ(context.original_feeds()[0].tensor, c_);
    EXPECT_EQ(&context.session(), (*made)->raw_session());
    EXPECT_FALSE(context.stop_requested());
    ++seen;
  };
  observer_->before_run = [&](RunContext& context, RunArgs&) {
    look(context);
    return absl::OkStatus();
  };
  observer_->after_run = [&](RunContext& context, const RunValues& values) {
    look(context);
    EXPECT_TRUE(values.results.none());
    return absl::OkStatus();
  };
  EXPECT_EQ(Text((*made)->Run(wanted, {{c_, Int(5)}}).status()), "OK");
  EXPECT_EQ(seen, 2);
}

TEST_F(LayersTest, FeedsOfHooksAndCallerAreAllUsed) {
  const Output sum = b_.Op("AddV2", {c_, w_}, {.name = "sum"});
  const auto second = std::make_shared<Observer>();
  const auto feed = [](Output what, std::int64_t value) {
    return [=](RunContext&, RunArgs& args) {
      args.feeds = {{what, Int(value)}};
      return absl::OkStatus();
    };
  };
  observer_->before_run = feed(c_, 4);
  second->before_run = feed(w_, 5);
  auto session = MonitoredSession::Create(env(), graph_, {.session_creator = creator_, .hooks = {observer_, second}});
  ASSERT_EQ(Text(session.status()), "OK");
  auto result = (*session)->Run(sum);
  ASSERT_EQ(Text(result.status()), "OK");
  EXPECT_EQ(result->values().scalar<std::int64_t>(), 9) << "only hooks have feeds";

  second->before_run = nullptr;
  const Feeds mine = {{w_, Int(10)}};
  result = (*session)->Run(sum, mine);
  ASSERT_EQ(Text(result.status()), "OK");
  EXPECT_EQ(result->values().scalar<std::int64_t>(), 14) << "the caller too";
  EXPECT_EQ(mine.size(), 1u) << "the caller's are left alone";
}

}  // namespace
}  // namespace vigil
