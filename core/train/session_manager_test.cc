// Ports SessionManagerTest and ObsoleteSessionManagerTest of session_manager_test.py (a cyclic initializer needs loops,
// which the graph does not have), and what session_manager.py says of waiting.
#include "vigil/core/train/session_manager.h"

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
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kDirectory[] = "/ckpt";

// Direct sessions that are remembered, and may share their variables or fail to be created.
class Factory : public SessionFactory {
 public:
  Factory(const Env& env, std::shared_ptr<ResourceManager> shared)
      : env_(env), inner_(env, {.shared_resources = std::move(shared)}) {}
  absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                  const SessionConfig& config) override {
    ++created;
    seen = {master, config};
    if (before_create) VIGIL_RETURN_IF_ERROR(before_create());
    return inner_.Create(graph, master, config);
  }
  int created = 0;
  SessionTarget seen;
  std::function<absl::Status()> before_create;

 private:
  const Env env_;
  DirectSessionFactory inner_;
};

// A global variable v and a local one w, both 1 at first. Managers behave as TensorFlow unless a test says otherwise.
class SessionManagerTest : public testing::Test {
 protected:
  SessionManagerTest() {
    EXPECT_TRUE(fake_.files.MakeDirectory(kDirectory).ok());
    v_ = ops::MakeVariable(b_, "v", b_.Const("v0", Number(1)));
    w_ = ops::MakeVariable(b_, "w", b_.Const("w0", Number(1)), kLocalVariables);
    w_from_v_ = ops::Assign(b_, "w_from_v", w_.ref, v_.read).node;
    set_seven_ = ops::Assign(b_, "set_seven", v_.ref, b_.Const("seven", Number(7))).node;
    all_ = ops::ReportUninitializedVariables(b_, "report_all", {v_.ref, w_.ref});
    only_v_ = ops::ReportUninitializedVariables(b_, "report_v", {v_.ref});
    init_v_ = ops::VariablesInitializer(b_, "init_v", {v_.ref}).node;
    EXPECT_TRUE(b_.status().ok()) << b_.status();
    saver_ = std::make_shared<Saver>(env(), SaverOptions{.variables = {{v_.ref}}});
    EXPECT_TRUE(saver_->Build(graph_).ok());
  }
  std::unique_ptr<SessionManager> Manager(SessionManagerOptions options,
                                          const Behaviour& behaviour = Behaviour::TensorFlow()) {
    EXPECT_TRUE(b_.status().ok()) << b_.status();
    options.behaviour = behaviour;
    auto manager = SessionManager::Create(env(), graph_, factory_, options);
    EXPECT_TRUE(manager.ok()) << manager.status();
    return std::move(manager).value();
  }
  Env env() { return fake_.env(); }
  static Tensor Number(std::int64_t value) { return Tensor::Scalar<std::int64_t>(value); }
  // The value, or the code of the error.
  static std::string Value(Session& session, Output of) {
    const absl::StatusOr<Tensor> value = RunFetch(session, of);
    return value.ok() ? std::to_string(value->scalar<std::int64_t>()) : std::string(CodeName(CodeOf(value.status())));
  }
  // "v=1 w=FAILED_PRECONDITION"; or the error.
  template <typename Result>
  std::string Outcome(const absl::StatusOr<Result>& result) {
    if (!result.ok()) return Text(result.status());
    if constexpr (std::is_same_v<Result, SessionPtr>) {
      return "v=" + Value(**result, v_.ref) + " w=" + Value(**result, w_.ref);
    } else {
      return std::string(result->initialized ? "initialized " : "not initialized ") +
             Outcome<SessionPtr>(absl::StatusOr<SessionPtr>(result->session));
    }
  }
  // An earlier process saves v = 7 as step 1.
  void SaveSeven() {
    const std::unique_ptr<Session> session = NewDirectSession(env(), graph_);
    EXPECT_TRUE(RunTarget(*session, set_seven_).ok());
    EXPECT_TRUE(saver_->Save(*session, "/ckpt/model.ckpt", 1).ok());
  }
  RestoreOptions FromDirectory() { return {.saver = saver_, .checkpoint_dir = kDirectory}; }
  // From now on sessions share their variables.
  void Share() {
    shared_ = std::make_shared<ResourceManager>(env());
    factory_ = std::make_shared<Factory>(env(), shared_);
  }
  // What another process does to the shared variables.
  void RunElsewhere(NodeId node) {
    EXPECT_TRUE(RunTarget(*NewDirectSession(env(), graph_, {.shared_resources = shared_}), node).ok());
  }
  std::vector<double> Sleeps() {
    std::vector<double> out;
    for (const Event& event : fake_.events.events()) {
      if (event.kind == EventKind::kSleep) out.push_back(event.value);
    }
    return out;
  }
  int Closed() {
    int closed = 0;
    for (const Event& event : fake_.events.events()) {
      closed += event.kind == EventKind::kSessionCall && event.call == static_cast<std::uint8_t>(CallKind::kClose);
    }
    return closed;
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  ops::Variable v_, w_;
  NodeId w_from_v_ = kNoNode, set_seven_ = kNoNode, init_v_ = kNoNode;
  Output all_, only_v_;
  SaverPtr saver_;
  std::shared_ptr<ResourceManager> shared_;
  std::shared_ptr<Factory> factory_ = std::make_shared<Factory>(env(), nullptr);
};

// testPrepareSessionSucceeds
TEST_F(SessionManagerTest, PrepareInitialises) {
  const auto manager = Manager({.ready_op = only_v_});
  EXPECT_EQ(Outcome(manager->Prepare({}, {}, {.init_op = init_v_})), "v=1 w=FAILED_PRECONDITION");
}

// testPrepareSessionSucceedsWithInitFeedDict
TEST_F(SessionManagerTest, PrepareFeedsTheInitOp) {
  const Output given = ops::Placeholder(b_, "given", DType::kInt64);
  const NodeId init = ops::Assign(b_, "init_fed", v_.ref, given).node;
  const auto manager = Manager({.ready_op = only_v_});
  const InitOptions fed{.init_op = init, .init_feed_dict = {{given, Number(5)}}};
  EXPECT_EQ(Outcome(manager->Prepare({}, {}, fed)), "v=5 w=FAILED_PRECONDITION");
  EXPECT_EQ(CodeOf(manager->Prepare({}, {}, {.init_op = init}).status()), Code::kInvalidArgument);
}

// testPrepareSessionSucceedsWithInitFn
TEST_F(SessionManagerTest, PrepareCallsTheInitFunctionAfterTheInitOp) {
  const auto manager = Manager({.ready_op = only_v_});
  const auto set_seven = [this](Session& session) { return RunTarget(session, set_seven_); };
  EXPECT_EQ(Outcome(manager->Prepare({}, {}, {.init_fn = set_seven})), "v=7 w=FAILED_PRECONDITION");
  EXPECT_EQ(Outcome(manager->Prepare({}, {}, {.init_op = init_v_, .init_fn = set_seven})), "v=7 w=FAILED_PRECONDITION");
  const auto fails = [](Session&) { return MakeStatus(Code::kDataLoss, "gone"); };
  EXPECT_EQ(Outcome(manager->Prepare({}, {}, {.init_fn = fails})), "DATA_LOSS: gone");
}

TEST_F(SessionManagerTest, WhatIsRestoredIsNotInitialised) {
  SaveSeven();
  const auto manager = Manager({.ready_op = only_v_});
  const auto never = [](Session&) { return MakeStatus(Code::kInternal, "called"); };
  EXPECT_EQ(Outcome(manager->Prepare({}, FromDirectory(), {.init_op = init_v_, .init_fn = never})),
            "v=7 w=FAILED_PRECONDITION");
  EXPECT_THAT(saver_->last_checkpoints(), ElementsAre("/ckpt/model.ckpt-1"));
}

// testPrepareSessionFails
TEST_F(SessionManagerTest, PrepareWaitsForACheckpointButNotForEver) {
  SaveSeven();
  ASSERT_TRUE(fake_.files.Rename("/ckpt/checkpoint", "/ckpt/away").ok());
  const auto manager = Manager({.ready_op = only_v_, .recovery_wait = seconds(2)});
  RestoreOptions waiting = FromDirectory();
  waiting.wait_for_checkpoint = true;
  waiting.max_wait = seconds(3);
  EXPECT_EQ(Outcome(manager->Prepare({}, waiting, {})),
            "USAGE: Model is not initialized and no init_op or init_fn or local_init_op was given");
  EXPECT_THAT(Sleeps(), ElementsAre(2, 2)) << "overshoots by up to one interval";
  ASSERT_TRUE(fake_.files.Rename("/ckpt/away", "/ckpt/checkpoint").ok());
  EXPECT_EQ(Outcome(manager->Prepare({}, waiting, {})), "v=7 w=FAILED_PRECONDITION");
}

// A model that is ready without a checkpoint was not recovered from one.
TEST_F(SessionManagerTest, WhatWasNotRestoredIsNotRecovered) {
  Share();
  RunElsewhere(set_seven_);
  const auto manager = Manager({.ready_op = only_v_});
  EXPECT_EQ(Outcome(manager->Recover({}, FromDirectory())), "not initialized v=7 w=FAILED_PRECONDITION");
}

// testRecoverSession
TEST_F(SessionManagerTest, RecoverRestoresFromADirectoryOrAFile) {
  const auto manager = Manager({.ready_op = only_v_});
  EXPECT_EQ(Outcome(manager->Recover({}, FromDirectory())),
            "not initialized v=FAILED_PRECONDITION w=FAILED_PRECONDITION");
  SaveSeven();
  const std::string restored = "initialized v=7 w=FAILED_PRECONDITION";
  EXPECT_EQ(Outcome(manager->Recover({}, FromDirectory())), restored);
  const RestoreOptions file{.saver = saver_, .checkpoint_filename_with_path = "/ckpt/model.ckpt-1"};
  EXPECT_EQ(Outcome(manager->Recover({}, file)), restored);
  RestoreOptions both = file;
  both.checkpoint_dir = kDirectory;
  EXPECT_EQ(Outcome(manager->Recover({}, both)),
            "USAGE: Can not provide both checkpoint_dir and checkpoint_filename_with_path.");
  EXPECT_EQ(Outcome(manager->Recover({}, {.checkpoint_dir = kDirectory})),
            "not initialized v=FAILED_PRECONDITION w=FAILED_PRECONDITION")
      << "without a saver nothing is restored";
}

// testRecoverSessionWithReadyForLocalInitOp
TEST_F(SessionManagerTest, RecoverRunsLocalInitOnceItsNeedsAreThere) {
  SaveSeven();
  const auto manager = Manager({.local_init_op = w_from_v_, .ready_op = all_, .ready_for_local_init_op = only_v_});
  EXPECT_EQ(Outcome(manager->Recover({}, FromDirectory())), "initialized v=7 w=7");
}

// testRecoverSessionWithReadyForLocalInitOpFailsToReadyLocal
TEST_F(SessionManagerTest, RecoverDoesNotRunLocalInitWhenAStrictCheckSaysNo) {
  SaveSeven();
  const auto manager = Manager({.local_init_op = w_from_v_, .ready_op = all_, .ready_for_local_init_op = all_});
  EXPECT_EQ(Outcome(manager->Recover({}, FromDirectory())), "not initialized v=7 w=FAILED_PRECONDITION");
  EXPECT_THAT(fake_.log.lines().back().text,
              "Restoring model from /ckpt did not make model ready for local init: Variables not initialized: w");
}

// testRecoverSessionNoChkptStillRunsLocalInitOp, testRecoverSessionFailsStillRunsLocalInitOp
TEST_F(SessionManagerTest, RecoverRunsLocalInitAlsoWhenNothingWasRestored) {
  const auto manager = Manager({.local_init_op = w_.initializer, .ready_op = all_});
  EXPECT_EQ(Outcome(manager->Recover({}, {})), "not initialized v=FAILED_PRECONDITION w=1");
  EXPECT_EQ(Outcome(manager->Recover({}, FromDirectory())), "not initialized v=FAILED_PRECONDITION w=1");
}

TEST_F(SessionManagerTest, RecoverSaysWhatARestoreLeftUninitialised) {
  SaveSeven();
  const auto manager = Manager({.ready_op = all_});
  EXPECT_EQ(Outcome(manager->Recover({}, FromDirectory())), "not initialized v=7 w=FAILED_PRECONDITION");
  EXPECT_THAT(fake_.log.lines().back().text,
              "Restoring model from /ckpt did not make model ready: Variables not initialized: w");
}

// testInitWithNoneLocalInitOpError
TEST_F(SessionManagerTest, ReadyForLocalInitNeedsALocalInit) {
  const auto manager = SessionManager::Create(env(), graph_, factory_, {.ready_for_local_init_op = only_v_});
  EXPECT_THAT(Text(manager.status()), AllOf(HasSubstr("USAGE"), HasSubstr("ready_for_local_init_op")));
}

// testPrepareSessionWithReadyForLocalInitOp
TEST_F(SessionManagerTest, PrepareRunsEveryLocalInit) {
  const ops::Variable x = ops::MakeVariable(b_, "x", b_.Const("x0", Number(3)), kLocalVariables);
  const Output both = ops::ReportUninitializedVariables(b_, "report_v_w_x", {v_.ref, w_.ref, x.ref});
  const NodeId local = b_.Group("local_init", {w_from_v_, x.initializer}).node;
  const auto manager = Manager({.local_init_op = local, .ready_op = both, .ready_for_local_init_op = only_v_});
  const absl::StatusOr<SessionPtr> session = manager->Prepare({}, {}, {.init_op = init_v_});
  EXPECT_EQ(Outcome(session), "v=1 w=1");
  EXPECT_EQ(Value(**session, x.ref), "3");
}

// testPrepareSessionWithPartialInitOp
TEST_F(SessionManagerTest, WithoutAReadyOpAPartlyInitialisedModelIsTakenAsItIs) {
  const auto manager = Manager({.local_init_op = w_.initializer});
  EXPECT_EQ(Outcome(manager->Prepare({}, {}, {})), "v=FAILED_PRECONDITION w=1");
}

// testPrepareSessionDidNotInitLocalVariable (+ List)
TEST_F(SessionManagerTest, PrepareNamesWhatWasForgotten) {
  const auto manager = Manager({.ready_op = all_});
  EXPECT_EQ(Outcome(manager->Prepare({}, {}, {.init_op = init_v_})),
            "USAGE: Init operations did not make model ready. Init op: init_v, init fn: none, local_init_op: none, "
            "error: Variables not initialized: w");
  EXPECT_EQ(Closed(), 0) << "as in TensorFlow nobody closes that session";
}

// testPrepareSessionWithReadyNotReadyForLocal
TEST_F(SessionManagerTest, PrepareNamesWhatLocalInitWaitsFor) {
  const auto manager = Manager({.local_init_op = w_from_v_, .ready_op = all_, .ready_for_local_init_op = only_v_});
  EXPECT_THAT(Outcome(manager->Prepare({}, {}, {.init_op = w_.initializer})),
              AllOf(HasSubstr("USAGE: Init operations did not make model ready for local_init. "),
                    HasSubstr("error: Variables not initialized: v")));
}

// testPrepareSessionWithInsufficientReadyForLocalInitCheck
TEST_F(SessionManagerTest, PrepareFailsWhenLocalInitHidesWhatIsMissing) {
  const auto manager = Manager({.local_init_op = w_.initializer, .ready_op = all_});
  EXPECT_THAT(Outcome(manager->Prepare({}, {}, {.init_op = w_.initializer})),
              AllOf(HasSubstr("USAGE: Init operations did not make model ready. "),
                    HasSubstr("error: Variables not initialized: v")));
}

// ObsoleteSessionManagerTest: a ready op that fails instead of naming what is missing.
TEST_F(SessionManagerTest, AReadyOpMaySayNoByFailing) {
  const auto manager = Manager({.ready_op = v_.read});
  EXPECT_THAT(Outcome(manager->Prepare({}, {}, {.init_fn = [](Session&) { return absl::OkStatus(); }})),
              AllOf(HasSubstr("USAGE: Init operations did not make model ready. "),
                    HasSubstr("Attempting to use uninitialized value v")));
  EXPECT_THAT(Outcome(manager->WaitForSession({}, seconds(3))), HasSubstr("DEADLINE_EXCEEDED"));
}

TEST_F(SessionManagerTest, OtherFailuresOfAReadyOpAreErrors) {
  const Output needs_a_feed = ops::Placeholder(b_, "never_fed", DType::kInt64);
  const auto manager = Manager({.ready_op = needs_a_feed});
  EXPECT_EQ(CodeOf(manager->Prepare({}, {}, {.init_op = init_v_}).status()), Code::kInvalidArgument);
}

TEST_F(SessionManagerTest, AnInt32AnswerMeansReady) {
  const auto manager = Manager({.ready_op = b_.Const("old_style", Tensor::Scalar<std::int32_t>(1))});
  EXPECT_EQ(Outcome(manager->Prepare({}, {}, {.init_op = init_v_})), "v=1 w=FAILED_PRECONDITION");
}

// testWaitForSessionReturnsNoneAfterTimeout
TEST_F(SessionManagerTest, WaitingGivesUp) {
  const auto manager = Manager({.ready_op = only_v_, .recovery_wait = seconds(1)});
  EXPECT_EQ(Outcome(manager->WaitForSession({}, seconds(3))),
            "DEADLINE_EXCEEDED: Session was not ready after waiting 3 secs.");
  EXPECT_THAT(Sleeps(), ElementsAre(1, 1, 1)) << "a last look when the time is up exactly";
  EXPECT_EQ(factory_->created, 4);
  EXPECT_EQ(Closed(), 4);
}

// What is slept is told over all of them.
TEST_F(SessionManagerTest, EachWaitMayTakeAsLong) {
  const auto manager = Manager({.ready_op = only_v_, .recovery_wait = seconds(1)});
  Duration slept{0};
  for (const int waits : {1, 2}) {
    EXPECT_THAT(Outcome(manager->WaitForSession({}, seconds(3), &slept)), HasSubstr("DEADLINE_EXCEEDED"));
    EXPECT_EQ(slept, seconds(3 * waits));
  }
}

TEST_F(SessionManagerTest, PatienceOfLessThanOneIntervalIsOneLook) {
  const auto manager = Manager({.ready_op = only_v_});
  EXPECT_THAT(Outcome(manager->WaitForSession({}, seconds(10))), HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_THAT(Sleeps(), IsEmpty());
  EXPECT_EQ(factory_->created, 1);
}

TEST_F(SessionManagerTest, TimeThatPassesInCallsCounts) {
  const auto manager = Manager({.ready_op = only_v_});
  factory_->before_create = [this] {
    fake_.clock.Advance(seconds(25));
    return absl::OkStatus();
  };
  EXPECT_THAT(Outcome(manager->WaitForSession({}, seconds(100))), HasSubstr("DEADLINE_EXCEEDED"));
  EXPECT_THAT(Sleeps(), ElementsAre(30)) << "25 + 30 + 25 leave less than one more interval";
}

// testWaitForSessionLocalInit
TEST_F(SessionManagerTest, AWorkerFindsTheModelAndRunsItsOwnLocalInit) {
  Share();
  RunElsewhere(set_seven_);
  const auto manager = Manager({.local_init_op = w_from_v_, .ready_op = all_, .ready_for_local_init_op = only_v_});
  EXPECT_EQ(Outcome(manager->WaitForSession({}, seconds(30))), "v=7 w=7");
  EXPECT_THAT(Sleeps(), IsEmpty());
}

TEST_F(SessionManagerTest, AWorkerLooksAgainEachIntervalUntilTheChiefIsDone) {
  Share();
  const auto manager = Manager({.local_init_op = w_from_v_, .ready_op = all_, .ready_for_local_init_op = only_v_});
  factory_->before_create = [this] {
    if (factory_->created == 3) RunElsewhere(set_seven_);
    return absl::OkStatus();
  };
  EXPECT_EQ(Outcome(manager->WaitForSession({}, std::nullopt)), "v=7 w=7");
  EXPECT_THAT(Sleeps(), ElementsAre(30, 30));
  EXPECT_EQ(Closed(), 2);
  EXPECT_EQ(fake_.log.lines()[0].text,
            "Waiting for model to be ready. Ready_for_local_init_op: Variables not initialized: v, ready: none");
}

TEST_F(SessionManagerTest, ByDefaultAWorkerLooksSoonAndThenLessOften) {
  Share();
  const auto manager = Manager({.ready_op = only_v_}, Behaviour::Default());
  factory_->before_create = [this] {
    if (factory_->created == 9) RunElsewhere(set_seven_);
    return absl::OkStatus();
  };
  EXPECT_EQ(Outcome(manager->WaitForSession({}, std::nullopt)), "v=7 w=FAILED_PRECONDITION");
  EXPECT_THAT(Sleeps(), ElementsAre(1, 2, 4, 8, 16, 30, 30, 30));
}

TEST_F(SessionManagerTest, ByDefaultASessionThatCannotBeMadeReadyIsClosed) {
  const auto manager = Manager({.ready_op = all_}, Behaviour::Default());
  EXPECT_FALSE(manager->Prepare({}, {}, {.init_op = init_v_}).ok());
  EXPECT_EQ(Closed(), 1);
  const auto strict = Manager({.ready_op = ops::Placeholder(b_, "never_fed", DType::kInt64)}, Behaviour::Default());
  EXPECT_EQ(CodeOf(strict->WaitForSession({}, seconds(10)).status()), Code::kInvalidArgument);
  EXPECT_EQ(Closed(), 2);
}

TEST_F(SessionManagerTest, ARestoredModelWithoutAVariableSaysWhereToPutIt) {
  SaveSeven();
  const auto manager = Manager({.ready_op = all_});
  EXPECT_THAT(Outcome(manager->Prepare({}, FromDirectory(), {.init_op = init_v_})),
              AllOf(HasSubstr("error: Variables not initialized: w"), HasSubstr("local_init_op")));
}

TEST_F(SessionManagerTest, WithoutAnIntervalWaitingNeverGivesUp) {
  Share();
  const auto manager = Manager({.ready_op = only_v_, .recovery_wait = seconds(0)});
  factory_->before_create = [this] {
    fake_.clock.Advance(seconds(100));
    if (factory_->created == 20) RunElsewhere(set_seven_);
    return absl::OkStatus();
  };
  EXPECT_EQ(Outcome(manager->WaitForSession({}, seconds(1))), "v=7 w=FAILED_PRECONDITION");
  EXPECT_EQ(factory_->created, 20);
}

// testWaitForSessionWithReadyForLocalInitOpFailsToReadyLocal
TEST_F(SessionManagerTest, WaitingIsInVainWhenTheCheckBeforeLocalInitIsTooStrict) {
  Share();
  RunElsewhere(set_seven_);
  const auto manager = Manager({.local_init_op = w_from_v_, .ready_op = all_, .ready_for_local_init_op = all_});
  EXPECT_THAT(Outcome(manager->WaitForSession({}, seconds(3))), HasSubstr("DEADLINE_EXCEEDED"));
}

// testWaitForSessionInsufficientReadyForLocalInitCheck
TEST_F(SessionManagerTest, WaitingIsInVainWhenOnlyLocalVariablesGetReady) {
  const auto manager = Manager({.local_init_op = w_.initializer, .ready_op = all_});
  EXPECT_THAT(Outcome(manager->WaitForSession({}, seconds(3))), HasSubstr("DEADLINE_EXCEEDED"));
}

TEST_F(SessionManagerTest, OtherErrorsEndTheWait) {
  const auto manager = Manager({.ready_op = only_v_});
  factory_->before_create = [this] {
    return factory_->created == 2 ? MakeStatus(Code::kUnavailable, "lost") : absl::OkStatus();
  };
  EXPECT_EQ(Outcome(manager->WaitForSession({}, seconds(100))), "UNAVAILABLE: lost");
  EXPECT_THAT(Sleeps(), ElementsAre(30));
}

// For who makes no session anew by himself (a supervisor): somebody who comes late is not missed after a minute.
TEST_F(SessionManagerTest, ACreationThatNobodyAnswersIsTriedAgainWhereAsked) {
  const SessionTarget remote{.master = "grpc://w0:2222"};
  factory_->before_create = [this]() -> absl::Status {
    EXPECT_EQ(factory_->seen.config.create_timeout, seconds(60));
    env().tasks->SleepUntil(DeadlineAfter(env(), seconds(60)));
    return MakeStatus(Code::kUnavailable, "no response");
  };
  const auto once = Manager({.ready_op = only_v_}, Behaviour::Default());
  EXPECT_EQ(Outcome(once->Prepare(remote, {}, {.init_op = init_v_})), "UNAVAILABLE: no response");
  EXPECT_EQ(factory_->created, 1);

  const auto again = Manager({.ready_op = only_v_, .keeps_creating = std::chrono::minutes(10)}, Behaviour::Default());
  EXPECT_EQ(Outcome(again->Prepare(remote, {}, {.init_op = init_v_})), "UNAVAILABLE: no response");
  EXPECT_EQ(factory_->created, 1 + 10) << "61 s each";

  // A caller who says how long he waits for a session is taken at his word.
  SessionTarget hurried = remote;
  hurried.config.create_timeout = seconds(60);
  EXPECT_EQ(Outcome(again->Prepare(hurried, {}, {.init_op = init_v_})), "UNAVAILABLE: no response");
  EXPECT_EQ(factory_->created, 12);

  // Other errors are no silence.
  factory_->before_create = [] { return MakeStatus(Code::kInternal, "broken"); };
  EXPECT_EQ(Outcome(again->Prepare(remote, {}, {.init_op = init_v_})), "INTERNAL: broken");
  EXPECT_EQ(factory_->created, 13);

  const auto as_tensorflow = Manager({.ready_op = only_v_, .keeps_creating = std::chrono::minutes(10)});
  factory_->before_create = [] { return MakeStatus(Code::kUnavailable, "no response"); };
  EXPECT_EQ(Outcome(as_tensorflow->Prepare(remote, {}, {.init_op = init_v_})), "UNAVAILABLE: no response");
  EXPECT_EQ(factory_->created, 14);
}

TEST_F(SessionManagerTest, AStopEndsTheAttemptsToCreate) {
  const auto manager = Manager({.ready_op = only_v_,
                                .stop_wait = [this](Time) { return factory_->created == 2; },
                                .keeps_creating = std::chrono::minutes(10)},
                               Behaviour::Default());
  factory_->before_create = [] { return MakeStatus(Code::kUnavailable, "no response"); };
  EXPECT_THAT(Outcome(manager->Prepare({.master = "grpc://w0:2222"}, {}, {.init_op = init_v_})),
              HasSubstr("CANCELLED"));
  EXPECT_EQ(factory_->created, 2);
}

TEST_F(SessionManagerTest, MasterAndConfigurationReachTheFactory) {
  const auto manager = Manager({.ready_op = only_v_});
  const SessionTarget target{.config = {.device_filters = {"/job:ps", "/job:worker/task:3"},
                                        .operation_timeout_in_ms = 250,
                                        .inter_op_parallelism_threads = 2}};
  EXPECT_EQ(Outcome(manager->Prepare(target, {}, {.init_op = init_v_})), "v=1 w=FAILED_PRECONDITION");
  EXPECT_THAT(factory_->seen.config.device_filters, ElementsAre("/job:ps", "/job:worker/task:3"));
  EXPECT_EQ(factory_->seen.config.operation_timeout_in_ms, 250);
  EXPECT_EQ(factory_->seen.config.inter_op_parallelism_threads, 2);
  // There is no server to be had yet.
  const SessionTarget remote{.master = "grpc://w0:2222"};
  EXPECT_THAT(Outcome(manager->Prepare(remote, {}, {.init_op = init_v_})),
              AllOf(HasSubstr("UNIMPLEMENTED"), HasSubstr("grpc://w0:2222")));
  EXPECT_THAT(Outcome(manager->WaitForSession(remote, seconds(100))), HasSubstr("UNIMPLEMENTED"));
}

}  // namespace
}  // namespace vigil
