// Saves beside the training: what they write, in which order, how many there are at once, and who waits for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/core/env/notification.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AsyncSavesTest : public testing::Test {
 protected:
  AsyncSavesTest() : graph_(std::make_unique<Graph>(BuiltinOps())) {
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
    Builder b(*graph_);
    v_ = ops::MakeVariable(b, "v", b.Const("zero", Tensor::Scalar<std::int64_t>(0)));
    w_ = ops::MakeVariable(b, "w", b.Const("ones", Tensor::Vector<float>({1, 1, 1})));
    const Output twos = b.Const("twos", Tensor::Vector<float>({2, 2, 2}));
    add_ = ops::AssignAdd(b, "add", v_.ref, b.Const("one", Tensor::Scalar<std::int64_t>(1)));
    updates_ = {ops::AssignAdd(b, "grow", w_.ref, twos), ops::AssignSub(b, "shrink", w_.ref, twos),
                b.Op("ApplyGradientDescent", {w_.ref, b.Const("rate", Tensor::Scalar<float>(0.5F)), twos}),
                ops::Assign(b, "set", w_.ref, twos)};
    init_ = ops::VariablesInitializer(b, "init", graph_->Collection(kGlobalVariables)).node;
    EXPECT_EQ(Text(b.status()), "OK");
    session_ = NewDirectSession(env(), *graph_);
    EXPECT_EQ(Text(RunTarget(*session_, init_)), "OK");
  }
  Env env() { return fake_.env(); }
  SaverPtr Built(SaverOptions options = {}) { return BuiltIn(env(), std::move(options)); }
  SaverPtr BuiltIn(const Env& env, SaverOptions options = {}) {
    auto saver = std::make_shared<Saver>(env, std::move(options));
    EXPECT_EQ(Text(saver->Build(*graph_)), "OK");
    return saver;
  }
  PendingSavePtr Beside(Saver& saver, std::int64_t step) {
    absl::StatusOr<PendingSavePtr> save = saver.SaveBeside(*session_, "/d/m", step);
    EXPECT_EQ(Text(save.status()), "OK");
    return *std::move(save);
  }
  // One step: v is the number of steps so far.
  void Step() { EXPECT_EQ(Text(RunFetch(*session_, add_).status()), "OK"); }
  Tensor Written(const std::string& prefix, const std::string& name) {
    absl::StatusOr<BundleReader> reader = BundleReader::Open(fake_.files, prefix);
    EXPECT_EQ(Text(reader.status()), "OK");
    return *reader->Read(name);
  }
  std::int64_t V(const std::string& prefix) { return Written(prefix, "v").scalar<std::int64_t>(); }
  std::vector<std::string> There() { return CheckpointsIn(fake_.files, "/d"); }
  // Every write waits until Release().
  void Hold() {
    held_ = std::make_unique<Notification>(fake_.tasks, "the disk");
    fake_.files.set_fault([this](fakes::FileOp op, const std::string&) {
      if (op == fakes::FileOp::kAppend) held_->Wait(kNever);
      return absl::OkStatus();
    });
  }
  void Release() { held_->Notify(); }

  fakes::FakeEnv fake_;
  std::unique_ptr<Notification> held_;
  std::unique_ptr<Graph> graph_;
  ops::Variable v_, w_;
  Output add_;
  std::vector<Output> updates_;
  NodeId init_ = kNoNode;
  std::unique_ptr<Session> session_;
};

TEST_F(AsyncSavesTest, WhatIsWrittenIsWhatThereWasWhateverBecomesOfTheVariables) {
  for (const bool sharded : {false, true}) {
    for (const Output update : updates_) {
      ASSERT_EQ(Text(RunTarget(*session_, init_)), "OK");
      const SaverPtr saver = Built({.sharded = sharded});
      // Once with nobody else at the value, so that the next update works in place.
      ASSERT_EQ(Text(RunTarget(*session_, update.node)), "OK");
      const Tensor before = RunFetch(*session_, w_.ref)->Clone();
      const PendingSavePtr save = Beside(*saver, 1);
      EXPECT_FALSE(save->done());
      for (const Output other : updates_) ASSERT_EQ(Text(RunTarget(*session_, other.node)), "OK");
      Step();
      fake_.tasks.RunReady();
      ASSERT_TRUE(save->done());
      EXPECT_EQ(Text(save->status()), "OK");
      EXPECT_EQ(Written("/d/m-1", "w"), before);
      EXPECT_EQ(V("/d/m-1"), 0);
    }
  }
}

TEST_F(AsyncSavesTest, TheFilesComeToBeInTheOrderOfASaveInPlace) {
  std::vector<std::string> calls;
  fake_.files.set_fault([&](fakes::FileOp op, const std::string& path) {
    std::string name = Basename(path);
    name = name.substr(0, std::min(name.find(".tempstate"), name.find(".tmp")));
    calls.push_back(std::string(fakes::FileOpName(op)) + " " + name);
    return absl::OkStatus();
  });
  ASSERT_EQ(Text(Built()->Save(*session_, "/d/m", 1).status()), "OK");
  const std::vector<std::string> in_place = std::exchange(calls, {});
  for (const auto& [path, bytes] : fake_.files.Contents()) ASSERT_EQ(Text(fake_.files.Remove(path)), "OK");
  calls.clear();
  const SaverPtr saver = Built();
  const PendingSavePtr save = Beside(*saver, 1);
  EXPECT_THAT(calls, IsEmpty()) << "the step touches no file";
  saver->WaitForSaves();
  EXPECT_EQ(Text(save->status()), "OK");
  EXPECT_EQ(calls, in_place);
}

TEST_F(AsyncSavesTest, OneIsWrittenOneWaitsAndWhoBringsAThirdWaitsToo) {
  const SaverPtr saver = Built({.max_to_keep = 2});
  Hold();
  const PendingSavePtr first = Beside(*saver, 1);
  fake_.tasks.RunReady();
  Step();
  const PendingSavePtr second = Beside(*saver, 2);
  Step();
  PendingSavePtr third;
  const auto task = fake_.tasks.Spawn("training", [&] { third = Beside(*saver, 3); });
  fake_.tasks.RunReady();
  EXPECT_FALSE(first->done());
  EXPECT_EQ(third, nullptr) << "a third copy of the model was taken";
  EXPECT_THAT(There(), IsEmpty());
  Release();
  ASSERT_TRUE(task->Join(kNever));
  saver->WaitForSaves();
  for (const PendingSavePtr& save : {first, second, third}) EXPECT_TRUE(save->done() && save->status().ok());
  EXPECT_THAT(There(), ElementsAre("m-2", "m-3")) << "as many are kept as shall be";
  EXPECT_EQ(V("/d/m-2"), 1);
  EXPECT_EQ(V("/d/m-3"), 2);
  EXPECT_THAT(saver->last_checkpoints(), ElementsAre("/d/m-2", "/d/m-3"));
  EXPECT_EQ(**LatestCheckpoint(env(), "/d"), "/d/m-3");
}

TEST_F(AsyncSavesTest, WhateverElseIsAskedOfTheSaverWaits) {
  const SaverPtr saver = Built();
  Beside(*saver, 1);
  Step();
  EXPECT_EQ(*saver->Save(*session_, "/d/m", 2), "/d/m-2");
  EXPECT_THAT(saver->last_checkpoints(), ElementsAre("/d/m-1", "/d/m-2"));
  Step();
  Beside(*saver, 3);
  EXPECT_THAT(saver->last_checkpoints(), ElementsAre("/d/m-1", "/d/m-2", "/d/m-3"));
  Beside(*saver, 4);
  Step();
  EXPECT_EQ(Text(saver->Restore(*session_, "/d/m-4")), "OK") << "it was not there yet";
  EXPECT_EQ(RunFetch(*session_, v_.ref)->scalar<std::int64_t>(), 2);
  Beside(*saver, 5);
  EXPECT_EQ(Text(saver->RecoverLastCheckpoints({"/d/m-4", "/d/m-5"})), "OK");
  EXPECT_THAT(saver->last_checkpoints(), ElementsAre("/d/m-4", "/d/m-5"));
}

TEST_F(AsyncSavesTest, AnErrorNamesWhatWasToBeSavedAndStopsNoOther) {
  const SaverPtr saver = Built();
  fake_.files.FailOnce(fakes::FileOp::kRename, 1, MakeStatus(Code::kResourceExhausted, "the disk is full"));
  const PendingSavePtr first = Beside(*saver, 1);
  const PendingSavePtr second = Beside(*saver, 2);
  saver->WaitForSaves();
  EXPECT_THAT(Text(first->status()),
              testing::AllOf(testing::StartsWith("RESOURCE_EXHAUSTED: "), HasSubstr("/d/m-1"), HasSubstr("is full")));
  ASSERT_FALSE(fake_.log.lines().empty());
  EXPECT_EQ(fake_.log.lines().back().severity, Severity::kError);
  EXPECT_THAT(fake_.log.lines().back().text, HasSubstr("/d/m-1"));
  EXPECT_EQ(Text(second->status()), "OK");
  EXPECT_THAT(saver->last_checkpoints(), ElementsAre("/d/m-2"));
}

TEST_F(AsyncSavesTest, WhatHasFailedLeavesRoomForTheNext) {
  const SaverPtr saver = Built();
  std::vector<PendingSavePtr> saves;
  const auto task = fake_.tasks.Spawn("training", [&] {
    for (std::int64_t step = 1; step <= 5; ++step) {
      if (step < 5) fake_.files.FailOnce(fakes::FileOp::kRename, 1, MakeStatus(Code::kResourceExhausted, "full"));
      saves.push_back(Beside(*saver, step));
      fake_.tasks.SleepUntil(DeadlineAfter(env(), std::chrono::seconds(1)));
    }
  });
  const bool ended = task->Join(DeadlineAfter(env(), std::chrono::minutes(1)));
  ASSERT_TRUE(ended) << "after " << saves.size() << " saves";
  saver->WaitForSaves();
  for (std::size_t i = 0; i < saves.size(); ++i) EXPECT_EQ(saves[i]->status().ok(), i == 4) << i;
}

TEST_F(AsyncSavesTest, WhatCannotBeTakenFailsAtOnce) {
  const SaverPtr saver = Built();
  const std::unique_ptr<Session> empty = NewDirectSession(env(), *graph_);
  EXPECT_THAT(Text(saver->SaveBeside(*empty, "/d/m", 1).status()), HasSubstr("uninitialized value"));
  EXPECT_THAT(There(), IsEmpty());
  Saver unshared(env());
  ASSERT_EQ(Text(unshared.Build(*graph_)), "OK");
  EXPECT_THAT(Text(unshared.SaveBeside(*session_, "/d/m", 1).status()), HasSubstr("std::make_shared"));
  const auto unbuilt = std::make_shared<Saver>(env());
  EXPECT_EQ(CodeOf(unbuilt->SaveBeside(*session_, "/d/m", 1).status()), Code::kUsage);
}

TEST_F(AsyncSavesTest, SessionSaverAndGraphMayGoBeforeItIsWritten) {
  SaverPtr saver = Built();
  const PendingSavePtr save = Beside(*saver, 1);
  EXPECT_EQ(Text(session_->Close()), "OK");
  session_ = nullptr;
  saver = nullptr;
  graph_ = nullptr;
  fake_.tasks.RunReady();
  ASSERT_TRUE(save->done());
  EXPECT_EQ(Text(save->status()), "OK");
  EXPECT_EQ(V("/d/m-1"), 0);
  EXPECT_EQ(Text(fake_.files.Stat("/d/m-1.meta").status()), "OK");
}

// The graph holds the saver, and what waits to be written holds the graph: under a sanitizer nothing of it is left.
TEST_F(AsyncSavesTest, AProcessThatIsKilledMeanwhileLeavesNothing) {
  SaverPtr saver = Built();
  graph_->AddToCollection(kSavers, saver);
  Hold();
  Beside(*saver, 1);
  fake_.tasks.RunReady();
  Beside(*saver, 2);
  fake_.tasks.EndAll();
  EXPECT_EQ(saver.use_count(), 2) << "the task keeps it";
  const std::weak_ptr<Saver> left = saver;
  saver = nullptr;
  session_ = nullptr;
  graph_ = nullptr;
  EXPECT_TRUE(left.expired());
}

TEST_F(AsyncSavesTest, WhereNoTaskCanBeStartedTheStepSavesItself) {
  class NoThreads : public ForwardingTasks {
   public:
    using ForwardingTasks::ForwardingTasks;
    std::unique_ptr<Task> Spawn(std::string_view, std::function<void()>) override {
      throw std::runtime_error("no thread is left");
    }
  };
  NoThreads none(fake_.tasks);
  Env poor = env();
  poor.tasks = &none;
  const SaverPtr saver = BuiltIn(poor);
  const PendingSavePtr save = Beside(*saver, 1);
  ASSERT_TRUE(save->done());
  EXPECT_EQ(Text(save->status()), "OK");
  EXPECT_EQ(V("/d/m-1"), 0);
  EXPECT_THAT(fake_.log.lines(), testing::Contains(testing::Field(
                                     &fakes::CapturingLog::Line::text,
                                     testing::AllOf(testing::HasSubstr("no thread is left"),
                                                    testing::HasSubstr("The training waits for the save.")))));
}

TEST_F(AsyncSavesTest, ASaverThatWasFoundInAGraphAndOneWithNothingToSave) {
  const SaverPtr made = Built();
  auto found = Saver::FromDef(env(), *graph_, *made->AsSaverDef());
  ASSERT_EQ(Text(found.status()), "OK");
  const PendingSavePtr save = Beside(**found, 1);
  Step();
  (*found)->WaitForSaves();
  EXPECT_EQ(Text(save->status()), "OK");
  EXPECT_EQ(V("/d/m-1"), 0);
  const SaverPtr nothing = Built({.variables = std::vector<Output>(), .allow_empty = true});
  const PendingSavePtr meta = Beside(*nothing, 2);
  nothing->WaitForSaves();
  EXPECT_EQ(Text(meta->status()), "OK");
  EXPECT_THAT(There(), ElementsAre("m-1"));
  EXPECT_EQ(Text(fake_.files.Stat("/d/m-2.meta").status()), "OK");
}

TEST_F(AsyncSavesTest, ATaskToJoinIsDoneWhenAllIsWritten) {
  const SaverPtr saver = Built();
  const std::shared_ptr<Task> task = saver->SavesBeside("saving");
  EXPECT_TRUE(task->done());
  Hold();
  Beside(*saver, 1);
  EXPECT_FALSE(task->done());
  EXPECT_EQ(task->name(), "saving");
  EXPECT_FALSE(task->Join(fake_.clock.Monotonic() + std::chrono::seconds(1)));
  Release();
  EXPECT_TRUE(task->Join(kNever));
  EXPECT_TRUE(task->done());
}

}  // namespace
}  // namespace vigil
