#include "vigil/core/checkpoint/unfinished_saves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vigil/core/base/code.h"
#include "vigil/core/checkpoint/keeper.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/checkpoint/testing.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class UnfinishedSavesTest : public testing::Test {
 protected:
  UnfinishedSavesTest() { EXPECT_EQ(Text(fake_.files.MakeDirectory("/d")), "OK"); }
  Files& files() { return fake_.files; }
  void Touch(const std::string& path) {
    if (const std::string folder = Dirname(path); folder != "/d") {
      EXPECT_EQ(Text(files().MakeDirectory(folder)), "OK");
    }
    auto file = files().Open(path, OpenMode::kTruncate);
    ASSERT_EQ(Text(file.status()), "OK");
    EXPECT_EQ(Text((*file)->Append("x")), "OK");
  }
  void TimePasses() { fake_.clock.Advance(kAbandonedAfter); }
  bool Has(const std::string& path) { return *Exists(files(), path); }
  std::vector<std::string> Warnings() {
    std::vector<std::string> out;
    for (const auto& line : fake_.log.lines()) {
      if (line.severity == Severity::kWarning) out.push_back(line.text);
    }
    fake_.log.Clear();
    return out;
  }

  fakes::FakeEnv fake_;
};

TEST_F(UnfinishedSavesTest, AreTemporaryNamesOfTheSavePathOnly) {
  for (const char* name :
       {"m-7_temp/part-00000-of-00002.index", "m-00000008_temp/x", "m-7.index.tempstate123",
        "m-7.data-00000-of-00001.tempstate5", "m-7.data-00000-of-00001.tmp", "m-7.meta.tmp", "m-7.meta.tmp3",
        "m-7_temp_00000000000000ff/part-00000-of-00002.index", "m-6.data-00000-of-00001", "checkpoint.tmp12",
        // Not these:
        "m-7.index", "m-7.data-00000-of-00001", "m-7.meta", "m-7", "m-7_temporary", "m-x_temp/x", "m-_temp/x",
        "m_temp/x", "m--7_temp/x", "mm-7_temp/x", "other-7_temp/x", "m-7.index.tempstate", "m-7.index.tempstate5x",
        "m-7tmp", "m-7x.tmp", "m-7_old.tempstate5", "m-99999999999999999999_temp/x", "m-7_temp_/x", "m-7_temp_xyz/x",
        "m-7.meta.tmpx", "checkpoint", "checkpoint_2.tmp", "checkpoint.tmp.old"}) {
    Touch(std::string("/d/") + name);
  }
  std::vector<std::string> found;
  for (const UnfinishedSave& each : FindUnfinishedSaves(files(), "/d/m", "checkpoint")) {
    found.push_back(each.path + " " + std::to_string(each.step));
  }
  EXPECT_THAT(found, ElementsAre("/d/checkpoint.tmp12 0", "/d/m-00000008_temp 8", "/d/m-6.data-00000-of-00001 6",
                                 "/d/m-7.data-00000-of-00001.tempstate5 7", "/d/m-7.data-00000-of-00001.tmp 7",
                                 "/d/m-7.index.tempstate123 7", "/d/m-7.meta.tmp 7", "/d/m-7.meta.tmp3 7",
                                 "/d/m-7_temp 7", "/d/m-7_temp_00000000000000ff 7"));
  EXPECT_THAT(FindUnfinishedSaves(files(), "/nowhere/m"), IsEmpty());
}

TEST_F(UnfinishedSavesTest, AFolderGoesWithItsFiles) {
  Touch("/d/m-7_temp/a");
  Touch("/d/m-7_temp/b");
  EXPECT_EQ(Text(RemoveUnfinishedSave(files(), {"/d/m-7_temp", 7})), "OK");
  EXPECT_FALSE(Has("/d/m-7_temp"));
  EXPECT_EQ(Text(RemoveUnfinishedSave(files(), {"/d/m-7_temp", 7})), "OK") << "gone already";
}

TEST_F(UnfinishedSavesTest, WhatHasAnIndexByNowGoesWithItsCheckpoint) {
  Touch("/d/m-7.data-00000-of-00001");
  const UnfinishedSave data{"/d/m-7.data-00000-of-00001", 7, "/d/m-7.index"};
  Touch("/d/m-7.index");
  EXPECT_EQ(Text(RemoveUnfinishedSave(files(), data)), "OK");
  EXPECT_TRUE(Has("/d/m-7.data-00000-of-00001"));
  EXPECT_EQ(Text(files().Remove("/d/m-7.index")), "OK");
  EXPECT_EQ(Text(RemoveUnfinishedSave(files(), data)), "OK");
  EXPECT_FALSE(Has("/d/m-7.data-00000-of-00001"));
}

// A model that is saved in parts.
class UnfinishedSavesThatAreFoundTest : public UnfinishedSavesTest {
 protected:
  UnfinishedSavesThatAreFoundTest() : graph_(BuiltinOps()) {
    Builder b(graph_);
    const ops::Variable v = ops::MakeVariable(b, "v", b.Const("seven", Tensor::Scalar<std::int64_t>(7)));
    EXPECT_EQ(Text(b.status()), "OK");
    session_ = NewDirectSession(fake_.env(), graph_);
    EXPECT_EQ(Text(RunTarget(*session_, v.initializer)), "OK");
  }
  std::unique_ptr<Saver> NewProcess(const Behaviour& behaviour = Behaviour::Default()) {
    auto saver = std::make_unique<Saver>(fake_.env(), SaverOptions{.sharded = true, .behaviour = behaviour});
    EXPECT_EQ(Text(saver->Build(graph_)), "OK");
    return saver;
  }
  void Save(Saver& saver, int step) { EXPECT_EQ(Text(saver.Save(*session_, "/d/m", step).status()), "OK"); }

  Graph graph_;
  std::unique_ptr<Session> session_;
};

TEST_F(UnfinishedSavesThatAreFoundTest, GoWithTheFirstSaveThatIsAsFar) {
  for (const char* name : {"m-3_temp/part-00000-of-00001.index", "m-5_temp/part.tempstate1", "m-9_temp/part",
                           "m-5.meta.tmp", "other-1_temp/part"}) {
    Touch(std::string("/d/") + name);
  }
  TimePasses();
  const auto saver = NewProcess();
  Save(*saver, 4);
  EXPECT_FALSE(Has("/d/m-3_temp"));
  EXPECT_TRUE(Has("/d/m-5_temp")) << "of a step to come";
  Touch("/d/m-2_temp/part");
  Save(*saver, 5);
  EXPECT_FALSE(Has("/d/m-5_temp")) << "what is in it besides the parts that were merged would keep it";
  EXPECT_FALSE(Has("/d/m-5.meta.tmp"));
  EXPECT_TRUE(Has("/d/m-9_temp"));
  EXPECT_TRUE(Has("/d/m-2_temp")) << "was not there when the process began to save";
  Save(*saver, 10);
  EXPECT_FALSE(Has("/d/m-9_temp"));
  EXPECT_TRUE(Has("/d/other-1_temp"));
  EXPECT_TRUE(Has("/d/m-10.index"));
  TimePasses();
  Save(*NewProcess(), 11);
  EXPECT_FALSE(Has("/d/m-2_temp"));
}

// A process that lives on, as one whose parameter server has died in the middle.
TEST_F(UnfinishedSavesThatAreFoundTest, OfOnesOwnThatHaveFailed) {
  const auto saver = NewProcess();
  Save(*saver, 1);
  fake_.files.set_fault([](fakes::FileOp op, const std::string& path) {
    const bool fails = op == fakes::FileOp::kRename && path.find("/m-2.index") != path.npos;
    return fails ? MakeStatus(Code::kUnavailable, "a server is gone") : absl::OkStatus();
  });
  EXPECT_FALSE(saver->Save(*session_, "/d/m", 2).ok());
  fake_.files.set_fault(nullptr);
  Touch("/d/m-2_temp_00000000000000ff/part");
  Save(*saver, 3);
  EXPECT_TRUE(Has("/d/m-2_temp_00000000000000ff")) << "it may be another's that is at it";
  TimePasses();
  Save(*saver, 4);
  EXPECT_FALSE(Has("/d/m-2_temp_00000000000000ff"));
}

TEST_F(UnfinishedSavesThatAreFoundTest, OfEachPathThatIsSavedTo) {
  Touch("/d/m-3_temp/part");
  Touch("/d/n-3_temp/part");
  TimePasses();
  const auto saver = NewProcess();
  Save(*saver, 9);
  EXPECT_EQ(Text(saver->Save(*session_, "/d/n", 2).status()), "OK");
  EXPECT_TRUE(Has("/d/n-3_temp"));
  EXPECT_EQ(Text(saver->Save(*session_, "/d/n", 3).status()), "OK");
  EXPECT_FALSE(Has("/d/n-3_temp"));
}

TEST_F(UnfinishedSavesThatAreFoundTest, StayWithTensorFlow) {
  Touch("/d/m-3_temp/part");
  TimePasses();
  Behaviour behaviour;
  behaviour.keep_limits = false;
  Save(*NewProcess(behaviour), 4);
  EXPECT_TRUE(Has("/d/m-3_temp"));
}

TEST_F(UnfinishedSavesThatAreFoundTest, WhatCannotBeDeletedIsSaidAndTriedAgain) {
  Touch("/d/m-3_temp/part");
  TimePasses();
  const auto saver = NewProcess();
  const int first = 3;  // before, this save's part and its claim go
  fake_.files.FailOnce(fakes::FileOp::kRemove, first, MakeStatus(Code::kPermissionDenied, "no"));
  fake_.files.FailOnce(fakes::FileOp::kRemove, first + 1, MakeStatus(Code::kPermissionDenied, "no"));
  Save(*saver, 4);
  EXPECT_TRUE(Has("/d/m-3_temp/part"));
  EXPECT_THAT(Warnings(), Contains(HasSubstr("Ignoring: ")));
  Save(*saver, 5);
  EXPECT_FALSE(Has("/d/m-3_temp"));
  EXPECT_THAT(Warnings(), Not(Contains(HasSubstr("Ignoring: "))));
}

TEST_F(UnfinishedSavesThatAreFoundTest, ASaveWithoutAStepTellsNothing) {
  Touch("/d/m-3_temp/part");
  TimePasses();
  const auto saver = NewProcess();
  EXPECT_EQ(Text(saver->Save(*session_, "/d/m", std::nullopt).status()), "OK");
  EXPECT_TRUE(Has("/d/m-3_temp"));
}

// Another process writes there: at first it is slow, then it makes progress.
TEST_F(UnfinishedSavesThatAreFoundTest, WhatALivingWriterHasIsNotTakenFromIt) {
  Touch("/d/m-3_temp_00000000000000aa/part-00000-of-00002.index");
  Touch("/d/m-3.meta.tmp");
  const auto saver = NewProcess();
  fake_.clock.Advance(kAbandonedAfter - std::chrono::seconds(1));
  Save(*saver, 4);
  EXPECT_TRUE(Has("/d/m-3_temp_00000000000000aa"));
  EXPECT_TRUE(Has("/d/m-3.meta.tmp"));
  Touch("/d/m-3_temp_00000000000000aa/part-00001-of-00002.index");
  fake_.clock.Advance(std::chrono::seconds(1));
  Save(*saver, 5);
  EXPECT_TRUE(Has("/d/m-3_temp_00000000000000aa"));
  EXPECT_FALSE(Has("/d/m-3.meta.tmp"));
  TimePasses();
  Save(*saver, 6);
  EXPECT_FALSE(Has("/d/m-3_temp_00000000000000aa"));
}

TEST_F(UnfinishedSavesThatAreFoundTest, DataWithoutAnIndexGoUnlessTheyHaveOneByThen) {
  Touch("/d/m-3.data-00000-of-00001");
  Touch("/d/m-5.data-00000-of-00001");
  TimePasses();
  const auto saver = NewProcess();
  Save(*saver, 3);  // beside what is there
  EXPECT_TRUE(Has("/d/m-3.data-00001-of-00002"));
  Save(*saver, 5);
  EXPECT_TRUE(Has("/d/m-3.data-00000-of-00001")) << "it goes with its checkpoint";
  EXPECT_EQ(Text(RemoveCheckpoint(files(), "/d/m-3")), "OK");
  EXPECT_THAT(FindUnfinishedSaves(files(), "/d/m"), IsEmpty());
  Touch("/d/m-4.data-00000-of-00001");
  TimePasses();
  Save(*NewProcess(), 6);
  EXPECT_FALSE(Has("/d/m-4.data-00000-of-00001"));
  EXPECT_TRUE(Has("/d/m-5.index"));
}

}  // namespace
}  // namespace vigil
