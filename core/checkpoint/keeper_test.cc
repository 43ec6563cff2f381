// What is kept, under both behaviours: keep_limits off is TensorFlow's.
#include "vigil/core/checkpoint/keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/io/tensor_bundle.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Before, a save has taken back its claim.
constexpr int kFirstDeletion = 2;

class KeeperTest : public testing::Test {
 protected:
  KeeperTest() { EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK"); }
  // As a process that begins.
  Keeper New(std::int64_t max_to_keep, bool limits_hold, Duration preserve_every = std::chrono::hours(10000)) {
    Keeper keeper(fake_.env());
    keeper.Start({.max_to_keep = max_to_keep, .preserve_every = preserve_every, .limits_hold = limits_hold});
    return keeper;
  }
  Keeper::Save At(int step) {
    return {.directory = "/d",
            .save_path = "/d/m",
            .state_file = "checkpoint",
            .written = "/d/m-" + std::to_string(step),
            .meta_graph_suffix = "meta"};
  }
  void Write(const std::string& prefix) {
    EXPECT_EQ(Text(WriteBundle(fake_.env(), prefix, {{"v", Tensor::Scalar<float>(1)}})), "OK");
  }
  // A second passes, a checkpoint is written.
  std::string Save(Keeper& keeper, int step) {
    fake_.clock.Advance(std::chrono::seconds(1));
    EXPECT_EQ(Text(keeper.Begin(At(step))), "OK");
    Write(At(step).written);
    keeper.Add(At(step));
    return Text(keeper.Commit(At(step)));
  }
  std::vector<std::string> OnDisk() { return CheckpointsIn(fake_.files, "/d"); }
  std::vector<std::string> Listed() {
    const auto state = GetCheckpointState(fake_.env(), "/d");
    return state.ok() && state->has_value() ? (*state)->all_model_checkpoint_paths : std::vector<std::string>{};
  }

  fakes::FakeEnv fake_;
};

TEST_F(KeeperTest, ALongListShrinksAtOnceOrNever) {
  for (const bool limits_hold : {true, false}) {
    for (int step = 1; step <= 5; ++step) Write(At(step).written);
    Keeper keeper = New(2, limits_hold);
    std::vector<KeptCheckpoint> list;
    for (int step = 1; step <= 5; ++step) list.push_back({At(step).written, fake_.clock.Now()});
    keeper.Set(list);
    EXPECT_EQ(Save(keeper, 6), "OK");
    if (limits_hold) {
      EXPECT_THAT(OnDisk(), ElementsAre("m-5", "m-6"));
      EXPECT_THAT(Listed(), ElementsAre("/d/m-5", "/d/m-6"));
    } else {
      EXPECT_THAT(OnDisk(), ElementsAre("m-2", "m-3", "m-4", "m-5", "m-6"));
    }
  }
}

TEST_F(KeeperTest, ADirectoryThatIsSpelledInTwoWaysIsOne) {
  for (const bool limits_hold : {true, false}) {
    Keeper keeper = New(1, limits_hold);
    Write(At(1).written);
    keeper.Set({{"/d/.//m-1", fake_.clock.Now()}});
    EXPECT_EQ(Save(keeper, 1), "OK");
    EXPECT_THAT(OnDisk(), Contains("m-1")) << "just written";
    EXPECT_EQ(Save(keeper, 2), "OK");
    EXPECT_THAT(OnDisk(), ElementsAre("m-2"));
  }
}

TEST_F(KeeperTest, TheListSaysWhenEachWasWritten) {
  Keeper keeper = New(5, true);
  std::vector<double> when;
  for (int step = 1; step <= 3; ++step) {
    EXPECT_EQ(Save(keeper, step), "OK");
    when.push_back(ToSeconds(fake_.clock.Now().since_epoch));
  }
  const auto state = GetCheckpointState(fake_.env(), "/d");
  ASSERT_TRUE(state.ok() && state->has_value());
  EXPECT_EQ((*state)->all_model_checkpoint_timestamps, when);
}

// As copies of a directory have it, whose files got new times.
TEST_F(KeeperTest, TheListSaysWhichIsTheOldestWhateverTheTimes) {
  Keeper before = New(4, true);
  for (int step = 1; step <= 4; ++step) EXPECT_EQ(Save(before, step), "OK");
  Keeper after = New(4, true);
  const Time now = fake_.clock.Now();
  std::vector<KeptCheckpoint> set;
  for (const int step : {1, 2, 3, 4}) {
    set.push_back({At(step).written, Time{now.since_epoch + std::chrono::seconds(step <= 2 ? step + 10 : step - 2)}});
  }
  after.Set(set);
  EXPECT_EQ(Save(after, 5), "OK");
  EXPECT_THAT(OnDisk(), ElementsAre("m-2", "m-3", "m-4", "m-5"));
  EXPECT_THAT(Listed(), ElementsAre("/d/m-2", "/d/m-3", "/d/m-4", "/d/m-5"));
}

TEST_F(KeeperTest, ARestartThatRestoresNothingKnowsOrForgets) {
  for (const bool limits_hold : {true, false}) {
    Keeper before = New(3, limits_hold);
    for (int step = 1; step <= 3; ++step) Save(before, step);
    Keeper after = New(2, limits_hold);
    Save(after, 4);
    if (limits_hold) {
      EXPECT_THAT(OnDisk(), ElementsAre("m-3", "m-4"));
    } else {
      EXPECT_THAT(OnDisk(), ElementsAre("m-1", "m-2", "m-3", "m-4"));
      EXPECT_THAT(Listed(), ElementsAre("/d/m-4"));
    }
    for (int step = 1; step <= 4; ++step) EXPECT_EQ(Text(RemoveCheckpoint(fake_.files, At(step).written)), "OK");
    EXPECT_EQ(Text(fake_.files.Remove("/d/checkpoint")), "OK");
  }
}

// Only what has no index is half deleted; of what cannot be looked at nobody knows.
TEST_F(KeeperTest, WhatCannotBeLookedAtIsNotDeleted) {
  Keeper before = New(3, true);
  for (int step = 1; step <= 3; ++step) Save(before, step);
  Keeper after = New(3, true);
  fake_.files.set_fault([](fakes::FileOp op, const std::string& path) {
    const bool looks = op == fakes::FileOp::kStat && path == "/d/m-2.index";
    return looks ? MakeStatus(Code::kUnknown, "the disk does not answer") : absl::OkStatus();
  });
  EXPECT_EQ(Text(after.Begin(At(4))), "UNKNOWN: the disk does not answer");
  fake_.files.set_fault(nullptr);
  EXPECT_EQ(Save(after, 4), "OK");
  EXPECT_THAT(OnDisk(), ElementsAre("m-2", "m-3", "m-4"));
}

TEST_F(KeeperTest, OnlyCheckpointsOfTheSamePathAreTakenOver) {
  for (const char* foreign : {"/d/other-1", "/d/m-best", "/d/m-1-of"}) Write(foreign);
  Write("/d/m-1");
  ASSERT_EQ(Text(UpdateCheckpointState(
                fake_.env(), "/d",
                {.model_checkpoint_path = "/d/m-1",
                 .all_model_checkpoint_paths = {"/d/other-1", "/d/m-best", "/d/m-1-of", "/d/m-gone", "/d/m-1"}})),
            "OK");
  Keeper keeper = New(1, true);
  Save(keeper, 2);
  EXPECT_THAT(OnDisk(), ElementsAre("m-1-of", "m-2", "m-best", "other-1"));
}

TEST_F(KeeperTest, AListThatWasSetIsNotAddedTo) {
  Keeper before = New(3, true);
  for (int step = 1; step <= 3; ++step) Save(before, step);
  Keeper after = New(1, true);
  after.Set({});
  Save(after, 4);
  EXPECT_THAT(OnDisk(), ElementsAre("m-1", "m-2", "m-3", "m-4"));
}

TEST_F(KeeperTest, OneOfEveryPeriodIsPreserved) {
  for (const bool limits_hold : {true, false}) {
    Keeper keeper = New(1, limits_hold, std::chrono::seconds(3));
    // Written 1, 2, ... seconds after the start: 4 is the first after 3, 7 the first after 6.
    for (int step = 1; step <= 9; ++step) Save(keeper, step);
    EXPECT_THAT(OnDisk(), ElementsAre("m-4", "m-7", "m-9")) << limits_hold;
    for (const int step : {4, 7, 9}) EXPECT_EQ(Text(RemoveCheckpoint(fake_.files, At(step).written)), "OK");
    EXPECT_EQ(Text(fake_.files.Remove("/d/checkpoint")), "OK");
  }
}

TEST_F(KeeperTest, ThePeriodGoesOnAfterARestart) {
  for (const bool limits_hold : {true, false}) {
    for (int step = 1; step <= 8; ++step) {
      Keeper keeper = New(1, limits_hold, std::chrono::seconds(4));  // a new process for every save
      if (!limits_hold && step > 1) keeper.Set({{At(step - 1).written, fake_.clock.Now()}});
      Save(keeper, step);
    }
    if (limits_hold) {
      EXPECT_THAT(OnDisk(), ElementsAre("m-5", "m-8"));
    } else {
      EXPECT_THAT(OnDisk(), ElementsAre("m-8"));  // no process lived long enough
    }
    for (int step = 1; step <= 8; ++step) EXPECT_EQ(Text(RemoveCheckpoint(fake_.files, At(step).written)), "OK");
    EXPECT_EQ(Text(fake_.files.Remove("/d/checkpoint")), "OK");
  }
}

TEST_F(KeeperTest, WhatCannotBeDeletedIsTriedAgainOrLeft) {
  for (const bool limits_hold : {true, false}) {
    Keeper keeper = New(1, limits_hold);
    Save(keeper, 1);
    fake_.files.FailOnce(fakes::FileOp::kRemove, kFirstDeletion, MakeStatus(Code::kPermissionDenied, "not now"));
    EXPECT_EQ(Save(keeper, 2), "OK");
    EXPECT_THAT(fake_.log.lines().back().text, HasSubstr("Ignoring: not now"));
    if (limits_hold) {
      EXPECT_THAT(Listed(), ElementsAre("/d/m-1", "/d/m-2"));
    }
    Save(keeper, 3);
    EXPECT_EQ(OnDisk(), limits_hold ? std::vector<std::string>({"m-3"}) : std::vector<std::string>({"m-1", "m-3"}));
    Write("/d/m-1");
    EXPECT_EQ(Text(RemoveCheckpoint(fake_.files, "/d/m-1")), "OK");
    EXPECT_EQ(Text(RemoveCheckpoint(fake_.files, "/d/m-3")), "OK");
    EXPECT_EQ(Text(fake_.files.Remove("/d/checkpoint")), "OK");
  }
}

// Or the power cut that undoes the removal of the index leaves the one of the data.
TEST_F(KeeperTest, AnIndexIsGoneForGoodBeforeItsDataGoes) {
  for (const bool synced : {true, false}) {
    Write("/d/m-1");
    std::vector<std::string> done;
    fake_.files.set_fault([&](fakes::FileOp op, const std::string& path) {
      if (op == fakes::FileOp::kRemove || op == fakes::FileOp::kSync) done.push_back(path);
      return absl::OkStatus();
    });
    EXPECT_EQ(Text(RemoveCheckpoint(fake_.files, "/d/m-1", synced)), "OK");
    fake_.files.set_fault(nullptr);
    const auto index = std::ranges::find(done, "/d/m-1.index");
    ASSERT_NE(index, done.end());
    EXPECT_EQ(*(index + 1) == "/d", synced);
    EXPECT_THAT(done.back(), HasSubstr("/d/m-1.data-"));
  }
}

// The end of the process just before each of the removals: the next one deletes what is left.
TEST_F(KeeperTest, ACrashWhileDeletingLeavesNothingForEver) {
  for (const int call : {kFirstDeletion, kFirstDeletion + 1}) {
    Keeper before = New(2, true);
    for (int step = 1; step <= 2; ++step) Save(before, step);
    bool dead = false;
    int left = call;
    fake_.files.set_fault([&](fakes::FileOp op, const std::string&) {
      if (op == fakes::FileOp::kRemove && --left == 0) dead = true;
      return dead ? MakeStatus(Code::kUnavailable, "the process is dead") : absl::OkStatus();
    });
    Save(before, 3);
    EXPECT_TRUE(dead);
    fake_.files.set_fault(nullptr);
    Keeper after = New(2, true);
    Save(after, 4);
    EXPECT_THAT(OnDisk(), ElementsAre("m-3", "m-4")) << call;
    const std::vector<std::string> names = *fake_.files.List("/d");
    EXPECT_EQ(names.size(), 5u) << call;  // no data without an index
    for (const std::string& name : names) EXPECT_EQ(Text(fake_.files.Remove("/d/" + name)), "OK");
  }
}

TEST_F(KeeperTest, SetToTheEndOfTimeTheyAreNeverDeleted) {
  for (const bool limits_hold : {true, false}) {
    Keeper keeper = New(1, limits_hold);
    Write("/d/m-1");
    keeper.Set({{"/d/m-1", kNever}});
    Save(keeper, 2);
    Save(keeper, 3);
    EXPECT_THAT(OnDisk(), ElementsAre("m-1", "m-3")) << limits_hold;
    EXPECT_EQ(Text(RemoveCheckpoint(fake_.files, "/d/m-3")), "OK");
    EXPECT_EQ(Text(fake_.files.Remove("/d/checkpoint")), "OK");
  }
}

TEST_F(KeeperTest, WithoutALimitOnlyTheNewestIsListed) {
  Keeper keeper = New(0, true);
  for (int step = 1; step <= 3; ++step) EXPECT_EQ(Save(keeper, step), "OK");
  EXPECT_THAT(keeper.paths(), IsEmpty());
  EXPECT_THAT(Listed(), ElementsAre("/d/m-3"));
  EXPECT_THAT(OnDisk(), ElementsAre("m-1", "m-2", "m-3"));
}

TEST(PreserveEveryTest, IsSinglePrecisionAndFitsATime) {
  EXPECT_EQ(PreserveEvery(2), std::chrono::hours(2));
  EXPECT_NE(PreserveEvery(0.1), std::chrono::minutes(6));  // 0.1 is not a float
  EXPECT_EQ(PreserveEvery(1e30), Seconds(7e9));
  EXPECT_EQ(PreserveEvery(-1e30), Seconds(-7e9));
}

// TensorFlow has two lists, of which only the one is set.
TEST_F(KeeperTest, AsTensorFlowDoesItWhatWasTooManyStaysSoWhateverIsSet) {
  Keeper keeper = New(1, false);
  EXPECT_EQ(Save(keeper, 1), "OK");
  Write("/d/m-2");
  keeper.Add(At(2));
  keeper.Set({{"/d/m-1", kNever}, {"/d/m-2", kNever}});
  EXPECT_EQ(Text(keeper.Commit(At(2))), "OK");
  EXPECT_THAT(keeper.paths(), ElementsAre("/d/m-1", "/d/m-2"));
  EXPECT_THAT(OnDisk(), ElementsAre("m-2"));
}

// What a trace tells of them.
TEST_F(KeeperTest, TheListIsToldWithEachSaveToWhoListens) {
  Keeper keeper = New(2, true);
  for (int step = 1; step <= 3; ++step) EXPECT_EQ(Save(keeper, step), "OK");
  std::vector<Event> lists;
  for (const Event& each : fake_.events.events()) {
    const bool is_list = each.call == static_cast<std::uint8_t>(SaverDetail::kLists);
    if (each.kind == EventKind::kSaverDetail && is_list) lists.push_back(each);
  }
  ASSERT_GE(lists.size(), 3u);
  EXPECT_EQ(lists.front().subject, "/d/m-1\n");
  EXPECT_EQ(lists.back().subject, "/d/m-2\n/d/m-3\n");
  EXPECT_EQ(lists.back().index, 2);
  EXPECT_EQ(lists.back().value, 2);
  Env deaf = fake_.env();
  deaf.events = nullptr;
  Keeper untold(deaf);
  untold.Start({.max_to_keep = 2, .preserve_every = std::chrono::hours(1), .limits_hold = true});
  EXPECT_EQ(Save(untold, 4), "OK");
}

// What was too many for the process before, or could not be deleted, is recovered: it is not deleted behind the
// caller's back.
TEST_F(KeeperTest, WhatIsSetIsNotTooManyAnyMore) {
  Keeper keeper = New(1, true);
  EXPECT_EQ(Save(keeper, 1), "OK");
  fake_.files.FailOnce(fakes::FileOp::kRemove, kFirstDeletion, MakeStatus(Code::kPermissionDenied, "no"));
  EXPECT_EQ(Save(keeper, 2), "OK");
  EXPECT_THAT(OnDisk(), ElementsAre("m-1", "m-2"));
  keeper.Set({{"/d/m-1", kNever}});
  EXPECT_THAT(keeper.paths(), ElementsAre("/d/m-1"));
  EXPECT_EQ(Save(keeper, 3), "OK");
  EXPECT_THAT(OnDisk(), testing::Contains("m-1")) << "written at the end of time: never deleted";
}

}  // namespace
}  // namespace vigil
