// What is particular to the fakes. What they promise as seams is tested in properties/contracts.
#include "vigil/fakes/fake_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "vigil/fakes/fake_env.h"

namespace vigil::fakes {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(FakeTasks, ATaskRunsWhenTheTestBlocksOrSaysSo) {
  FakeEnv fake;
  std::vector<std::string> seen;
  const auto task = fake.env().tasks->Spawn("a", [&] { seen.push_back("a"); });
  EXPECT_THAT(seen, IsEmpty());
  fake.tasks.RunReady();
  EXPECT_THAT(seen, ElementsAre("a"));
  EXPECT_TRUE(task->done());
}

TEST(FakeTasks, TimeStandsStillUntilTheTestMovesItOrWaits) {
  FakeEnv fake;
  const Env env = fake.env();
  std::vector<std::string> seen;
  for (const int n : {2, 1}) {
    env.tasks->Spawn("sleeper", [&, n] {
      env.tasks->SleepUntil({seconds(n)});
      seen.push_back(std::to_string(n));
    });
  }
  fake.tasks.RunReady();
  EXPECT_EQ(env.clock->Monotonic(), Time{});
  fake.clock.Advance(seconds(1));
  fake.tasks.RunReady();
  EXPECT_THAT(seen, ElementsAre("1"));
  env.tasks->SleepUntil({seconds(10)});  // the test sleeps: time goes on by itself
  EXPECT_THAT(seen, ElementsAre("1", "2"));
  EXPECT_EQ(env.clock->Monotonic(), Time{seconds(10)});
}

TEST(FakeTasks, SleepsThatAreOverEndInTheOrderOfTheirDeadlines) {
  FakeEnv fake;
  const Env env = fake.env();
  std::vector<int> seen;
  for (const int n : {3, 1, 2}) {
    env.tasks->Spawn("sleeper", [&, n] {
      env.tasks->SleepUntil({seconds(n)});
      seen.push_back(n);
    });
  }
  fake.tasks.RunReady();
  fake.clock.Advance(seconds(9));
  fake.tasks.RunReady();
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
}

TEST(FakeTasks, TheEndUnwindsWhatStillRunsNewestFirst) {
  std::vector<std::string> seen;
  struct Witness {
    std::vector<std::string>& seen;
    std::string name;
    ~Witness() { seen.push_back(name); }
  };
  FakeEnv fake;
  const Env env = fake.env();
  const auto mutex = env.tasks->NewMutex("m");
  env.tasks->Spawn("first", [&] {
    Witness witness{seen, "first"};
    MutexLock lock(*mutex);
    env.tasks->SleepUntil(kNever);
  });
  env.tasks->Spawn("second", [&] {
    Witness witness{seen, "second"};
    MutexLock lock(*mutex);
  });
  fake.tasks.RunReady();
  env.tasks->Spawn("never began", [&] { seen.push_back("began"); });
  fake.tasks.EndAll();
  EXPECT_THAT(seen, ElementsAre("second", "first"));
  EXPECT_TRUE(env.tasks->Spawn("too late", [&] { seen.push_back("began"); })->done());
}

TEST(FakeTasksDeathTest, ADeadlockSaysWhoWaitsForWhat) {
  const auto deadlock = [] {
    FakeEnv fake;
    const Env env = fake.env();
    const auto mutex = env.tasks->NewMutex("held");
    MutexLock lock(*mutex);
    env.tasks->Spawn("locker", [&] { MutexLock inner(*mutex); })->Join(kNever);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(deadlock(), "the test waits for the end of locker\n  locker waits for mutex \"held\"");
}

TEST(MemoryFiles, AFaultReplacesTheOperation) {
  FakeEnv fake;
  Files& files = fake.files;
  EXPECT_TRUE(WriteAtomically(files, "/a", "old").ok());
  fake.files.FailOnce(FileOp::kRename, 2, MakeStatus(Code::kResourceExhausted, "planted"));
  EXPECT_TRUE(WriteAtomically(files, "/a", "new").ok());
  EXPECT_EQ(MessageOf(WriteAtomically(files, "/a", "newer")), "planted");
  EXPECT_EQ(ReadAll(files, "/a").value(), "new");
  EXPECT_TRUE(WriteAtomically(files, "/a", "newest").ok());
  EXPECT_THAT(fake.files.Contents(), ElementsAre(testing::Pair("/a", "newest")));

  std::vector<std::string> asked;
  fake.files.set_fault([&](FileOp op, const std::string& path) {
    asked.push_back(std::string(FileOpName(op)) + " " + path);
    return absl::OkStatus();
  });
  EXPECT_TRUE(WriteAtomically(files, "/b", "x").ok());
  EXPECT_THAT(asked, ElementsAre("open /b.tmp", "append /b.tmp", "close /b.tmp", "rename /b.tmp"));
}

TEST(SequenceRandom, DrawsWhatIsWrittenDown) {
  SequenceRandom random;
  random.Set("a", {5, 6});
  EXPECT_EQ(random.Draw("a"), 5u);
  const std::uint64_t b = random.Draw("b");
  EXPECT_EQ(random.Draw("a"), 6u);
  EXPECT_NE(random.Draw("a"), random.Draw("a"));
  EXPECT_NE(random.Draw("b"), b);
  EXPECT_EQ(random.drawn("a"), 4u);
  EXPECT_EQ(random.drawn("c"), 0u);
}

TEST(CapturingSink, OwnsTheSubjects) {
  CapturingSink sink;
  {
    std::string subject = "a subject that is longer than a small string";
    sink.Emit({.kind = EventKind::kNote, .subject = subject});
    subject.assign(subject.size(), 'x');
  }
  for (int i = 0; i < 100; ++i) sink.Emit({.kind = EventKind::kNote, .index = i, .subject = "other"});
  ASSERT_EQ(sink.events().size(), 101u);
  EXPECT_EQ(sink.events()[0].subject, "a subject that is longer than a small string");
  EXPECT_EQ(sink.events()[100].index, 99);
}

TEST(ManualClock, TheWallClockCanJumpAlone) {
  ManualClock clock(Time{seconds(5)});
  clock.JumpWall(seconds(-3));
  EXPECT_EQ(clock.Now(), Time{seconds(2)});
  EXPECT_EQ(clock.Monotonic(), Time{});
}

}  // namespace
}  // namespace vigil::fakes
