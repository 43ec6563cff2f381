// A run without hooks, on a session that is preempted in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/scaffold.h"
#include "vigil/core/train/session_creator.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;

// Says when it is told of a session, and of a run.
class Witness : public SessionRunHook {
 public:
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& given) override {
    coord = given;
    return Say("created");
  }
  absl::Status BeforeRun(RunContext&, RunArgs&) override { return Say("before"); }
  absl::Status AfterRun(RunContext&, const RunValues&) override { return Say("after"); }
  std::vector<std::string> lines;
  std::shared_ptr<Coordinator> coord;  // of the latest session

 private:
  absl::Status Say(std::string what) {
    lines.push_back(std::move(what));
    return absl::OkStatus();
  }
};

// A session whose runs end with `fails`, once.
class Preempted : public Session {
 public:
  Preempted(std::unique_ptr<Session> inner, absl::Status& fails) : inner_(std::move(inner)), fails_(fails) {}
  std::int64_t number() const override { return inner_->number(); }
  const Graph& graph() const override { return inner_->graph(); }
  bool closed() const override { return inner_->closed(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    const absl::Status failed = std::exchange(fails_, absl::OkStatus());
    return failed.ok() ? inner_->Run(call, fetched) : failed;
  }
  absl::Status Close() override { return inner_->Close(); }

 private:
  const std::unique_ptr<Session> inner_;
  absl::Status& fails_;
};

class PreemptedFactory : public SessionFactory {
 public:
  explicit PreemptedFactory(const Env& env) : env_(env) {}
  absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string&,
                                                  const SessionConfig&) override {
    return std::make_unique<Preempted>(NewDirectSession(env_, graph), fails);
  }
  absl::Status fails;  // the next run of any session

 private:
  const Env env_;
};

// A chief whose sessions a test may have preempted.
struct Chief {
  Chief() {
    EXPECT_TRUE(b.status().ok()) << b.status();
    auto made = MonitoredSession::Create(
        fake.env(), graph,
        {.session_creator = std::make_shared<ChiefSessionCreator>(
             fake.env(), graph,
             ChiefSessionCreatorOptions{.scaffold = std::make_shared<Scaffold>(fake.env(), graph), .factory = factory}),
         .hooks = {hook}});
    EXPECT_TRUE(made.ok()) << made.status();
    if (made.ok()) session = *std::move(made);
  }

  fakes::FakeEnv fake;
  Graph graph{BuiltinOps()};
  Builder b{graph};
  const Output step = *GetOrCreateGlobalStep(fake.env(), b);
  const Output train = ops::AssignAdd(b, "train", step, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
  const std::shared_ptr<Witness> hook = std::make_shared<Witness>();
  const std::shared_ptr<PreemptedFactory> factory = std::make_shared<PreemptedFactory>(fake.env());
  std::unique_ptr<MonitoredSession> session;
};

TEST(RunWithoutHooksTest, RecoversToo) {
  for (const Code code : {Code::kAborted, Code::kUnavailable}) {
    Chief chief;
    ASSERT_NE(chief.session, nullptr);
    MonitoredSession& session = *chief.session;
    ASSERT_TRUE(session.Run(chief.train).ok());
    chief.hook->lines.clear();
    chief.factory->fails = MakeStatus(code, "preempted");
    const auto result = session.RunWithoutHooks(chief.step);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->values().scalar<std::int64_t>(), 0) << "of the new session, that found no checkpoint";
    EXPECT_EQ(session.recoveries(), 1);
    EXPECT_THAT(chief.hook->lines, ElementsAre("created")) << "of the new session; no run of any hook";
    EXPECT_TRUE(session.Close().ok());
  }
}

// A task that fills a queue is preempted, and closes it: who takes from it hears of the end of the input.
TEST(RunWithoutHooksTest, RecoversFromWhatItsCoordinatorKnowsOf) {
  Chief chief;
  ASSERT_NE(chief.session, nullptr);
  chief.factory->fails = MakeStatus(Code::kOutOfRange, "the queue is closed");
  EXPECT_EQ(CodeOf(chief.session->RunWithoutHooks(chief.step).status()), Code::kOutOfRange)
      << "nobody knows of anything else";
  ASSERT_TRUE(chief.hook->coord->RequestStop(MakeStatus(Code::kAborted, "preempted")).ok());
  chief.factory->fails = MakeStatus(Code::kOutOfRange, "the queue is closed");
  const auto result = chief.session->RunWithoutHooks(chief.step);
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(chief.session->recoveries(), 1);
  EXPECT_TRUE(chief.session->Close().ok());
}

// The stop is asked for in the attempt that fails: it counts once the call is over.
TEST(RunWithoutHooksTest, AStopSurvivesItsRecovery) {
  Chief chief;
  ASSERT_NE(chief.session, nullptr);
  ASSERT_TRUE(chief.hook->coord->RequestStop().ok());
  chief.factory->fails = MakeStatus(Code::kAborted, "preempted");
  ASSERT_TRUE(chief.session->RunWithoutHooks(chief.step).ok());
  EXPECT_EQ(chief.session->recoveries(), 1);
  EXPECT_TRUE(*chief.session->ShouldStop());
  EXPECT_TRUE(chief.session->Close().ok());
}

}  // namespace
}  // namespace vigil
