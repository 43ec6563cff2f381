#include "vigil/core/cluster/master/step_run.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/cluster/master/client_graph.h"
#include "vigil/core/cluster/server/testing.h"
#include "vigil/core/cluster/step_errors.h"

namespace vigil {
namespace {

absl::Status Failed(const std::string& text) { return MakeStatus(Code::kInternal, text); }
absl::Status Cancelled() { return MakeStatus(Code::kCancelled, "CANCELLED"); }

class StepRunTest : public testing::Test {
 protected:
  StepRunTest() : cluster_(fake_.env(), {{"worker", 1}}) {
    run_ = std::make_shared<StepRun>(fake_.env(), cluster_.Start("worker", 0).worker(), 0);
    run_->Begin(1);
  }
  ~StepRunTest() override { fake_.tasks.EndAll(); }

  std::string Outcome(const std::vector<absl::Status>& failures) {
    run_->Begin(1);
    for (const absl::Status& failure : failures) run_->Fail(failure);
    const absl::Status status = run_->Finish(kNever);
    EXPECT_FALSE(IsDerived(status)) << "the mark is not for users";
    return Text(status);
  }

  fakes::FakeEnv fake_;
  TestCluster cluster_;
  std::shared_ptr<StepRun> run_;
};

TEST_F(StepRunTest, TheRootCauseIsTheFirstErrorThatFollowsFromNoOther) {
  EXPECT_EQ(Outcome({}), "OK");
  EXPECT_EQ(Outcome({Failed("a"), Failed("b")}), "INTERNAL: a");
  EXPECT_EQ(Outcome({Derived(Failed("a")), Failed("b"), Failed("c")}), "INTERNAL: b");
  EXPECT_EQ(Outcome({Failed("a"), Derived(Failed("b"))}), "INTERNAL: a");
  EXPECT_EQ(Outcome({Derived(Failed("a")), Derived(Failed("b"))}), "INTERNAL: a");
}

TEST_F(StepRunTest, WhatIsCancelledBecauseOfAFailureSaysNothing) {
  EXPECT_EQ(Outcome({Derived(Failed("a")), Cancelled()}), "INTERNAL: a");
  EXPECT_EQ(Outcome({Failed("a"), Cancelled()}), "INTERNAL: a");
  EXPECT_EQ(Outcome({Cancelled(), Failed("a")}), "CANCELLED: CANCELLED") << "a cancellation from outside came first";
}

TEST_F(StepRunTest, AStepThatHasFailedDoesNotBeginHere) {
  EXPECT_TRUE(run_->SetLocal(true));
  EXPECT_TRUE(run_->SetLocal(false));
  run_->Fail(Failed("a"));
  EXPECT_FALSE(run_->SetLocal(true));
}

// What tells who serves it that nobody waits any more.
class CallOfOneWhoGoes final : public IncomingCall {
 public:
  const std::string& method() const override { return text_; }
  const absl::Cord& body() const override { return body_; }
  bool cancelled() const override { return false; }
  void OnCancelled(std::function<void()> wake) override { go = std::move(wake); }
  std::function<void(absl::StatusOr<absl::Cord>)> AnswerLater() override { return nullptr; }
  std::function<void()> go;

 private:
  const std::string text_;
  const absl::Cord body_;
};

TEST_F(StepRunTest, WhoGoesCancelsWhatIsUnderWayForHimOrWillBe) {
  for (const bool at_once : {false, true}) {
    run_->Begin(1);
    CallOfOneWhoGoes call;
    const std::shared_ptr<StepCaller> caller = StepCaller::Of(call);
    if (at_once) call.go();
    caller->Watch(run_);
    if (!at_once) call.go();
    EXPECT_EQ(CodeOf(run_->Finish(kNever)), Code::kCancelled) << at_once;
    caller->Watch(nullptr);
  }
}

// Else a late answer would count for the next step.
TEST_F(StepRunTest, AStepEndsWithTheLastAnswerAlthoughItsTimeIsOver) {
  class SlowToCancel final : public Network {
   public:
    absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string&, RequestHandler) override {
      return std::unique_ptr<Listener>();
    }
    std::uint64_t Start(NetworkRequest, std::function<void(NetworkReply)> done) override {
      answer = std::move(done);
      return 1;
    }
    void Cancel(std::uint64_t) override { ++cancelled; }
    std::function<void(NetworkReply)> answer;
    int cancelled = 0;
  } network;
  Env env = fake_.env();
  env.network = &network;
  const auto run = std::make_shared<StepRun>(env, cluster_.server("worker", 0).worker(), 1);
  run->Begin(2);
  run->Start(0, {});
  absl::Status status;
  const Time deadline = DeadlineAfter(env, std::chrono::seconds(1));
  const std::unique_ptr<Task> task = env.tasks->Spawn("step", [&] { status = run->Finish(deadline); });
  env.tasks->SleepUntil(deadline + std::chrono::seconds(1));
  EXPECT_EQ(network.cancelled, 1);
  EXPECT_FALSE(task->done());
  network.answer(Cancelled());
  EXPECT_TRUE(task->Join(kNever));
  EXPECT_EQ(CodeOf(status), Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace vigil
