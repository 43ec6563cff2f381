// The helpers over the seams. The seams themselves are tested in properties/contracts.
#include "vigil/core/env/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/core/env/in_process_network.h"
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

// Tasks of a system that runs out of threads.
class FewThreads final : public ForwardingTasks {
 public:
  FewThreads(Tasks& inner, int most) : ForwardingTasks(inner), left(most) {}
  std::unique_ptr<Task> Spawn(std::string_view name, std::function<void()> body) override {
    if (left-- <= 0) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    return ForwardingTasks::Spawn(name, std::move(body));
  }
  int left;
};

TEST(InProcessNetwork, DeadlinesComeAgainAfterATaskCouldNotBeStarted) {
  fakes::FakeEnv fake;
  FewThreads few(fake.tasks, 0);
  InProcessNetwork network(few);
  const auto listener = network.Listen("here", [&](IncomingCall&) -> NetworkReply {
    fake.tasks.SleepUntil({std::chrono::seconds(100)});
    return std::string("late");
  });
  ASSERT_TRUE(listener.ok());
  std::vector<Code> ends;
  const auto call = [&] {
    network.Start({.to = "here", .method = "m", .deadline = DeadlineAfter(fake.env(), std::chrono::seconds(5))},
                  [&ends](const NetworkReply& reply) { ends.push_back(CodeOf(reply.status())); });
  };
  call();
  EXPECT_THAT(ends, testing::ElementsAre(Code::kResourceExhausted));
  few.left = 10;
  call();
  fake.tasks.SleepUntil({std::chrono::seconds(10)});
  EXPECT_THAT(ends, testing::ElementsAre(Code::kResourceExhausted, Code::kDeadlineExceeded));
}

}  // namespace
}  // namespace vigil
