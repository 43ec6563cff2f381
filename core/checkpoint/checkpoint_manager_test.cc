#include "vigil/core/checkpoint/checkpoint_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CheckpointManagerTest : public testing::Test {
 protected:
  CheckpointManagerTest() : graph_(BuiltinOps()), b_(graph_) {
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
    v_ = ops::MakeVariable(b_, "v", b_.Const("zero", Tensor::Scalar<std::int64_t>(0)));
    add_ = ops::AssignAdd(b_, "add", v_.ref, b_.Const("one", Tensor::Scalar<std::int64_t>(1)));
    saver_ = std::make_shared<Saver>(fake_.env());
    EXPECT_EQ(Text(saver_->Build(graph_)), "OK");
    session_ = NewDirectSession(fake_.env(), graph_);
    EXPECT_EQ(Text(RunTarget(*session_, v_.initializer)), "OK");
    fake_.clock.Advance(std::chrono::hours(100));
  }
  std::unique_ptr<CheckpointManager> New(CheckpointManagerOptions options) {
    options.directory = "/d";
    auto manager = CheckpointManager::Create(fake_.env(), saver_, std::move(options));
    EXPECT_EQ(Text(manager.status()), "OK");
    return std::move(manager).value();
  }
  // A minute passes, v grows, a checkpoint is written: its name, "none", or the error.
  std::string Save(CheckpointManager& manager, bool check_interval = true) {
    fake_.clock.Advance(std::chrono::minutes(1));
    EXPECT_TRUE(RunFetch(*session_, add_).ok());
    const auto saved = manager.Save(*session_, {}, check_interval);
    if (!saved.ok()) return Text(saved.status());
    return saved->has_value() ? **saved : "none";
  }
  std::vector<std::string> OnDisk() { return CheckpointsIn(fake_.files, "/d"); }

  fakes::FakeEnv fake_;
  Graph graph_;
  Builder b_;
  ops::Variable v_;
  Output add_;
  SaverPtr saver_;
  std::unique_ptr<Session> session_;
};

TEST_F(CheckpointManagerTest, ChecksItsArguments) {
  const auto refused = [this](CheckpointManagerOptions options) {
    return Text(CheckpointManager::Create(fake_.env(), saver_, std::move(options)).status());
  };
  EXPECT_EQ(refused({.directory = "/d", .max_to_keep = 0}),
            "USAGE: Expected a positive integer or `None` for `max_to_keep`, got 0.");
  EXPECT_EQ(refused({.directory = "/d", .checkpoint_interval = 2}),
            "USAGE: `step_counter` should be passed if `checkpoint_interval` is not None.");
}

TEST_F(CheckpointManagerTest, SweepsAndGoesOnAfterARestartWithALowerLimit) {
  auto manager = New({.max_to_keep = 3});
  EXPECT_THAT(manager->latest_checkpoint(), std::nullopt);
  for (int i = 0; i < 4; ++i) Save(*manager);
  EXPECT_THAT(manager->checkpoints(), ElementsAre("/d/ckpt-2", "/d/ckpt-3", "/d/ckpt-4"));
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-2", "ckpt-3", "ckpt-4"));
  manager = New({.max_to_keep = 1});
  EXPECT_EQ(manager->latest_checkpoint(), "/d/ckpt-4");
  EXPECT_EQ(Save(*manager), "/d/ckpt-5");
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-5"));
}

TEST_F(CheckpointManagerTest, WithoutALimitAllStay) {
  auto manager = New({});
  for (int i = 0; i < 3; ++i) Save(*manager);
  EXPECT_EQ(manager->checkpoints().size(), 3u);
  EXPECT_EQ(New({})->checkpoints().size(), 3u);
}

TEST_F(CheckpointManagerTest, PreservesOneOfEveryPeriodForGood) {
  auto manager = New({.max_to_keep = 1, .keep_checkpoint_every_n_hours = 3.0 / 60});
  for (int i = 0; i < 6; ++i) Save(*manager);
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-3", "ckpt-6"));
  manager = New({.max_to_keep = 1});
  for (int i = 0; i < 2; ++i) Save(*manager);
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-3", "ckpt-8"));
}

TEST_F(CheckpointManagerTest, WhatOthersWroteIsNeverDeleted) {
  ASSERT_TRUE(saver_->Save(*session_, "/d/ckpt", 1, {.write_state = false}).ok());
  auto manager = New({.max_to_keep = 1});
  EXPECT_THAT(manager->checkpoints(), IsEmpty());
  for (int i = 5; i < 8; ++i) ASSERT_TRUE(manager->Save(*session_, i).ok());
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-1", "ckpt-7"));
}

TEST_F(CheckpointManagerTest, AClockThatGoesBackDeletesNothingAndWarns) {
  auto manager = New({.max_to_keep = 5});
  for (int i = 0; i < 2; ++i) Save(*manager);
  auto state = *GetCheckpointState(fake_.env(), "/d");
  state->last_preserved_timestamp = ToSeconds(fake_.clock.Now().since_epoch) + 50;
  ASSERT_EQ(Text(UpdateCheckpointState(fake_.env(), "/d", *state)), "OK");
  manager = New({.max_to_keep = 1});
  EXPECT_THAT(fake_.log.lines().back().text, HasSubstr("50.000000 seconds behind the last preserved checkpoint"));
  EXPECT_THAT(manager->checkpoints(), IsEmpty());
  Save(*manager);
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-1", "ckpt-2", "ckpt-3"));
}

TEST_F(CheckpointManagerTest, SavesByIntervalOfSteps) {
  auto manager = New({.checkpoint_interval = 2, .step_counter = v_.ref});
  EXPECT_EQ(Save(*manager), "/d/ckpt-1");
  EXPECT_EQ(Save(*manager), "none");
  EXPECT_EQ(Save(*manager), "/d/ckpt-2");
  EXPECT_EQ(Save(*manager, false), "/d/ckpt-3");
  const auto again = manager->Save(*session_, {}, false);
  EXPECT_TRUE(again.ok() && !again->has_value());  // the same step
}

TEST_F(CheckpointManagerTest, ASaveThatFailedIsNone) {
  auto manager = New({.checkpoint_interval = 2, .step_counter = v_.ref});
  fake_.files.FailOnce(fakes::FileOp::kRename, 1, MakeStatus(Code::kResourceExhausted, "no space"));
  EXPECT_THAT(Save(*manager), testing::HasSubstr("no space"));
  const auto again = manager->Save(*session_);
  EXPECT_TRUE(again.ok() && again->has_value()) << again.status();
}

TEST_F(CheckpointManagerTest, WhatCouldNotBeDeletedIsDeletedByTheNextSave) {
  auto manager = New({.max_to_keep = 1});
  EXPECT_EQ(Save(*manager), "/d/ckpt-1");
  EXPECT_EQ(Save(*manager), "/d/ckpt-2");
  fake_.files.set_fault([](fakes::FileOp op, const std::string& path) {
    const bool fails = op == fakes::FileOp::kRemove && path == "/d/ckpt-2.index";
    return fails ? MakeStatus(Code::kPermissionDenied, "not yours") : absl::OkStatus();
  });
  for (const char* each : {"/d/ckpt-3", "/d/ckpt-4", "/d/ckpt-5"}) EXPECT_EQ(Save(*manager), each);
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-2", "ckpt-5")) << "the others go all the same";
  EXPECT_THAT(manager->checkpoints(), ElementsAre("/d/ckpt-2", "/d/ckpt-5"));
  fake_.files.set_fault(nullptr);
  EXPECT_EQ(Save(*manager), "/d/ckpt-6");
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-6"));
}

TEST_F(CheckpointManagerTest, RestoresOrInitializes) {
  int called = 0;
  const auto init = [&called](Session&) {
    ++called;
    return absl::OkStatus();
  };
  auto manager = New({.init_fn = init});
  EXPECT_EQ(*manager->RestoreOrInitialize(*session_), std::nullopt);
  EXPECT_EQ(called, 1);
  Save(*manager);
  EXPECT_TRUE(RunFetch(*session_, add_).ok());
  EXPECT_EQ(*New({.init_fn = init})->RestoreOrInitialize(*session_), "/d/ckpt-1");
  EXPECT_EQ(called, 1);
  EXPECT_EQ(RunFetch(*session_, v_.ref)->scalar<std::int64_t>(), 1);
}

TEST_F(CheckpointManagerTest, PreservesNoneEveryZeroHours) {
  auto manager = New({.max_to_keep = 1, .keep_checkpoint_every_n_hours = 0});
  for (int i = 0; i < 3; ++i) Save(*manager);
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-3"));
}

TEST_F(CheckpointManagerTest, WhatIsGoneCannotBeRestored) {
  auto manager = New({});
  Save(*manager);
  ASSERT_EQ(Text(RemoveCheckpoint(fake_.files, "/d/ckpt-1")), "OK");
  EXPECT_EQ(Text(manager->RestoreOrInitialize(*session_).status()),
            "NOT_FOUND: Error when restoring from checkpoint at /d/ckpt-1: there is none.");
}

// As tf.train.Checkpoint's save_counter.
TEST_F(CheckpointManagerTest, NumbersOfACounterCountSavesAndAreRestored) {
  Graph graph(BuiltinOps());
  Builder b(graph);
  const auto counter = MakeSaveCounter(b);
  ASSERT_EQ(Text(counter.status()), "OK");
  const NodeId init = ops::VariablesInitializer(b, "init", {counter->value}).node;
  saver_ = std::make_shared<Saver>(fake_.env());
  ASSERT_EQ(Text(saver_->Build(graph)), "OK");
  session_ = NewDirectSession(fake_.env(), graph);
  ASSERT_EQ(Text(RunTarget(*session_, init)), "OK");
  auto manager = New({.save_counter = *counter});
  EXPECT_EQ(**manager->Save(*session_), "/d/ckpt-1");
  EXPECT_EQ(**manager->Save(*session_, 7), "/d/ckpt-7");
  EXPECT_EQ(**manager->Save(*session_), "/d/ckpt-3");
  session_ = NewDirectSession(fake_.env(), graph);
  ASSERT_EQ(Text(RunTarget(*session_, init)), "OK");
  manager = New({.save_counter = *counter});
  EXPECT_EQ(*manager->RestoreOrInitialize(*session_), "/d/ckpt-3");
  EXPECT_EQ(**manager->Save(*session_), "/d/ckpt-4");
  session_ = NewDirectSession(fake_.env(), graph);
  ASSERT_EQ(Text(RunTarget(*session_, init)), "OK");
  manager = New({.save_counter = *counter});
  EXPECT_EQ(**manager->Save(*session_), "/d/ckpt-1") << "a process that has not restored";
}

TEST_F(CheckpointManagerTest, AnInitFunctionThatThrowsIsAnError) {
  auto manager = New({.init_fn = [](Session&) -> absl::Status { throw std::runtime_error("thrown"); }});
  EXPECT_EQ(Text(manager->RestoreOrInitialize(*session_).status()), "OTHER: thrown");
}

TEST_F(CheckpointManagerTest, AStepThatIsNoIntegerIsAnError) {
  const Output text = b_.Const("text", Tensor::Scalar<std::string>("x"));
  const Output pair = b_.Const("pair", Tensor::Vector<std::int64_t>({1, 2}));
  for (const Output step : {text, pair}) {
    auto manager = New({.checkpoint_interval = 1, .step_counter = step});
    EXPECT_THAT(Save(*manager), HasSubstr("USAGE: A global step must be one integer"));
    auto counted = New({.save_counter = SaveCounter{step, v_.initializer}});
    EXPECT_THAT(Save(*counted), HasSubstr("USAGE: A global step must be one integer"));
  }
}

// Of another program, or damaged in a way that still parses.
TEST_F(CheckpointManagerTest, AnyTimestampIsATime) {
  EXPECT_THAT(Text(CheckpointManager::Create(fake_.env(), saver_,
                                             {.directory = "/d", .keep_checkpoint_every_n_hours = std::nan("")})
                       .status()),
              HasSubstr("USAGE: `keep_checkpoint_every_n_hours` must be a number"));
  for (const char* time : {"nan", "inf", "-inf", "1e300", "-1e300", "-5"}) {
    const std::string state =
        std::string("model_checkpoint_path: \"/d/ckpt-1\"\nall_model_checkpoint_paths: \"/d/ckpt-1\"\n") +
        "all_model_checkpoint_timestamps: " + time + "\nlast_preserved_timestamp: " + time + "\n";
    for (const double hours : {1e300, -1e300, 1.0}) {
      ASSERT_EQ(Text(WriteAtomically(fake_.files, "/d/checkpoint", state)), "OK");
      auto manager = New({.max_to_keep = 1, .keep_checkpoint_every_n_hours = hours});
      for (int i = 0; i < 3; ++i) EXPECT_THAT(Save(*manager), HasSubstr("/d/ckpt-")) << time;
      ASSERT_EQ(Text(WriteAtomically(fake_.files, "/d/checkpoint", state)), "OK");
      Saver saver(fake_.env(), {.max_to_keep = 1, .keep_checkpoint_every_n_hours = hours});
      ASSERT_EQ(Text(saver.Build(graph_)), "OK");
      for (int i = 1; i < 4; ++i) EXPECT_EQ(Text(saver.Save(*session_, "/d/ckpt", i).status()), "OK") << time;
    }
  }
}

TEST_F(CheckpointManagerTest, WhatCannotBeReadIsNotTakenForMissing) {
  auto manager = New({});
  Save(*manager);
  bool initialized = false;
  for (int call = 1; call <= 2; ++call) {
    fake_.files.FailOnce(fakes::FileOp::kStat, call, MakeStatus(Code::kUnknown, "not now"));
    CheckpointManagerOptions options{.directory = "/d", .init_fn = [&](Session&) {
                                       initialized = true;
                                       return absl::OkStatus();
                                     }};
    auto again = CheckpointManager::Create(fake_.env(), saver_, std::move(options));
    const absl::Status status = again.ok() ? (*again)->RestoreOrInitialize(*session_).status() : again.status();
    EXPECT_EQ(Text(status), "UNKNOWN: not now");
  }
  EXPECT_FALSE(initialized);
}

}  // namespace
}  // namespace vigil
