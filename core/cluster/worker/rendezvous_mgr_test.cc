#include "vigil/core/cluster/worker/rendezvous_mgr.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

// What another task does at the very moment when the lock of the steps is free again.
class StepsUnlocked final : public ForwardingTasks {
 public:
  using ForwardingTasks::ForwardingTasks;
  std::function<void()> then;

  std::unique_ptr<Mutex> NewMutex(std::string_view name) override {
    std::unique_ptr<Mutex> inner = ForwardingTasks::NewMutex(name);
    if (name != "steps") return inner;
    return std::make_unique<Telling>(*this, std::move(inner));
  }

 private:
  class Telling final : public Mutex {
   public:
    Telling(StepsUnlocked& all, std::unique_ptr<Mutex> inner) : all_(all), inner_(std::move(inner)) {}
    void Lock() override { inner_->Lock(); }
    void Unlock() override {
      inner_->Unlock();
      if (const std::function<void()> now = std::exchange(all_.then, nullptr)) now();
    }

   private:
    StepsUnlocked& all_;
    const std::unique_ptr<Mutex> inner_;
  };
};

class RendezvousMgrTest : public testing::Test {
 protected:
  RendezvousMgrTest() : tasks_(*fake_.env().tasks) {
    env_ = fake_.env();
    env_.tasks = &tasks_;
    steps_.emplace(env_);
  }
  ~RendezvousMgrTest() override { fake_.tasks.EndAll(); }

  // A run that has ended well, with a value that nobody has taken.
  RendezvousMgr::Lease RunOf(std::int64_t step) {
    RendezvousMgr::Lease lease = steps_->Enter(step);
    Cancellation cancellation;
    EXPECT_TRUE(lease->BeginRun(&cancellation, 1).ok());
    lease->EndRun();
    return lease;
  }
  static absl::Status Over() { return MakeStatus(Code::kAborted, "over"); }

  fakes::FakeEnv fake_;
  StepsUnlocked tasks_;
  Env env_;
  std::optional<RendezvousMgr> steps_;
};

TEST_F(RendezvousMgrTest, AStepStaysAsLongAsAValueOfItWaits) {
  { const RendezvousMgr::Lease lease = RunOf(1); }
  EXPECT_EQ(steps_->size(), 1u);
  steps_->End(1, Over());
  EXPECT_EQ(steps_->size(), 0u);
  EXPECT_FALSE(steps_->Enter(1)) << "it must not begin again";
}

TEST_F(RendezvousMgrTest, MastersAreThoseForWhoseStepsSomebodyWorks) {
  EXPECT_TRUE(steps_->Masters().empty());
  std::optional<RendezvousMgr::Lease> of_seven(steps_->Enter(1, 7));
  const RendezvousMgr::Lease of_nobody = steps_->Enter(2);
  EXPECT_EQ(steps_->Masters(), std::set<std::uint64_t>{7});
  Cancellation cancellation;
  EXPECT_TRUE((*of_seven)->BeginRun(&cancellation, 1).ok());
  (*of_seven)->EndRun();
  of_seven.reset();
  EXPECT_TRUE(steps_->Masters().empty()) << "a value alone is left";
  EXPECT_EQ(steps_->size(), 2u);
}

TEST_F(RendezvousMgrTest, WhoLeavesWhileAStepIsEndedLeavesNothingBehind) {
  std::optional<RendezvousMgr::Lease> lease(RunOf(1));
  tasks_.then = [&] { lease.reset(); };
  steps_->End(1, Over());
  EXPECT_FALSE(lease.has_value());
  EXPECT_EQ(steps_->size(), 0u);
}

TEST_F(RendezvousMgrTest, AStepThatIsEndedGoesWithTheLastWhoWorksOnIt) {
  std::optional<RendezvousMgr::Lease> lease(RunOf(1));
  steps_->EndAll(Over());
  EXPECT_EQ(steps_->size(), 1u);
  EXPECT_EQ(CodeOf((*lease)->aborted()), Code::kAborted);
  lease.reset();
  EXPECT_EQ(steps_->size(), 0u);
}

TEST_F(RendezvousMgrTest, WhatTheLastFewStepsHaveFailedWithIsKnown) {
  const auto fail = [this](std::int64_t step) {
    const RendezvousMgr::Lease lease = RunOf(step);
    lease->Abort(MakeStatus(Code::kOutOfRange, std::to_string(step)));
  };
  fail(1);
  EXPECT_EQ(steps_->Enter(1).failed().message(), "1");
  { const RendezvousMgr::Lease went_well = RunOf(2); }
  steps_->End(2, Over());
  EXPECT_EQ(steps_->Enter(2).failed().message(), "over");
  steps_->End(3, Over());
  EXPECT_TRUE(steps_->Enter(3).failed().ok()) << "it never was here";
  for (std::int64_t step = 4; step < 80; ++step) fail(step);
  EXPECT_EQ(steps_->Enter(79).failed().message(), "79");
  EXPECT_FALSE(steps_->Enter(1));
  EXPECT_TRUE(steps_->Enter(1).failed().ok()) << "forgotten: it is too long ago";
}

TEST_F(RendezvousMgrTest, TheStepsOfOneMasterEndWithoutThoseOfOthers) {
  const auto run = [this](std::int64_t step, std::uint64_t master) {
    const RendezvousMgr::Lease lease = steps_->Enter(step, master);
    Cancellation cancellation;
    EXPECT_TRUE(lease->BeginRun(&cancellation, 1).ok());
    lease->EndRun();
  };
  run(1, 7);
  run(2, 8);
  { const RendezvousMgr::Lease asked = steps_->Enter(3); }  // who asks for a value does not know whose step it is
  run(3, 7);
  ASSERT_EQ(steps_->size(), 3u);
  steps_->EndAllOf(7, MakeStatus(Code::kAborted, "over"));
  EXPECT_EQ(steps_->size(), 1u);
  EXPECT_FALSE(steps_->Enter(1));
  EXPECT_TRUE(steps_->Enter(2));
  EXPECT_FALSE(steps_->Enter(3));
}

}  // namespace
}  // namespace vigil
