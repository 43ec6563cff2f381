// What only a bug could do to a step: each would become a wrong answer, or a step that is never over.
#include "vigil/core/cluster/worker/step_rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

// Answers each request at once, as often as it is told to.
class EchoNetwork final : public Network {
 public:
  explicit EchoNetwork(int replies) : replies_(replies) {}
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string&, RequestHandler) override {
    return std::unique_ptr<Listener>();
  }
  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) override {
    for (int i = 0; i < replies_; ++i) done(request.body);
    if (meanwhile) meanwhile();
    return 1;
  }
  void Cancel(std::uint64_t call) override { cancelled.push_back(call); }

  std::function<void()> meanwhile;  // before the caller learns the number of the call
  std::vector<std::uint64_t> cancelled;

 private:
  const int replies_;
};

class StepRendezvousTest : public testing::Test {
 protected:
  StepRendezvousTest() {
    Env env = fake_.env();
    env.network = &network_;
    step_ = std::make_shared<StepRendezvous>(env);
    step_->Reuse(7);
  }

  fakes::FakeEnv fake_;
  EchoNetwork network_{1};
  Cancellation cancellation_;
  std::shared_ptr<StepRendezvous> step_;
};

TEST_F(StepRendezvousTest, AValueIsAskedForAndAwaitedOnce) {
  ASSERT_TRUE(step_->BeginRun(&cancellation_, 0).ok());
  step_->Fetch(0, {.body = absl::Cord("seven")});
  EXPECT_EQ(*step_->Await(0, kNever), "seven");
  EXPECT_DEATH(step_->Await(0, kNever).IgnoreError(), "reply.has_value\\(\\)");
  EXPECT_DEATH(step_->Await(1, kNever).IgnoreError(), "i < arrivals_.size\\(\\)");
  step_->EndRun();
  EXPECT_TRUE(step_->over());
}

TEST_F(StepRendezvousTest, ARunEndsOnceAndKeepsItsStep) {
  EXPECT_DEATH(step_->EndRun(), "running_");
  ASSERT_TRUE(step_->BeginRun(&cancellation_, 0).ok());
  EXPECT_DEATH(step_->Reuse(8), "!running_");
  step_->EndRun();
  EXPECT_DEATH(step_->EndRun(), "running_");
  step_->Reuse(8);
  EXPECT_EQ(step_->step_id(), 8);
}

// The abort does not know of the call, the call not of the abort.
TEST_F(StepRendezvousTest, ACallThatAnAbortOvertakesIsCancelled) {
  EchoNetwork silent(0);
  Env env = fake_.env();
  env.network = &silent;
  const auto step = std::make_shared<StepRendezvous>(env);
  step->Reuse(7);
  silent.meanwhile = [&] { step->Abort(MakeStatus(Code::kInternal, "it broke")); };
  step->Fetch(0, {.body = absl::Cord("seven")});
  EXPECT_THAT(silent.cancelled, testing::ElementsAre(1));
  EXPECT_EQ(CodeOf(step->Await(0, kNever).status()), Code::kInternal);
}

// Whose caller gives up.
class ImpatientCall final : public IncomingCall {
 public:
  const std::string& method() const override { return text_; }
  const absl::Cord& body() const override { return body_; }
  bool cancelled() const override { return cancelled_; }
  void OnCancelled(std::function<void()> wake) override {
    cancelled_ = true;
    wake();
  }

 private:
  const std::string text_;
  const absl::Cord body_;
  bool cancelled_ = false;
};

TEST_F(StepRendezvousTest, AValueThatNobodyWaitsForAnyMoreMayBeAskedForAgain) {
  ImpatientCall first, second;
  EXPECT_EQ(CodeOf(step_->Take("v", first).status()), Code::kCancelled);
  EXPECT_EQ(CodeOf(step_->Take("v", second).status()), Code::kCancelled) << "and not ABORTED: asked for already";
}

TEST_F(StepRendezvousTest, ACallHasOneReply) {
  EchoNetwork twice(2);
  Env env = fake_.env();
  env.network = &twice;
  const auto step = std::make_shared<StepRendezvous>(env);
  EXPECT_DEATH(step->Fetch(0, {.body = absl::Cord("seven")}), "!arrivals_\\[i\\].arrived");
}

}  // namespace
}  // namespace vigil
