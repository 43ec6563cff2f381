// The helpers over the seams. The seams themselves are tested in properties/contracts.
#include "vigil/core/env/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/fakes/fake_env.h"

namespace vigil {
namespace {

TEST(CallGuarded, GivesTheResultOfItsBody) {
  EXPECT_TRUE(CallGuarded([] { return absl::OkStatus(); }).ok());
  EXPECT_EQ(CodeOf(CallGuarded([] { return MakeStatus(Code::kAborted, "a"); })), Code::kAborted);
  EXPECT_EQ(*CallGuarded([]() -> absl::StatusOr<int> { return 7; }), 7);
}

TEST(CallGuarded, MakesAStatusOfWhatIsThrown) {
  const absl::Status status = CallGuarded([]() -> absl::Status { throw std::runtime_error("oops"); });
  EXPECT_EQ(CodeOf(status), Code::kOther);
  EXPECT_EQ(MessageOf(status), "oops");
  const auto other = CallGuarded([]() -> absl::StatusOr<int> { throw 7; });
  EXPECT_EQ(CodeOf(other.status()), Code::kOther);
}

TEST(CallGuarded, LetsTheEndOfTheProcessThrough) {
  EXPECT_THROW(CallGuarded([]() -> absl::Status { throw TaskKilled{}; }).IgnoreError(), TaskKilled);
}

TEST(Env, DeadlinesCountFromNowAndNeverStaysNever) {
  fakes::FakeEnv fake;
  fake.clock.Advance(std::chrono::seconds(3));
  EXPECT_EQ(DeadlineAfter(fake.env(), std::chrono::seconds(2)), Time{std::chrono::seconds(5)});
  EXPECT_EQ(DeadlineAfter(fake.env(), Duration::max()), kNever);
}

TEST(Env, EventsWithoutASinkGoNowhere) {
  fakes::FakeEnv fake;
  fake.env().Emit({.kind = EventKind::kNote});
  Env silent = fake.env();
  silent.events = nullptr;
  silent.Emit({.kind = EventKind::kNote});
  EXPECT_EQ(fake.events.events().size(), 1u);
}

TEST(Files, PathsAreJoinedAndTakenApart) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("a", "/b"), "/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(Dirname("/a/b"), "/a");
  EXPECT_EQ(Dirname("/a"), "/");
  EXPECT_EQ(Dirname("a"), "");
  EXPECT_EQ(Basename("/a/b"), "b");
  EXPECT_EQ(Basename("b"), "b");
  EXPECT_EQ(CleanPath("/a//./b/"), "/a/b");
  EXPECT_EQ(CleanPath("./a/../b"), "a/../b");
  EXPECT_EQ(CleanPath("/"), "");
}

TEST(Files, AFileLargerThanOneReadIsReadWhole) {
  fakes::FakeEnv fake;
  std::string data(3 << 20, 'x');
  data += "end";
  ASSERT_TRUE(WriteAtomically(fake.files, "/a", data).ok());
  EXPECT_EQ(ReadAll(fake.files, "/a").value(), data);
}

TEST(WriteAtomically, TheLastOfTwoWritersWinsWhole) {
  for (int at = 1; at <= 4; ++at) {  // open, append, close, rename
    fakes::FakeEnv fake;
    int left = at;
    fake.files.set_fault([&](fakes::FileOp, const std::string&) {
      if (--left == 0) {
        EXPECT_TRUE(WriteAtomically(fake.files, "/a", "the other's").ok());
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(WriteAtomically(fake.files, "/a", "mine, and longer").ok());
    EXPECT_THAT(fake.files.Contents(), testing::ElementsAre(testing::Pair("/a", "mine, and longer")));
  }
}

TEST(WriteAtomically, WhatFailsLeavesNothingAndTakesNothingFromOthers) {
  for (const fakes::FileOp op :
       {fakes::FileOp::kAppend, fakes::FileOp::kSync, fakes::FileOp::kClose, fakes::FileOp::kRename}) {
    fakes::FakeEnv fake;
    EXPECT_TRUE(WriteAtomically(fake.files, "/a", "old").ok());
    EXPECT_TRUE((*fake.files.Open("/a.tmp", OpenMode::kNew))->Append("somebody else's").ok());
    fake.files.FailOnce(op, 1, MakeStatus(Code::kResourceExhausted, "no space"));
    EXPECT_EQ(MessageOf(WriteAtomically(fake.files, "/a", "new", true)), "no space");
    EXPECT_THAT(fake.files.Contents(),
                testing::ElementsAre(testing::Pair("/a", "old"), testing::Pair("/a.tmp", "somebody else's")));
  }
}

TEST(WriteAtomically, SyncsTheDirectoryOnlyIfAsked) {
  fakes::FakeEnv fake;
  std::vector<std::string> synced;
  fake.files.set_fault([&](fakes::FileOp op, const std::string& path) {
    if (op == fakes::FileOp::kSync) synced.push_back(path);
    return absl::OkStatus();
  });
  EXPECT_TRUE(WriteAtomically(fake.files, "/a", "x").ok());
  EXPECT_THAT(synced, testing::IsEmpty());
  EXPECT_TRUE(WriteAtomically(fake.files, "/a", "x", true).ok());
  EXPECT_THAT(synced, testing::ElementsAre("/a.tmp", "/"));
}

TEST(Files, OnlyWhatIsNotFoundIsMissing) {
  fakes::FakeEnv fake;
  EXPECT_FALSE(*Exists(fake.files, "/a"));
  EXPECT_TRUE(WriteAtomically(fake.files, "/a", "x").ok());
  EXPECT_TRUE(*Exists(fake.files, "/a"));
  for (const Code code : {Code::kUnknown, Code::kPermissionDenied, Code::kResourceExhausted}) {
    fake.files.FailOnce(fakes::FileOp::kStat, 1, MakeStatus(code, "no"));
    EXPECT_EQ(CodeOf(Exists(fake.files, "/a").status()), code);
  }
}

TEST(Files, ParentsAreSyncedAsFarAsTheyMayBeRead) {
  fakes::FakeEnv fake;
  EXPECT_TRUE(fake.files.MakeDirectory("/a/b/c").ok());
  EXPECT_TRUE(fake.files.MakeDirectory("x").ok());
  std::vector<std::string> synced;
  Code code = Code::kPermissionDenied;
  fake.files.set_fault([&](fakes::FileOp, const std::string& path) {
    synced.push_back(path);
    return path == "/a" ? MakeStatus(code, "no") : absl::OkStatus();
  });
  EXPECT_TRUE(SyncParents(fake.files, "/a/b/c").ok());
  EXPECT_THAT(synced, testing::ElementsAre("/a/b", "/a", "/"));
  code = Code::kUnknown;
  EXPECT_EQ(CodeOf(SyncParents(fake.files, "/a/b/c")), Code::kUnknown);
  synced.clear();
  EXPECT_TRUE(SyncParents(fake.files, "x/y").ok());
  EXPECT_THAT(synced, testing::ElementsAre("x", ""));
}

}  // namespace
}  // namespace vigil
