#include "vigil/core/train/session_creator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::HasSubstr;

// A chief and a worker over one set of variables.
class SessionCreatorTest : public testing::Test {
 protected:
  SessionCreatorTest() {
    step_ = *GetOrCreateGlobalStep(env(), b_);
    train_ = ops::AssignAdd(b_, "train", step_, b_.Const("one", Tensor::Scalar<std::int64_t>(1)));
    scaffold_ = std::make_shared<Scaffold>(env(), graph_);
  }
  Env env() { return fake_.env(); }
  std::int64_t Step(Session& session) { return ReadGlobalStep(session, step_).value_or(-1); }
  WorkerSessionCreator Worker(std::optional<Duration> max_wait = std::chrono::seconds(1800),
                              const Behaviour& behaviour = Behaviour::TensorFlow()) {
    return {env(), graph_, {.scaffold = scaffold_, .max_wait = max_wait, .factory = factory_, .behaviour = behaviour}};
  }
  // The chief comes after 100 s (or so many) and trains one step.
  double SecondsUntilAWorkerFindsItsChief(const Behaviour& behaviour, Duration chief_comes = std::chrono::seconds(100),
                                          Duration max_wait = std::chrono::seconds(1800)) {
    const auto chief = env().tasks->Spawn("chief", [this, chief_comes] {
      env().tasks->SleepUntil({chief_comes});
      ChiefSessionCreator creator(env(), graph_, {.scaffold = scaffold_, .factory = factory_});
      const absl::StatusOr<SessionPtr> session = creator.CreateSession();
      ASSERT_TRUE(session.ok()) << session.status();
      EXPECT_TRUE(RunTarget(**session, train_.node).ok());
    });
    WorkerSessionCreator creator = Worker(max_wait, behaviour);
    const absl::StatusOr<SessionPtr> session = creator.CreateSession();
    EXPECT_TRUE(session.ok()) << session.status();
    if (session.ok()) {
      EXPECT_EQ(Step(**session), 1);
    }
    EXPECT_TRUE(graph_.finalized());
    return ToSeconds(fake_.clock.Monotonic().since_epoch);
  }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  Output step_, train_;
  std::shared_ptr<Scaffold> scaffold_;
  std::shared_ptr<SessionFactory> factory_ = std::make_shared<DirectSessionFactory>(
      env(), DirectSessionOptions{.shared_resources = std::make_shared<ResourceManager>(env())});
};

TEST_F(SessionCreatorTest, AWorkerWaitsForItsChiefAndFindsItsStep) {
  EXPECT_EQ(SecondsUntilAWorkerFindsItsChief(Behaviour::TensorFlow()), 120) << "it looks every 30 s";
}

TEST_F(SessionCreatorTest, ByDefaultAWorkerLooksSoonAndThenLessOften) {
  EXPECT_EQ(SecondsUntilAWorkerFindsItsChief(Behaviour::Default()), 121) << "after 1 + 2 + 4 + 8 + 16 + 30 + 30 + 30 s";
}

// 31 s have gone by after 16, and the next wait would be 30.
TEST_F(SessionCreatorTest, ByDefaultAWorkerLooksALastTimeWhenItsPatienceEnds) {
  using std::chrono::seconds;
  EXPECT_EQ(SecondsUntilAWorkerFindsItsChief(Behaviour::Default(), seconds(40), seconds(60)), 60);
}

TEST_F(SessionCreatorTest, ByDefaultAWorkerWaitsAsLongAsItIsTold) {
  WorkerSessionCreator creator = Worker(std::chrono::seconds(70), Behaviour::Default());
  EXPECT_EQ(CodeOf(creator.CreateSession().status()), Code::kDeadlineExceeded);
  EXPECT_EQ(ToSeconds(fake_.clock.Monotonic().since_epoch), 70);
}

TEST_F(SessionCreatorTest, TheScaffoldThatIsMadeHasTheBehaviourOfItsCreator) {
  int syncs = 0;
  fake_.files.set_fault([&](fakes::FileOp op, const std::string&) {
    if (op == fakes::FileOp::kSync) ++syncs;
    return absl::OkStatus();
  });
  for (const bool durable : {false, true}) {
    Graph graph(BuiltinOps());
    Builder b(graph);
    ASSERT_TRUE(GetOrCreateGlobalStep(env(), b).ok());
    Behaviour behaviour;
    behaviour.durable_saves = durable;
    ChiefSessionCreator creator(env(), graph, {.behaviour = behaviour});
    const absl::StatusOr<SessionPtr> session = creator.CreateSession();
    ASSERT_TRUE(session.ok()) << session.status();
    const std::vector<SaverPtr> savers = graph.Collection(kSavers);
    ASSERT_EQ(savers.size(), 1U);
    EXPECT_TRUE(savers[0]->Save(**session, "/model", 0).ok());
    EXPECT_EQ(syncs > 0, durable);
  }
}

TEST_F(SessionCreatorTest, AWorkerNeverInitialises) {
  WorkerSessionCreator creator = Worker(std::chrono::seconds(70));
  const absl::Status status = creator.CreateSession().status();
  EXPECT_EQ(CodeOf(status), Code::kDeadlineExceeded);
  EXPECT_EQ(MessageOf(status), "Session was not ready after waiting 70 secs.");
}

TEST_F(SessionCreatorTest, EachCreationWaitsAnew) {
  ChiefSessionCreator chief(env(), graph_, {.scaffold = scaffold_, .factory = factory_});
  ASSERT_TRUE(chief.CreateSession().ok());
  WorkerSessionCreator creator = Worker(std::chrono::seconds(10));
  const absl::StatusOr<SessionPtr> first = creator.CreateSession();
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(RunTarget(**first, train_.node).ok());
  fake_.clock.Advance(std::chrono::seconds(1000));
  const absl::StatusOr<SessionPtr> second = creator.CreateSession();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(*first, *second);
  EXPECT_EQ(Step(**second), 1) << "the model is as it was: only a chief sets it back";
  ASSERT_TRUE(chief.CreateSession().ok());
  EXPECT_EQ(Step(**second), 0);
}

TEST_F(SessionCreatorTest, MastersThatAreNoneAreRefusedByName) {
  WorkerSessionCreator worker(env(), graph_, {.target = {.master = "gopher://localhost:2222"}});
  ChiefSessionCreator chief(env(), graph_, {.target = {.master = "nearby"}});
  const absl::Status of_worker = worker.CreateSession().status();
  const absl::Status of_chief = chief.CreateSession().status();
  EXPECT_EQ(CodeOf(of_worker), Code::kNotFound);
  EXPECT_EQ(CodeOf(of_chief), Code::kNotFound);
  EXPECT_THAT(std::string(MessageOf(of_worker)), HasSubstr("\"gopher://localhost:2222\""));
  EXPECT_THAT(std::string(MessageOf(of_chief)), HasSubstr("\"nearby\""));
}

TEST_F(SessionCreatorTest, WhatTheScaffoldRefusesComesOut) {
  graph_.AddToCollection(kSavers, std::make_shared<Saver>(env(), SaverOptions{}));
  graph_.AddToCollection(kSavers, std::make_shared<Saver>(env(), SaverOptions{}));
  WorkerSessionCreator creator = Worker();
  EXPECT_EQ(CodeOf(creator.CreateSession().status()), Code::kUsage);
}

}  // namespace
}  // namespace vigil
