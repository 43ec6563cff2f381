// What survives the loss of power: the rules of sim/disk.h, on a disk of one's own and on the shared one.
#include "vigil/sim/disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/fakes/manual_clock.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/sim/alarm.h"
#include "vigil/sim/world.h"

namespace vigil::sim {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

void Write(Files& files, const std::string& path, OpenMode mode, std::string_view data, bool sync) {
  const auto file = files.Open(path, mode);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE((*file)->Append(data).ok());
  if (sync) {
    ASSERT_TRUE((*file)->Sync().ok());
  }
  ASSERT_TRUE((*file)->Close().ok());
}

class DiskTest : public testing::Test {
 protected:
  DiskTest() { EXPECT_TRUE(files_.MakeDirectory("/d").ok()); }
  std::int64_t Cut(const Disk::Draw& torn = nullptr) { return disk_.Cut(torn).value(); }

  fakes::ManualClock clock_;
  fakes::MemoryFiles files_{clock_};
  Disk disk_{files_};
};

TEST_F(DiskTest, WhatWasSyncedStays) {
  Write(disk_, "/d/synced", OpenMode::kNew, "abc", true);
  Write(disk_, "/d/synced", OpenMode::kAppend, "def", false);
  Write(disk_, "/d/unsynced", OpenMode::kNew, "abc", false);
  EXPECT_EQ(Cut(), 3);  // two contents, a name
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/synced", "abc")));
  EXPECT_EQ(Cut(), 0);
}

TEST_F(DiskTest, AnotherSyncDoesNotMakeGoodWhatAFailedOneLost) {
  const auto file = disk_.Open("/d/log", OpenMode::kNew).value();
  EXPECT_TRUE(file->Append("abc").ok());
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_TRUE(file->Append("def").ok());
  disk_.SyncHasFailed(*file);
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_TRUE(file->Append("ghi").ok());
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_EQ(Cut(), 1);
  EXPECT_EQ(ReadAll(files_, "/d/log").value(), "abc");
  Write(disk_, "/d/log", OpenMode::kTruncate, "new", true);
  EXPECT_EQ(Cut(), 0);
  EXPECT_EQ(ReadAll(files_, "/d/log").value(), "new");
}

// As fsync does it, whatever the descriptor is for; the name is its directory's.
TEST_F(DiskTest, WhoMayOnlyReadMaySyncToo) {
  Write(disk_, "/d/x", OpenMode::kNew, "abc", false);
  Write(disk_, "/d/y", OpenMode::kNew, "abc", false);
  ASSERT_TRUE(disk_.SyncDirectory("/d").ok());
  ASSERT_TRUE((*disk_.Open("/d/x", OpenMode::kRead))->Sync().ok());
  Write(disk_, "/d/z", OpenMode::kNew, "abc", false);
  ASSERT_TRUE((*disk_.Open("/d/z", OpenMode::kRead))->Sync().ok());
  Cut();
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/x", "abc"), Pair("/d/y", "")));
}

TEST_F(DiskTest, ARenameIsDurableWithItsDirectoryButNotTheContents) {
  Write(disk_, "/d/x.tmp", OpenMode::kNew, "abc", false);
  ASSERT_TRUE(disk_.Rename("/d/x.tmp", "/d/x").ok());
  ASSERT_TRUE(disk_.SyncDirectory("/d").ok());
  Cut();
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/x", "")));
}

TEST_F(DiskTest, ARenameIsUndoneUntilThen) {
  Write(disk_, "/d/x", OpenMode::kNew, "old", true);
  Write(disk_, "/d/moved", OpenMode::kNew, "moved", true);
  Write(disk_, "/d/x.tmp", OpenMode::kTemporary, "new", true);
  Write(disk_, "/d/y.tmp", OpenMode::kTemporary, "new", true);
  ASSERT_TRUE(disk_.Rename("/d/x.tmp", "/d/x").ok());
  ASSERT_TRUE(disk_.Rename("/d/y.tmp", "/d/y").ok());
  ASSERT_TRUE(disk_.Rename("/d/moved", "/d/z").ok());
  Cut();
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/moved", "moved"), Pair("/d/x", "old")));
}

TEST_F(DiskTest, ASyncMakesAllNamesOfTheDirectoryDurable) {
  ASSERT_TRUE(disk_.MakeDirectory("/d/e/f").ok());
  for (const char* above : {"/d", "/d/e"}) ASSERT_TRUE(disk_.SyncDirectory(above).ok());
  Write(disk_, "/d/e/f/other", OpenMode::kNew, "", false);
  Write(disk_, "/d/elsewhere", OpenMode::kNew, "", false);
  Write(disk_, "/d/e/f/x.tmp", OpenMode::kNew, "abc", true);
  ASSERT_TRUE(disk_.Rename("/d/e/f/x.tmp", "/d//e/./f/x").ok());
  ASSERT_TRUE(disk_.SyncDirectory("/d//e/./f/").ok());
  Cut();
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/e/f/other", ""), Pair("/d/e/f/x", "abc")));
}

TEST_F(DiskTest, NewDirectoriesGoWithAllThatIsInThemUntilTheOneAboveIsSynced) {
  ASSERT_TRUE(disk_.MakeDirectory("/d/kept").ok());
  ASSERT_TRUE(disk_.SyncDirectory("/d").ok());
  ASSERT_TRUE(disk_.MakeDirectory("/d/lost/below").ok());
  Write(disk_, "/d/kept/x", OpenMode::kNew, "abc", true);
  Write(disk_, "/d/lost/below/x", OpenMode::kNew, "abc", true);
  Cut();
  EXPECT_FALSE(*Exists(files_, "/d/lost"));
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/kept/x", "abc")));
}

TEST_F(DiskTest, WhatWasRemovedOrEmptiedIsBack) {
  Write(disk_, "/d/removed", OpenMode::kNew, "abc", true);
  Write(disk_, "/d/removed", OpenMode::kAppend, "lost", false);
  Write(disk_, "/d/emptied", OpenMode::kNew, "abc", true);
  Write(disk_, "/d/again", OpenMode::kNew, "old", true);
  Write(disk_, "/d/never", OpenMode::kNew, "abc", false);
  ASSERT_TRUE(disk_.Remove("/d/removed").ok());
  ASSERT_TRUE(disk_.Remove("/d/never").ok());
  ASSERT_TRUE(disk_.Remove("/d/again").ok());
  Write(disk_, "/d/again", OpenMode::kNew, "new", false);
  Write(disk_, "/d/emptied", OpenMode::kTruncate, "new", false);
  Cut();
  EXPECT_THAT(files_.Contents(),
              ElementsAre(Pair("/d/again", "old"), Pair("/d/emptied", "abc"), Pair("/d/removed", "abc")));
}

TEST_F(DiskTest, ASyncEndsWhatWasBefore) {
  Write(disk_, "/d/x", OpenMode::kNew, "old and long", true);
  Write(disk_, "/d/x", OpenMode::kTruncate, "new", true);
  EXPECT_EQ(Cut(), 0);
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/x", "new")));
}

TEST_F(DiskTest, ARemovalIsDurableWithItsDirectory) {
  Write(disk_, "/d/removed", OpenMode::kNew, "abc", true);
  ASSERT_TRUE(disk_.Remove("/d/removed").ok());
  Write(disk_, "/d/x", OpenMode::kNew, "", true);
  Cut();
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/x", "")));
}

TEST_F(DiskTest, ADirectoryMovesWithWhatIsInIt) {
  ASSERT_TRUE(disk_.MakeDirectory("/d/a").ok());
  Write(disk_, "/d/a/synced", OpenMode::kNew, "abc", true);
  Write(disk_, "/d/a/x", OpenMode::kNew, "abc", false);
  ASSERT_TRUE(disk_.Rename("/d/a", "/d/b").ok());
  Cut();
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/b/synced", "abc")));
}

TEST_F(DiskTest, TornWritesKeepABeginning) {
  Write(disk_, "/d/x", OpenMode::kNew, "abcd", true);
  Write(disk_, "/d/x", OpenMode::kAppend, "efghijkl", false);
  Write(disk_, "/d/new", OpenMode::kNew, "", false);
  std::vector<std::string> asked;
  Cut([&](std::span<const std::string_view> labels) {
    asked.emplace_back(labels[1]);
    return std::size_t{1};
  });
  EXPECT_THAT(asked, ElementsAre("1/4", "done"));
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/new", ""), Pair("/d/x", "abcdef")));
}

TEST_F(DiskTest, EachUndoesItsOwnOnSharedFiles) {
  DiskJournal journal;
  Disk one(files_, &journal);
  Disk two(files_, &journal);
  Write(one, "/d/one", OpenMode::kNew, "abc", false);
  Write(two, "/d/two", OpenMode::kNew, "abc", false);
  EXPECT_EQ(one.Cut().value(), 2);
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/two", "abc")));
  Write(one, "/d/one", OpenMode::kNew, "abc", true);  // with its directory
  EXPECT_EQ(two.Cut().value(), 1);
  EXPECT_THAT(files_.Contents(), ElementsAre(Pair("/d/one", "abc"), Pair("/d/two", "")));
}

TEST(NodeFiles, OneFileSystemIsShared) {
  World world({});
  Node& a = world.AddNode("a");
  Node& b = world.AddNode("b");
  a.Spawn("main", [&] {
    Write(*a.env().files, "/shared/x", OpenMode::kNew, "from a", true);
    Write(*a.env().files, "/own", OpenMode::kNew, "of a", false);
    Write(*a.env().files, "/sharedness", OpenMode::kNew, "of a", true);
    EXPECT_EQ(CodeOf(a.env().files->Rename("/own", "/shared/own")), Code::kUnknown);
    world.AdvanceBy(seconds(2));
  });
  b.Spawn("main", [&] {
    world.AdvanceBy(seconds(1));
    EXPECT_EQ(ReadAll(*b.env().files, "/shared/x").value(), "from a");
    EXPECT_FALSE(*Exists(*b.env().files, "/own"));
    Write(*b.env().files, "/shared/x", OpenMode::kAppend, " and b", false);
    EXPECT_EQ(b.env().files->List("/shared").value(), std::vector<std::string>{"x"});
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(a.disk().Contents(), ElementsAre(Pair("/own", "of a"), Pair("/sharedness", "of a")));
  EXPECT_THAT(world.shared_disk().files.Contents(), ElementsAre(Pair("/shared/x", "from a and b")));
  EXPECT_EQ(a.LoseDisk(DiskLoss::kUnsynced), 1);
  EXPECT_THAT(a.disk().Contents(), ElementsAre(Pair("/own", ""), Pair("/sharedness", "of a")));
  EXPECT_EQ(b.LoseDisk(DiskLoss::kUnsynced), 1);
  EXPECT_THAT(world.shared_disk().files.Contents(), ElementsAre(Pair("/shared/x", "from a")));
  EXPECT_EQ(a.LoseDisk(DiskLoss::kAll), 2);
  EXPECT_THAT(a.disk().Contents(), IsEmpty());
  EXPECT_THAT(world.shared_disk().files.Contents(), ElementsAre(Pair("/shared/x", "from a")));
}

TEST(NodeFiles, OperationsTakeTimeAndACrashMayFallIntoOne) {
  World world({});
  Node& node = world.AddNode("a");
  node.set_disk_time(seconds(1));
  const Time start = world.now();
  node.Spawn("main", [&] {
    const Env& env = node.env();
    const auto file = env.files->Open("/f", OpenMode::kNew).value();
    EXPECT_EQ(world.now() - start, seconds(1));
    ASSERT_TRUE(file->Append("abc").ok());
    ASSERT_TRUE(file->Append(std::string(2 * 4096, 'x')).ok());
    EXPECT_EQ(world.now() - start, seconds(5));
    (void)file->Append("never");
    ADD_FAILURE() << "the process was killed before that was over";
  });
  world.AddNode("b").Spawn("kills", [&] {
    world.AdvanceBy(std::chrono::milliseconds(5500));
    node.Kill();
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_EQ(node.disk().Contents().at("/f").size(), 3u + 2 * 4096);
}

TEST(NodeFiles, FaultsStrikeTheOperationsTheyAreAbout) {
  World world({});
  Node& node = world.AddNode("chief:0");
  using Effect = DiskFault::Effect;
  DiskFaultState& space = world.disk_faults().Add(
      {.effect = Effect::kNoSpace, .task = "chief:0", .op = "append", .path = "model", .call = 2});
  DiskFaultState& slow = world.disk_faults().Add({.effect = Effect::kSlow, .op = "sync", .call = 0, .by = seconds(3)});
  DiskFaultState& other = world.disk_faults().Add({.effect = Effect::kIoError, .task = "ps:0", .call = 0});
  DiskFaultState& error = world.disk_faults().Add({.effect = Effect::kIoError, .op = "rename"});
  node.Spawn("main", [&] {
    Files& files = *node.env().files;
    const auto file = files.Open("/model", OpenMode::kNew).value();
    EXPECT_TRUE(file->Append("a").ok());
    EXPECT_EQ(CodeOf(file->Append("b")), Code::kResourceExhausted);
    EXPECT_TRUE(file->Append("c").ok());
    EXPECT_TRUE(file->Sync().ok());
    EXPECT_EQ(world.scheduler().now(), seconds(3));
    EXPECT_EQ(CodeOf(files.Rename("/model", "/shared/model")), Code::kUnknown);
    EXPECT_EQ(CodeOf(files.Rename("/model", "/renamed")), Code::kOk);
    world.disk_faults().Clear();
    EXPECT_TRUE(file->Sync().ok());
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_EQ(world.scheduler().now(), seconds(3));
  EXPECT_THAT(node.disk().Contents(), ElementsAre(Pair("/renamed", "ac")));
  EXPECT_EQ(space.matched, 3);
  EXPECT_EQ(space.effective, 1);
  EXPECT_EQ(slow.effective, 1);
  EXPECT_EQ(other.matched, 0);
  EXPECT_EQ(error.effective, 1);
}

TEST(NodeFiles, WhatHasFailedMayBeDoneInPart) {
  ReplayChooser chooser(ChoiceMap{{"n/disk/written", {"half"}}});
  World world({.chooser = &chooser});
  Node& node = world.AddNode("n");
  using Effect = DiskFault::Effect;
  world.disk_faults().Add({.effect = Effect::kNoSpace, .op = "append", .call = 2});
  world.disk_faults().Add({.effect = Effect::kIoError, .op = "sync", .call = 2});
  node.Spawn("main", [&] {
    const auto file = node.env().files->Open("/log", OpenMode::kNew).value();
    EXPECT_TRUE(file->Append("ab").ok());
    EXPECT_TRUE(file->Sync().ok());
    EXPECT_EQ(CodeOf(file->Append("cdef")), Code::kResourceExhausted);
    EXPECT_EQ(CodeOf(file->Sync()), Code::kUnknown);
    EXPECT_TRUE(file->Sync().ok());
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(node.disk().Contents(), ElementsAre(Pair("/log", "abcd")));
  node.LoseDisk(DiskLoss::kUnsynced);
  EXPECT_THAT(node.disk().Contents(), ElementsAre(Pair("/log", "ab")));
}

// One bit of the file that is read has flipped, in the store, for all who read it from then on; its times stay.
TEST(NodeFiles, ABitFlipsAndStaysSo) {
  World world({});
  Node& a = world.AddNode("a");
  Node& b = world.AddNode("b");
  DiskFaultState& rot = world.disk_faults().Add(
      {.effect = DiskFault::Effect::kBitRot, .task = "a", .op = "read", .path = "/shared/x", .call = 2});
  DiskFaultState& nothing =
      world.disk_faults().Add({.effect = DiskFault::Effect::kBitRot, .task = "a", .op = "read", .path = "/empty"});
  a.Spawn("main", [&] {
    Files& files = *a.env().files;
    const std::string zeros(100, '\0');
    Write(files, "/shared/x", OpenMode::kNew, zeros, true);
    Write(files, "/shared/y", OpenMode::kNew, zeros, true);
    Write(files, "/empty", OpenMode::kNew, "", true);
    EXPECT_EQ(ReadAll(files, "/empty").value(), "");
    const Time written = files.Stat("/shared/x")->modified;
    world.AdvanceBy(seconds(2));
    const auto file = files.Open("/shared/x", OpenMode::kRead).value();
    EXPECT_EQ(file->Read(0, 100).value(), zeros);
    const std::string seen = file->Read(0, 100).value();
    int flipped = 0;
    for (const char byte : seen) flipped += std::popcount(static_cast<unsigned char>(byte));
    EXPECT_EQ(flipped, 1);
    EXPECT_EQ(file->Read(0, 100).value(), seen);
    const std::size_t flip = seen.find_first_not_of('\0');
    EXPECT_THAT(world.disk_faults().meetings(), SizeIs(2));  // not what was read before
    EXPECT_EQ(file->Read(0, flip).value(), zeros.substr(0, flip));
    EXPECT_EQ(file->Read(flip + 1, 100).value(), zeros.substr(flip + 1));
    EXPECT_THAT(world.disk_faults().meetings(), SizeIs(2));  // nor what was read beside it
    EXPECT_EQ(ReadAll(*b.env().files, "/shared/x").value(), seen);
    EXPECT_EQ(world.disk_faults().meetings().back().task, "b");
    EXPECT_EQ(ReadAll(files, "/shared/y").value(), zeros);
    EXPECT_EQ(files.Stat("/shared/x")->modified, written);
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_EQ(rot.effective, 1);
  EXPECT_EQ(nothing.fired, 1);
  EXPECT_EQ(nothing.effective, 0);
  EXPECT_THAT(world.disk_faults().rotten(), ElementsAre(Pair("/shared/x", SizeIs(1))));
}

// What is damaged is not whole since somebody has removed or replaced it: the power may go before that is durable.
TEST(NodeFiles, APowerCutBringsBackWhatWasDamaged) {
  World world({});
  Node& a = world.AddNode("a");
  Node& b = world.AddNode("b");
  world.disk_faults().Add({.effect = DiskFault::Effect::kBitRot, .task = "a", .op = "read", .path = "/shared/x"});
  a.Spawn("main", [&] {
    Files& files = *a.env().files;
    const auto meetings = [&] { return world.disk_faults().meetings().size(); };
    Write(files, "/shared/x", OpenMode::kNew, std::string(100, '\0'), true);
    const std::string damaged = ReadAll(files, "/shared/x").value();
    const std::size_t met = meetings();
    EXPECT_GT(met, 0u);
    Files& others = *b.env().files;
    EXPECT_TRUE(others.Remove("/shared/x").ok());
    Write(others, "/shared/x", OpenMode::kNew, std::string(100, '\0'), false);
    EXPECT_TRUE(ReadAll(files, "/shared/x").ok());
    EXPECT_EQ(meetings(), met);  // another one
    b.LoseDisk(DiskLoss::kUnsynced);
    EXPECT_EQ(ReadAll(files, "/shared/x").value(), damaged);
    EXPECT_GT(meetings(), met);
    EXPECT_TRUE(files.Rename("/shared/x", "/shared/y").ok());
    const std::size_t before = meetings();
    EXPECT_EQ(ReadAll(files, "/shared/y").value(), damaged);
    EXPECT_GT(meetings(), before);
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
}

// A file is gone when it is opened, for all; another one of its name is none of those that were damaged.
TEST(NodeFiles, AFileIsGoneWhenItIsOpened) {
  World world({});
  Node& a = world.AddNode("a");
  Node& b = world.AddNode("b");
  DiskFaultState& gone = world.disk_faults().Add(
      {.effect = DiskFault::Effect::kGone, .task = "a", .op = "open", .path = "/shared/x", .call = 1});
  a.Spawn("main", [&] {
    Files& files = *a.env().files;
    Write(files, "/shared/x", OpenMode::kNew, "first", true);
    EXPECT_EQ(CodeOf(files.Open("/shared/x", OpenMode::kRead).status()), Code::kNotFound);
    EXPECT_EQ(CodeOf(ReadAll(*b.env().files, "/shared/x").status()), Code::kNotFound);
    EXPECT_THAT(world.disk_faults().meetings(), SizeIs(2));
    Write(files, "/shared/y", OpenMode::kNew, "second", true);
    EXPECT_TRUE(files.Rename("/shared/y", "/shared/x").ok());
    EXPECT_EQ(ReadAll(files, "/shared/x").value(), "second");
    EXPECT_THAT(world.disk_faults().meetings(), SizeIs(2));
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_EQ(gone.effective, 1);
  EXPECT_THAT(world.disk_faults().rotten(), ElementsAre(Pair("/shared/x", SizeIs(1))));
}

TEST(NodeFiles, WhatIsOpenIsCounted) {
  World world({});
  Node& a = world.AddNode("a");
  Node& b = world.AddNode("b");
  a.Spawn("main", [&] {
    Files& files = *a.env().files;
    auto shared = files.Open("/shared/x", OpenMode::kNew).value();
    const auto own = files.Open("x", OpenMode::kNew).value();
    EXPECT_EQ(a.open_files(), 2);
    shared.reset();
    EXPECT_EQ(a.open_files(), 1);
    a.env().tasks->SleepUntil(kNever);
  });
  b.Spawn("main", [&] {
    world.AdvanceBy(seconds(1));
    EXPECT_EQ(a.open_files(), 1);
    EXPECT_EQ(b.open_files(), 0);
    a.Kill();
    world.AdvanceBy(seconds(1));
    EXPECT_EQ(a.open_files(), 0);
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
}

// One node lists the shared files 10 s late, but what it did itself at once; nobody else does.
TEST(NodeFiles, AListingLagsBehind) {
  World world({});
  Node& a = world.AddNode("a");
  Node& b = world.AddNode("b");
  DiskFaultState& stale = world.disk_faults().Add(
      {.effect = DiskFault::Effect::kStale, .task = "a", .op = "list", .call = 0, .by = seconds(10)});
  using Names = std::vector<std::string>;
  a.Spawn("main", [&] {
    Files& files = *a.env().files;
    Files& others = *b.env().files;
    Write(others, "/shared/x", OpenMode::kNew, "1", true);
    EXPECT_EQ(files.List("/shared").value(), Names());
    EXPECT_EQ(others.List("/shared").value(), Names({"x"}));
    EXPECT_EQ(ReadAll(files, "/shared/x").value(), "1");
    world.AdvanceBy(seconds(11));
    EXPECT_EQ(stale.effective, 1);
    EXPECT_EQ(files.List("/shared").value(), Names({"x"}));
    EXPECT_EQ(stale.effective, 1);
    ASSERT_TRUE(others.Rename("/shared/x", "/shared/y").ok());
    ASSERT_TRUE(others.MakeDirectory("/shared/d").ok());
    Write(others, "/shared/d/in", OpenMode::kNew, "1", true);
    Write(files, "/shared/own", OpenMode::kNew, "1", true);
    EXPECT_EQ(files.List("/shared").value(), Names({"own", "x"}));
    EXPECT_EQ(files.List("/shared/d").value(), Names());
    world.AdvanceBy(seconds(5));
    ASSERT_TRUE(others.Remove("/shared/y").ok());
    world.AdvanceBy(seconds(6));
    EXPECT_EQ(files.List("/shared").value(), Names({"d", "own", "y"}));
    Write(files, "/z", OpenMode::kNew, "1", true);
    EXPECT_EQ(files.List("/").value(), Names({"z"}));
    world.disk_faults().Clear();
    EXPECT_EQ(files.List("/shared").value(), Names({"d", "own"}));
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
}

TEST(NodeFiles, AProcessDiesInTheMiddleOfASlowWrite) {
  World world({});
  Node& node = world.AddNode("chief:0");
  world.disk_faults().Add({.effect = DiskFault::Effect::kSlow, .op = "append", .by = seconds(3)});
  node.Spawn("main", [&] { Write(*node.env().files, "/x", OpenMode::kNew, "never", false); });
  Alarm kill(world.scheduler(), [&] {
    node.Kill();
    EXPECT_EQ(node.LoseDisk(DiskLoss::kUnsynced), 1);
  });
  kill.SetAt(seconds(1));
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(node.disk().Contents(), IsEmpty());
}

}  // namespace
}  // namespace vigil::sim
