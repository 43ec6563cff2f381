// CheckpointSaverHook with async_saves: when listeners hear of a save, what becomes of errors, who waits for what is
// being written.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/env/notification.h"
#include "vigil/core/train/hooks/checkpoint_saver_hook.h"
#include "vigil/core/train/hooks/testing.h"
#include "vigil/fakes/status_text.h"

namespace vigil {
namespace {

using fakes::Text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Steps = std::vector<std::int64_t>;

constexpr char kFolder[] = "/checkpoints";

class AsyncSavesHookTest : public HookTest {
 protected:
  class Listener : public CheckpointSaverListener {
   public:
    explicit Listener(AsyncSavesHookTest& test) : test_(test) {}
    absl::Status BeforeSave(Session&, std::int64_t step) override {
      Say("before", step).IgnoreError();
      return test_.before_;
    }
    absl::StatusOr<bool> AfterSave(Session&, std::int64_t step) override {
      Say("after", step).IgnoreError();
      EXPECT_THAT(test_.Saved(), testing::Contains(step));
      EXPECT_EQ(test_.fake_.tasks.CurrentTask(), test_.task_);
      return test_.stop_;
    }
    absl::Status End(Session&, std::int64_t step) override { return Say("end", step); }

   private:
    absl::Status Say(std::string_view what, std::int64_t step) {
      test_.told_.push_back(fmt::format("{} {}", what, step));
      return absl::OkStatus();
    }
    AsyncSavesHookTest& test_;
  };

  AsyncSavesHookTest() {
    EXPECT_TRUE(fake_.files.MakeDirectory(kFolder).ok());
    saver_ = std::make_shared<Saver>(env(), SaverOptions{});
    EXPECT_TRUE(saver_->Build(graph_).ok());
  }
  std::shared_ptr<CheckpointSaverHook> Make(std::int64_t every, bool async = true) {
    auto hook = CheckpointSaverHook::Create(env(), {.checkpoint_dir = kFolder,
                                                    .save_steps = every,
                                                    .saver = saver_,
                                                    .listeners = {std::make_shared<Listener>(*this)},
                                                    .async_saves = async});
    EXPECT_TRUE(hook.ok()) << hook.status();
    return *std::move(hook);
  }
  std::vector<std::string> Told() { return std::exchange(told_, {}); }
  Steps Saved() { return SavedSteps(kFolder); }
  // What is being written stands still until Release().
  void Hold() {
    held_ = std::make_unique<Notification>(fake_.tasks, "the disk");
    fake_.files.set_fault([this](fakes::FileOp op, const std::string& path) {
      if (op == fakes::FileOp::kAppend && path.find("model.ckpt") != path.npos) held_->Wait(kNever);
      return absl::OkStatus();
    });
  }
  void Release() { held_->Notify(); }
  // Fails the next time that the index of that step is to get its name.
  void Fail(std::int64_t step) {
    fake_.files.set_fault([name = fmt::format("model.ckpt-{}.index", step), failed = false](
                              fakes::FileOp op, const std::string& path) mutable {
      if (failed || op != fakes::FileOp::kRename || path.find(name) == path.npos) return absl::OkStatus();
      failed = true;
      return MakeStatus(Code::kResourceExhausted, "the disk is full");
    });
  }

  std::unique_ptr<Notification> held_;
  SaverPtr saver_;
  std::vector<std::string> told_;
  bool stop_ = false;
  absl::Status before_;  // of listeners
  const std::uint64_t task_ = fake_.tasks.CurrentTask();
};

TEST_F(AsyncSavesHookTest, ListenersHearBeforeAtTheStepAndAfterOnceItIsThere) {
  Start(Make(2));
  EXPECT_THAT(Told(), ElementsAre("before 0"));
  EXPECT_THAT(Saved(), IsEmpty());
  fake_.tasks.RunReady();
  EXPECT_THAT(Saved(), ElementsAre(0));
  EXPECT_THAT(Told(), IsEmpty()) << "nobody calls them from another task";
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Told(), ElementsAre("after 0"));
  Hold();
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Told(), ElementsAre("before 2"));
  fake_.tasks.RunReady();
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Told(), IsEmpty()) << "it is not there yet";
  Release();
  fake_.tasks.RunReady();
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Told(), ElementsAre("after 2", "before 4"));
  EXPECT_THAT(Saved(), ElementsAre(0, 2));
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Text(End()), "OK");
  EXPECT_THAT(Told(), ElementsAre("after 4", "before 5", "after 5", "end 5"));
  EXPECT_THAT(Saved(), ElementsAre(0, 2, 4, 5));
}

TEST_F(AsyncSavesHookTest, EndWaitsAlsoWhereItHasNothingToSaveItself) {
  Start(Make(2));
  ASSERT_TRUE(Run().ok());
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Saved(), IsEmpty());
  EXPECT_EQ(Text(End()), "OK");
  EXPECT_THAT(Saved(), ElementsAre(0, 2));
  EXPECT_THAT(Told(), ElementsAre("before 0", "before 2", "after 0", "after 2", "end 2"));
  EXPECT_THAT(Details(HookDetail::kSaved), ElementsAre(0, 2));
  EXPECT_THAT(TakeWriterCalls(), testing::IsSupersetOf({"session_log step=0", "session_log step=2"}));
}

TEST_F(AsyncSavesHookTest, OfTwoOneIsWrittenOneWaitsAndTheThirdMakesTheStepWait) {
  Start(Make(1));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Saved(), IsEmpty());
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Saved(), testing::Contains(0)) << "the step has waited for room";
  EXPECT_EQ(Text(End()), "OK");
  EXPECT_THAT(Saved(), ElementsAre(0, 1, 2));
}

TEST_F(AsyncSavesHookTest, ASaveThatIsNotHandedOverIsOver) {
  Start(Make(1));
  const std::size_t over = Details(HookDetail::kSaved).size();
  before_ = MakeStatus(Code::kInternal, "not now");
  EXPECT_THAT(Text(Run()), HasSubstr("not now"));
  EXPECT_EQ(Details(HookDetail::kSaved).size(), over + 1);
}

TEST_F(AsyncSavesHookTest, AnErrorComesOutOfTheNextRun) {
  Start(Make(2));
  ASSERT_TRUE(Run().ok());
  Fail(2);
  ASSERT_TRUE(Run().ok());
  fake_.tasks.RunReady();
  const absl::Status status = Run();
  EXPECT_THAT(Text(status), testing::AllOf(testing::StartsWith("RESOURCE_EXHAUSTED: "),
                                           HasSubstr("/checkpoints/model.ckpt-2"), HasSubstr("the disk is full")));
  EXPECT_THAT(Told(), ElementsAre("before 0", "before 2", "after 0"));
}

TEST_F(AsyncSavesHookTest, EndSavesAgainWhatHasFailedAndSaysSo) {
  Start(Make(2));
  ASSERT_TRUE(Run().ok());
  Fail(2);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Text(End()), HasSubstr("the disk is full"));
  EXPECT_THAT(Saved(), ElementsAre(0, 2));
  EXPECT_THAT(Told(), ElementsAre("before 0", "before 2", "after 0", "before 2", "after 2"));
}

TEST_F(AsyncSavesHookTest, AnErrorOfAnEarlierStepKeepsEndFromNothing) {
  Start(Make(2));
  ASSERT_TRUE(Run().ok());
  Fail(2);
  ASSERT_TRUE(Run().ok());
  SetStep(6);
  EXPECT_THAT(Text(End()), HasSubstr("model.ckpt-2"));
  EXPECT_THAT(Saved(), ElementsAre(0, 6));
}

TEST_F(AsyncSavesHookTest, AListenersStopIsHeededWhenItIsTold) {
  Start(Make(1));
  stop_ = true;
  ASSERT_TRUE(Run().ok());
  EXPECT_FALSE(should_stop());
  fake_.tasks.RunReady();
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(should_stop());
}

TEST_F(AsyncSavesHookTest, ASessionThatWasGivenUpIsWrittenAndToldOfBeforeTheNext) {
  Start(Make(2));
  fake_.tasks.RunReady();
  ASSERT_TRUE(Run().ok());
  ASSERT_TRUE(Run().ok());
  Told();
  ASSERT_TRUE(NewSession().ok());  // closes the old one
  EXPECT_THAT(Saved(), ElementsAre(0, 2));
  EXPECT_THAT(Told(), ElementsAre("after 2", "before 0"));
  Fail(2);
  ASSERT_TRUE(Run().ok());
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Text(End()), "OK") << "the same values are there already: nothing is written";
  EXPECT_THAT(Told(), ElementsAre("before 2", "after 0", "after 2", "end 2"));
}

TEST_F(AsyncSavesHookTest, AnErrorOfASessionThatWasGivenUpFailsTheNext) {
  Start(Make(2));
  ASSERT_TRUE(Run().ok());
  Fail(2);
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Text(NewSession()), HasSubstr("the disk is full"));
  EXPECT_EQ(Text(NewSession()), "OK") << "once";
}

TEST_F(AsyncSavesHookTest, TheCoordinatorJoinsWhatIsWrittenAndNamesWhatIsStuck) {
  Start(Make(2));
  EXPECT_EQ(Text(coord_->RequestStop()), "OK");
  EXPECT_EQ(Text(coord_->Join({.ignore_live_tasks = true})), "OK");
  EXPECT_THAT(Saved(), ElementsAre(0));
  EXPECT_THAT(coord_->stragglers(), IsEmpty());
  ASSERT_TRUE(NewSession().ok());
  Hold();
  ASSERT_TRUE(Run().ok());
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Text(coord_->RequestStop()), "OK");
  EXPECT_EQ(Text(coord_->Join({.stop_grace_period = std::chrono::seconds(9), .ignore_live_tasks = true})), "OK");
  EXPECT_THAT(coord_->stragglers(), ElementsAre("saving beside the training into /checkpoints/model.ckpt"));
  Release();
  EXPECT_EQ(Text(End()), "OK");
  EXPECT_THAT(Saved(), ElementsAre(0, 2));
}

// Two hooks of one saver, whichever of them writes beside the training: one save of a step, and each one's listeners
// hear of it.
TEST_F(AsyncSavesHookTest, WhatAnotherHookHasHandedOverIsNotSavedAgain) {
  for (const bool second_too : {true, false}) {
    for (const std::int64_t step : Saved()) {
      ASSERT_TRUE(fake_.files.Remove(fmt::format("{}/model.ckpt-{}.index", kFolder, step)).ok());
    }
    const auto first = Make(2);
    const auto second = Make(2, second_too);
    const Env begin_env = env();
    BeginContext context{begin_env, graph_};
    ASSERT_TRUE(first->Begin(context).ok());
    ASSERT_TRUE(Begin(second).ok());
    ASSERT_TRUE(NewSession(false).ok());
    TakeLog();
    Told();
    ASSERT_EQ(Text(first->AfterCreateSession(session_, coord_)), "OK");
    ASSERT_EQ(Text(second->AfterCreateSession(session_, coord_)), "OK");
    ASSERT_EQ(Text(first->End(session_.get())), "OK");
    ASSERT_EQ(Text(second->End(session_.get())), "OK");
    EXPECT_THAT(
        TakeLog(),
        testing::Contains("Step 0 is in /checkpoints already: another hook of this session saved it.").Times(1));
    std::vector<std::string> told = Told();
    std::ranges::sort(told);
    EXPECT_THAT(told, ElementsAre("after 0", "after 0", "before 0", "before 0", "end 0", "end 0"));
  }
}

// What counts is the second attempt, which the first hook makes at its end.
TEST_F(AsyncSavesHookTest, WhatAnotherHookHasSavedAfterAFailureIsNotSavedAgain) {
  const auto first = Make(2);
  const auto second = Make(2);
  const Env begin_env = env();
  BeginContext context{begin_env, graph_};
  ASSERT_TRUE(first->Begin(context).ok());
  ASSERT_TRUE(Begin(second).ok());
  ASSERT_TRUE(NewSession(false).ok());
  Fail(0);
  ASSERT_EQ(Text(first->AfterCreateSession(session_, coord_)), "OK");
  ASSERT_EQ(Text(second->AfterCreateSession(session_, coord_)), "OK");
  TakeLog();
  EXPECT_THAT(Text(first->End(session_.get())), HasSubstr("the disk is full"));
  EXPECT_THAT(TakeLog(), testing::Contains("Saving checkpoints for 0 into /checkpoints/model.ckpt."));
  EXPECT_THAT(Text(second->End(session_.get())), HasSubstr("the disk is full"));
  EXPECT_THAT(TakeLog(), testing::Not(testing::Contains(testing::StartsWith("Saving checkpoints"))));
}

TEST_F(AsyncSavesHookTest, WithoutTheOptionNothingIsBeside) {
  Start(Make(2, false));
  EXPECT_THAT(Told(), ElementsAre("before 0", "after 0"));
  EXPECT_THAT(Saved(), ElementsAre(0));
}

}  // namespace
}  // namespace vigil
