// The helpers over the seams. The seams themselves are tested in properties/contracts.
#include "vigil/core/env/env.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

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
}

TEST(Files, AFileLargerThanOneReadIsReadWhole) {
  fakes::FakeEnv fake;
  std::string data(3 << 20, 'x');
  data += "end";
  ASSERT_TRUE(WriteAtomically(fake.files, "/a", data).ok());
  EXPECT_EQ(ReadAll(fake.files, "/a").value(), data);
}

}  // namespace
}  // namespace vigil
