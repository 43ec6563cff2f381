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

TEST_F(StepRendezvousTest, AStepThatWasAbortedBeforeItsRunDoesNotBegin) {
  step_->Abort(MakeStatus(Code::kInternal, "it broke"));
  ASSERT_EQ(CodeOf(step_->BeginRun(&cancellation_, 1)), Code::kInternal);
  EXPECT_FALSE(cancellation_.cancelled());
  EXPECT_TRUE(step_->over() && step_->spent());
  step_->Reuse(8);  // no run is left
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

// Whoever waits, and what he got.
struct Waiter {
  StepRendezvous::Taken Taken() {
    return [this](absl::StatusOr<Tensor> value) {
      ++times;
      got = std::move(value);
    };
  }
  int times = 0;
  absl::StatusOr<Tensor> got;
};

TEST_F(StepRendezvousTest, WhoWaitsGetsTheValueWhenItIsSent) {
  Waiter early, other, late;
  EXPECT_FALSE(step_->TryTake("v").has_value());
  EXPECT_NE(step_->Take("v", early.Taken()), 0U);
  EXPECT_NE(step_->Take("w", other.Taken()), 0U);
  ASSERT_TRUE(step_->BeginRun(&cancellation_, 3).ok());
  EXPECT_TRUE(step_->Send("v", Tensor::Scalar<double>(5)).ok());
  ASSERT_TRUE(early.got.ok());
  EXPECT_EQ(early.got->scalar<double>(), 5);
  EXPECT_EQ(other.times, 0);
  EXPECT_TRUE(step_->Send("x", Tensor::Scalar<double>(6)).ok());
  EXPECT_EQ(step_->Take("x", late.Taken()), 0U);
  EXPECT_EQ(late.got->scalar<double>(), 6);
  for (const char* const key : {"v", "x"}) {
    EXPECT_EQ(CodeOf(step_->TryTake(key)->status()), Code::kAborted) << key << " was asked for already";
  }
  step_->EndRun();
  EXPECT_FALSE(step_->over()) << "one value is untaken";
  step_->Abort(MakeStatus(Code::kInternal, "it broke"));
  EXPECT_EQ(CodeOf(other.got.status()), Code::kInternal);
  EXPECT_EQ(CodeOf(step_->TryTake("w")->status()), Code::kInternal);
  EXPECT_EQ(early.times + other.times + late.times, 3);
}

TEST_F(StepRendezvousTest, AValueThatNobodyWaitsForAnyMoreMayBeAskedForAgain) {
  Waiter first, second, third;
  const std::uint64_t gone = step_->Take("v", first.Taken());
  EXPECT_EQ(step_->Take("v", second.Taken()), 0U);
  EXPECT_EQ(CodeOf(second.got.status()), Code::kAborted) << "asked for already";
  EXPECT_DEATH(step_->Reuse(8), "taken == nullptr");
  step_->GiveUp(gone);
  EXPECT_NE(step_->Take("v", third.Taken()), 0U);
  step_->GiveUp(gone);  // has no effect on who came later
  ASSERT_TRUE(step_->BeginRun(&cancellation_, 1).ok());
  EXPECT_TRUE(step_->Send("v", Tensor::Scalar<double>(5)).ok());
  EXPECT_EQ(third.times, 1);
  EXPECT_EQ(first.times, 0);
  step_->EndRun();
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
