// TensorFlow's own tests of savers and checkpoint managers (saver_test.py, checkpoint_management_test.py), as far as no
// other test has them. docs/upstream_tests.md says which is where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/checkpoint_manager.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/checkpoint/saver_meta_graph.h"
#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/graph/meta_graph.pb.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two variables on two devices: v = 1 and w = 2 at first; `add` makes v one more.
class UpstreamSaverTest : public testing::Test {
 protected:
  UpstreamSaverTest() {
    EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK");
    v_ = Variable("v", 1);
    b_.device = "/job:ps/task:1";
    w_ = Variable("w", 2);
    b_.device.clear();
    add_ = ops::AssignAdd(b_, "add", v_.ref, b_.Const("one", Tensor::Scalar<std::int64_t>(1)));
  }
  ops::Variable Variable(const std::string& name, std::int64_t value) {
    return ops::MakeVariable(b_, name, b_.Const(name + "_0", Tensor::Scalar<std::int64_t>(value)));
  }
  // With every variable at its first value.
  std::unique_ptr<Session> NewSession() {
    std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
    for (const ops::Variable& variable : graph_.Collection(ops::kVariables)) {
      EXPECT_EQ(Text(RunTarget(*session, variable.initializer)), "OK");
    }
    return session;
  }
  SaverPtr Built(SaverOptions options = {}) {
    auto saver = std::make_shared<Saver>(fake_.env(), std::move(options));
    EXPECT_EQ(Text(saver->Build(graph_)), "OK");
    return saver;
  }
  // The value, or the code of the error.
  static std::string Value(Session& session, Output of) {
    const absl::StatusOr<Tensor> value = RunFetch(session, of);
    return value.ok() ? std::to_string(value->scalar<std::int64_t>()) : std::string(CodeName(CodeOf(value.status())));
  }
  // What a session that has nothing but a checkpoint knows: "v=1 w=2".
  std::string Restored(Saver& saver, const std::string& prefix) {
    const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
    EXPECT_EQ(Text(saver.Restore(*session, prefix)), "OK");
    return "v=" + Value(*session, v_.ref) + " w=" + Value(*session, w_.ref);
  }
  std::vector<std::string> Files() { return *fake_.files.List("/d"); }

  fakes::FakeEnv fake_;
  Graph graph_{BuiltinOps()};
  Builder b_{graph_};
  ops::Variable v_, w_;
  Output add_;
};

// SaverTest.testBasicsWithListOfVariables
TEST_F(UpstreamSaverTest, OnlyTheListedVariables) {
  const SaverPtr saver = Built({.variables = {{v_.ref}}});
  EXPECT_EQ(*saver->Save(*NewSession(), "/d/m", 1), "/d/m-1");
  EXPECT_EQ(Restored(*saver, "/d/m-1"), "v=1 w=FAILED_PRECONDITION");
}

// SaverTest.testCacheRereadsFile
TEST_F(UpstreamSaverTest, AFileThatWasWrittenAnewIsReadAnew) {
  const SaverPtr saver = Built();
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_EQ(*saver->Save(*session, "/d/m", std::nullopt), "/d/m");
  EXPECT_EQ(Restored(*saver, "/d/m"), "v=1 w=2");
  EXPECT_EQ(Text(RunTarget(*session, add_.node)), "OK");
  EXPECT_EQ(*saver->Save(*session, "/d/m", std::nullopt), "/d/m");
  EXPECT_EQ(Restored(*saver, "/d/m"), "v=2 w=2");
}

// SaverTest.testDeferredBuild
TEST_F(UpstreamSaverTest, VariablesMadeBeforeTheBuildAreSaved) {
  Saver saver(fake_.env());
  const ops::Variable late = Variable("late", 3);
  EXPECT_FALSE(saver.built());
  ASSERT_EQ(Text(saver.Build(graph_)), "OK");
  EXPECT_TRUE(saver.Save(*NewSession(), "/d/m", 1).ok());
  const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), graph_);
  EXPECT_EQ(Text(saver.Restore(*session, "/d/m-1")), "OK");
  EXPECT_EQ(Value(*session, late.ref), "3");
}

// SaveRestoreWithVariableNameMap.testNonReshape
TEST_F(UpstreamSaverTest, VariablesUnderOtherNames) {
  const SaverPtr mapped = Built({.variables_by_name = {{{"save/v", v_.ref}, {"save/w", w_.ref}}}});
  const SaverPtr plain = Built();
  EXPECT_TRUE(mapped->Save(*NewSession(), "/d/m", 1).ok());
  const std::unique_ptr<Session> session = NewSession();
  EXPECT_THAT(Text(plain->Restore(*session, "/d/m-1")), HasSubstr("not found in checkpoint"));
  EXPECT_EQ(Restored(*mapped, "/d/m-1"), "v=1 w=2");
}

// SaveRestoreShardedTest.testBasics, MaxToKeepTest.testSharded
TEST_F(UpstreamSaverTest, ShardedCheckpointsAreKeptAndFound) {
  const SaverPtr saver = Built({.sharded = true, .max_to_keep = 2});
  const std::unique_ptr<Session> session = NewSession();
  for (int step = 1; step <= 3; ++step) EXPECT_TRUE(saver->Save(*session, "/d/m", step).ok());
  EXPECT_THAT(saver->last_checkpoints(), ElementsAre("/d/m-2", "/d/m-3"));
  EXPECT_THAT(Files(),
              ElementsAre("checkpoint", "m-2.data-00000-of-00002", "m-2.data-00001-of-00002", "m-2.index", "m-2.meta",
                          "m-3.data-00000-of-00002", "m-3.data-00001-of-00002", "m-3.index", "m-3.meta"));
  EXPECT_EQ(*LatestCheckpoint(fake_.env(), "/d"), "/d/m-3");
  EXPECT_EQ(Restored(*saver, "/d/m-2"), "v=1 w=2");
}

// MetaGraphTest.testMultiSaverCollection
TEST_F(UpstreamSaverTest, TwoSaversComeBack) {
  graph_.AddToCollection(kSavers, Built({.variables = {{v_.ref}}, .max_to_keep = 3}));
  graph_.AddToCollection(kSavers, Built({.variables = {{w_.ref}}, .max_to_keep = 4}));
  const auto def = ExportMetaGraphFile(fake_.env(), graph_, {.filename = "/d/two.meta"});
  ASSERT_EQ(Text(def.status()), "OK");
  EXPECT_FALSE(def->has_saver_def()) << "none of them is the one";
  Graph other(BuiltinOps());
  ASSERT_EQ(Text(ImportMetaGraphFile(fake_.env(), "/d/two.meta", other).status()), "OK");
  std::vector<std::optional<std::int64_t>> limits;
  for (const SaverPtr& saver : other.Collection(kSavers)) limits.push_back(saver->options().max_to_keep);
  EXPECT_THAT(limits, ElementsAre(3, 4));
}

// MetaGraphTest.testGraphExtension
TEST_F(UpstreamSaverTest, AnImportedGraphMayGrow) {
  EXPECT_TRUE(Built()->Save(*NewSession(), "/d/m", 1).ok());
  Graph other(BuiltinOps());
  const auto saver = ImportMetaGraphFile(fake_.env(), "/d/m-1.meta", other);
  ASSERT_EQ(Text(saver.status()), "OK");
  Builder b(other);
  const Output ref = *other.FindOutput("v:0");
  const Output sum = b.Op("AddV2", {ref, *other.FindOutput("w:0")}, {.name = "sum"});
  const Output train = ops::AssignAdd(b, "train", ref, sum);
  ASSERT_EQ(Text(b.status()), "OK");
  const std::unique_ptr<Session> session = NewDirectSession(fake_.env(), other);
  ASSERT_EQ(Text((*saver)->Restore(*session, "/d/m-1")), "OK");
  EXPECT_EQ(Value(*session, sum), "3");
  EXPECT_EQ(Value(*session, train), "4");
  EXPECT_EQ(*(*saver)->Save(*session, "/d/m", 2), "/d/m-2");
}

// LatestCheckpointWithRelativePaths.testRelativePath
TEST_F(UpstreamSaverTest, ADirectoryMayBeNamedFromWhereOneIs) {
  ASSERT_EQ(Text(fake_.files.MakeDirectory("train")), "OK");
  const SaverPtr saver = Built();
  EXPECT_EQ(*saver->Save(*NewSession(), "train/m", 1), "train/m-1");
  const auto latest = LatestCheckpoint(fake_.env(), "train");
  ASSERT_EQ(Text(latest.status()), "OK");
  EXPECT_EQ(*latest, "train/m-1");
  EXPECT_EQ(Restored(*saver, **latest), "v=1 w=2");
}

// SaverUtilsTest.testGetCheckpointMtimes, testRemoveCheckpoint
TEST_F(UpstreamSaverTest, TimesAndRemovalOfCheckpoints) {
  for (const bool sharded : {false, true}) {
    const SaverPtr saver = Built({.sharded = sharded});
    const std::unique_ptr<Session> session = NewSession();
    EXPECT_TRUE(saver->Save(*session, "/d/a", std::nullopt).ok());
    fake_.clock.Advance(std::chrono::seconds(2));
    EXPECT_TRUE(saver->Save(*session, "/d/b", std::nullopt).ok());
    const std::vector<Time> times = *GetCheckpointMtimes(fake_.env(), {"/d/a", "/d/none", "/d/b"});
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[1] - times[0], std::chrono::seconds(2));
    for (const char* prefix : {"/d/a", "/d/b"}) {
      EXPECT_TRUE(*CheckpointExists(fake_.env(), prefix));
      EXPECT_EQ(Text(RemoveCheckpoint(fake_.files, prefix)), "OK");
      EXPECT_FALSE(*CheckpointExists(fake_.env(), prefix));
    }
    EXPECT_THAT(Files(), ElementsAre("checkpoint")) << "nothing of them is left";
  }
}

// ---- CheckpointManagerTest

class UpstreamManagerTest : public UpstreamSaverTest {
 protected:
  UpstreamManagerTest() { fake_.clock.Advance(std::chrono::hours(100)); }
  std::unique_ptr<CheckpointManager> New(CheckpointManagerOptions options) {
    options.directory = "/d";
    auto manager = CheckpointManager::Create(fake_.env(), saver_, std::move(options));
    EXPECT_EQ(Text(manager.status()), "OK");
    return *std::move(manager);
  }
  // `hours` after the last one.
  void Save(CheckpointManager& manager, double hours) {
    fake_.clock.Advance(Seconds(3600 * hours));
    EXPECT_EQ(Text(manager.Save(*session_).status()), "OK");
  }
  std::vector<std::string> OnDisk() { return CheckpointsIn(fake_.files, "/d"); }

  const SaverPtr saver_ = Built();
  const std::unique_ptr<Session> session_ = NewSession();
};

// testKeepAll
TEST_F(UpstreamManagerTest, ManagersKeepAllUntilThereIsALimit) {
  auto manager = New({});
  for (int i = 0; i < 3; ++i) Save(*manager, 1);
  EXPECT_THAT(manager->checkpoints(), ElementsAre("/d/ckpt-1", "/d/ckpt-2", "/d/ckpt-3"));
  manager = New({.max_to_keep = 3});
  EXPECT_EQ(OnDisk().size(), 3u) << "nothing is deleted before a save";
  Save(*manager, 1);
  EXPECT_THAT(manager->checkpoints(), ElementsAre("/d/ckpt-2", "/d/ckpt-3", "/d/ckpt-4"));
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-2", "ckpt-3", "ckpt-4"));
}

// testSaveRestoreState
TEST_F(UpstreamManagerTest, WhatIsPreservedSurvivesThreeManagers) {
  auto manager = New({.max_to_keep = 1, .keep_checkpoint_every_n_hours = 1.5});
  Save(*manager, 1);  // 1 h after the start: too early to preserve
  Save(*manager, 1);  // 2 h
  manager = New({.max_to_keep = 1, .keep_checkpoint_every_n_hours = 1.5});
  EXPECT_EQ(manager->latest_checkpoint(), "/d/ckpt-2");
  Save(*manager, 0.5);  // 2.5 h: preserves the one of 2 h
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-2", "ckpt-3"));
  EXPECT_THAT(manager->checkpoints(), ElementsAre("/d/ckpt-3"));
  const auto preserved = (*GetCheckpointState(fake_.env(), "/d"))->last_preserved_timestamp;
  ASSERT_TRUE(preserved.has_value());
  manager = New({.max_to_keep = 1, .keep_checkpoint_every_n_hours = 1.5});
  Save(*manager, 0.5);  // 3 h: the one of 2.5 h is too near to that
  EXPECT_THAT(OnDisk(), ElementsAre("ckpt-2", "ckpt-4"));
  EXPECT_EQ((*GetCheckpointState(fake_.env(), "/d"))->last_preserved_timestamp, preserved);
  EXPECT_EQ((*GetCheckpointState(fake_.env(), "/d"))->all_model_checkpoint_timestamps.size(), 1u);
}

// testCustomNumbering
TEST_F(UpstreamManagerTest, NumbersOfOnesOwn) {
  const auto manager = New({.max_to_keep = 2});
  EXPECT_THAT(manager->checkpoints(), IsEmpty());
  for (const std::int64_t number : {0, 2, 4, 32}) {
    const auto saved = manager->Save(*session_, number);
    ASSERT_EQ(Text(saved.status()), "OK");
    EXPECT_EQ(**saved, "/d/ckpt-" + std::to_string(number));
  }
  EXPECT_THAT(manager->checkpoints(), ElementsAre("/d/ckpt-4", "/d/ckpt-32"));
  EXPECT_THAT(OnDisk(), testing::UnorderedElementsAre("ckpt-4", "ckpt-32"));
}

}  // namespace
}  // namespace vigil
