// A stop that somebody outside of the session asks for: SIGTERM, or another task.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/core/train/training_util.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class LastWords : public SessionRunHook {
 public:
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>&) override {
    return created;
  }
  absl::Status BeforeRun(RunContext&, RunArgs&) override { return std::exchange(before, absl::OkStatus()); }
  absl::Status End(Session*) override {
    ++ends;
    return absl::OkStatus();
  }
  absl::Status created;  // each time
  absl::Status before;   // once
  int ends = 0;
};

class StopRequestTest : public testing::Test {
 protected:
  StopRequestTest() {
    Builder b(graph_);
    step_ = *GetOrCreateGlobalStep(env(), b);
    train_ = ops::AssignAdd(b, "train", step_, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
    EXPECT_TRUE(b.status().ok());
  }
  Env env() { return fake_.env(); }
  absl::StatusOr<std::unique_ptr<MonitoredSession>> Open(MonitoredSessionOptions options) {
    options.hooks = {hook_};
    return MonitoredSession::Create(env(), graph_, std::move(options));
  }
  std::unique_ptr<Task> SignalAt(Duration when) {
    return env().tasks->Spawn("operator", [this, when] {
      env().tasks->SleepUntil({when});
      fake_.signals.Raise();
    });
  }
  Duration Now() { return fake_.clock.Monotonic().since_epoch; }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Output step_, train_;
  std::shared_ptr<LastWords> hook_ = std::make_shared<LastWords>();
};

TEST_F(StopRequestTest, ASignalEndsTheTrainingInGoodOrder) {
  auto session = Open({.stop_on_sigterm = true}).value();
  ASSERT_TRUE(session->Run(train_).ok());
  EXPECT_FALSE(*session->ShouldStop());
  fake_.signals.Raise();
  EXPECT_TRUE(*session->ShouldStop());
  EXPECT_TRUE(session->Run(train_).ok()) << "what a loop makes before it asks again is not refused";
  EXPECT_TRUE(session->Close().ok());
  EXPECT_EQ(hook_->ends, 1);
  EXPECT_EQ(fake_.signals.watches(), 0u);
}

TEST_F(StopRequestTest, NobodyWatchesUnlessAsked) {
  auto session = Open({}).value();
  EXPECT_EQ(fake_.signals.watches(), 0u);
  EXPECT_TRUE(session->Close().ok());
}

TEST_F(StopRequestTest, AnEnvWithoutSignalsIsRefused) {
  Env deaf = env();
  deaf.signals = nullptr;
  const auto made = MonitoredSession::Create(deaf, graph_, {.stop_on_sigterm = true});
  EXPECT_EQ(CodeOf(made.status()), Code::kUsage);
  EXPECT_THAT(std::string(MessageOf(made.status())), HasSubstr("stop_on_sigterm"));
}

TEST_F(StopRequestTest, ThePauseOfARecoveryEnds) {
  auto session = Open({.stop_on_sigterm = true}).value();
  hook_->before = MakeStatus(Code::kUnavailable, "the server is gone");
  hook_->created = MakeStatus(Code::kUnavailable, "still gone");
  const auto signal = SignalAt(500s);
  const absl::Status status = session->Run(train_).status();
  EXPECT_EQ(CodeOf(status), Code::kCancelled);
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("SIGTERM"));
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("still gone"));
  EXPECT_EQ(Now(), 500s);
  EXPECT_EQ(CodeOf(session->Exit(status)), Code::kCancelled);
}

TEST_F(StopRequestTest, AWorkerWaitsForItsChiefNoLonger) {
  const auto stop = std::make_shared<StopRequest>(env());
  const auto other = env().tasks->Spawn("other", [this, stop] {
    env().tasks->SleepUntil({100s});
    stop->Request("another task");
  });
  const auto made = Open({.session_creator = std::make_shared<WorkerSessionCreator>(env(), graph_), .stop = stop});
  EXPECT_EQ(CodeOf(made.status()), Code::kCancelled);
  EXPECT_EQ(Now(), 100s);
  EXPECT_EQ(stop->requested_by(), "another task");
}

}  // namespace
}  // namespace vigil
