// What a caller meets on the simulated network when all goes well, and when one side dies.
#include "vigil/sim/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "vigil/core/env/notification.h"
#include "vigil/sim/network_testing.h"

namespace vigil::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(NetworkTest, ARequestIsAnsweredAfterTwoLatencies) {
  Serve([](IncomingCall& call) -> NetworkReply { return absl::Cord(call.method() + " " + std::string(call.body())); });
  Chief([&] { Call({.body = absl::Cord("x")}); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("12 /vigil.Test/Do x"));
}

TEST_F(NetworkTest, AnErrorOfTheHandlerArrivesWithItsPayload) {
  Serve([](IncomingCall&) -> NetworkReply { return MakeStatus(Code::kStopIteration, "no more"); });
  Chief([&] { Call({}); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("12 STOP_ITERATION no more"));
}

TEST_F(NetworkTest, NobodyServesThere) {
  Chief([&] {
    Call({});
    Serve([](IncomingCall&) -> NetworkReply { return absl::Cord("late"); });
    world_.AdvanceBy(seconds(1));
    Call({});
  });
  Run();
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_THAT(seen_[0], testing::StartsWith("11 UNAVAILABLE"));
  EXPECT_THAT(seen_[0], HasSubstr("Connection refused"));
  EXPECT_EQ(seen_[1], "1013 late");
}

TEST_F(NetworkTest, OnlyOneServesAtAnAddress) {
  Serve([](IncomingCall&) -> NetworkReply { return absl::Cord("first"); });
  Chief([&] {
    const auto second = chief_.env().network->Listen("ps:1", nullptr);
    EXPECT_EQ(CodeOf(second.status()), Code::kAlreadyExists);
    const auto other =
        chief_.env().network->Listen("ps:2", [](IncomingCall&) -> NetworkReply { return absl::Cord("own"); });
    EXPECT_TRUE(other.ok());
    seen_.push_back(Text(CallAndWait(chief_.env(), {.to = "ps:2", .method = "m"})));
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("own"));
}

// The handler blocks; the callers are told in the order in which they called.
TEST_F(NetworkTest, TheServerDies) {
  Serve([this](IncomingCall&) -> NetworkReply {
    world_.AdvanceBy(seconds(9));
    return absl::Cord("never");
  });
  for (const std::string name : {"a ", "b "}) {
    chief_.Spawn(name, [this, name] {
      world_.AdvanceBy(milliseconds(10));
      Note(name, CallAndWait(chief_.env(), {.to = "ps:1", .method = "m"}));
    });
  }
  At(milliseconds(20), [&] { ps_.Kill(); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("a 21 UNAVAILABLE Socket closed", "b 21 UNAVAILABLE Socket closed"));
}

// A request that was sent to a process does not reach its successor.
TEST_F(NetworkTest, TheServerRestartsWhileARequestIsUnderWay) {
  int served = 0;
  Serve([&served](IncomingCall&) -> NetworkReply { return absl::Cord(std::to_string(++served)); });
  Chief([&] {
    Call({});
    world_.AdvanceBy(seconds(1));
    Call({});
  });
  At(milliseconds(10) + microseconds(500), [&] { ps_.Kill(); });
  At(milliseconds(10) + microseconds(600), [&] { ps_.Boot(); });
  Run();
  EXPECT_THAT(seen_, ElementsAre(HasSubstr("11 UNAVAILABLE"), "1013 1"));
}

TEST_F(NetworkTest, TheCallerDies) {
  Serve([this](IncomingCall& call) -> NetworkReply {
    call.OnCancelled([this] { seen_.push_back("told " + std::to_string(world_.scheduler().now() / milliseconds(1))); });
    world_.AdvanceBy(milliseconds(100));
    seen_.push_back(call.cancelled() ? "cancelled" : "not cancelled");
    return absl::Cord("never read");
  });
  auto held = std::make_shared<int>(0);
  chief_.Spawn("main", [this, held] {
    world_.AdvanceBy(milliseconds(10));
    chief_.env().network->Start({.to = "ps:1", .method = "m"},
                                [this, held](NetworkReply) { seen_.push_back("called"); });
    world_.AdvanceBy(seconds(1));
  });
  At(milliseconds(20), [&] { chief_.Kill(); });
  At(milliseconds(30), [&] { EXPECT_EQ(held.use_count(), 1); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("told 21", "cancelled"));
}

// No task of the process is there, and what it has put off goes with it.
TEST_F(NetworkTest, TheProcessDiesThatIsToAnswerLater) {
  std::function<void(NetworkReply)> answer;
  std::weak_ptr<int> kept;
  Serve([&answer, &kept](IncomingCall& call) -> NetworkReply {
    const auto mine = std::make_shared<int>(0);
    kept = mine;
    answer = call.AnswerLater();
    call.OnCancelled([mine] {});
    return absl::Cord("not looked at");
  });
  Chief([&] {
    Call({});
    Call({});
  });
  At(milliseconds(20), [&] {
    EXPECT_FALSE(kept.expired());
    ps_.Kill();
  });
  At(milliseconds(21), [&] {
    EXPECT_TRUE(kept.expired());
    ps_.set_boot([&answer](Node& node) {
      node.Spawn("main", [env = node.env(), &answer] {
        auto listener = env.network->Listen("ps:1", [&answer](IncomingCall&) -> NetworkReply {
          answer(absl::Cord("of an earlier life"));
          return absl::Cord("by the living");
        });
        env.tasks->SleepUntil(kNever);
      });
    });
    ps_.Boot();
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("21 UNAVAILABLE Socket closed", "23 by the living"));
}

TEST_F(NetworkTest, CancelReachesTheCallerAtOnceAndTheHandlerLater) {
  Serve([this](IncomingCall& call) -> NetworkReply {
    Notification told(*ps_.env().tasks, "told");
    call.OnCancelled([&] { told.Notify(); });
    told.Wait(kNever);
    seen_.push_back("told " + std::to_string(world_.scheduler().now() / milliseconds(1)));
    return absl::Cord();
  });
  Chief([&] {
    Notification answered(*chief_.env().tasks, "answered");
    const std::uint64_t call = chief_.env().network->Start({.to = "ps:1", .method = "m"}, [&](NetworkReply reply) {
      Note("", reply);
      answered.Notify();
    });
    world_.AdvanceBy(milliseconds(10));
    chief_.env().network->Cancel(call);
    chief_.env().network->Cancel(call);
    answered.Wait(kNever);
    chief_.env().network->Cancel(call);
    chief_.env().network->Cancel(12345);
    world_.AdvanceBy(milliseconds(10));
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("20 CANCELLED Cancelled by the caller", "told 21"));
}

TEST_F(NetworkTest, TheDeadlinePasses) {
  Serve([this](IncomingCall& call) -> NetworkReply {
    world_.AdvanceBy(milliseconds(50));
    seen_.push_back(call.cancelled() ? "cancelled" : "not cancelled");
    return absl::Cord("late");
  });
  Chief([&] {
    Call({.deadline = Time{milliseconds(30)}});
    Call({.deadline = Time{milliseconds(5)}});
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("30 DEADLINE_EXCEEDED Deadline Exceeded", "30 DEADLINE_EXCEEDED Deadline Exceeded",
                                 "cancelled"));
}

// For 20 ms, from then on: a request takes 50, and is on its way for one.
class NetworkEndTest : public NetworkTest {
 protected:
  void CallWhoServesFrom(Duration begin) {
    ps_.Spawn("main", [this, begin] {
      world_.AdvanceBy(begin);
      auto listener = *ps_.env().network->Listen("ps:1", [this](IncomingCall& call) -> NetworkReply {
        world_.AdvanceBy(milliseconds(50));
        seen_.push_back(call.cancelled() ? "cancelled" : "not cancelled");
        return absl::Cord("too late");
      });
      world_.AdvanceBy(milliseconds(20));
      listener = nullptr;
      world_.AdvanceBy(milliseconds(100));
    });
    Chief([&] { Call({}); });
    EXPECT_EQ(world_.Run().verdict, WorldVerdict::kDone);
  }
};

TEST_F(NetworkEndTest, NobodyServesAnyMore) {
  CallWhoServesFrom(Duration(0));
  EXPECT_THAT(seen_, ElementsAre("21 UNAVAILABLE Socket closed", "cancelled"));
}

TEST_F(NetworkEndTest, WhoBeganToServeMeanwhileBreaksTheCallWithHisEnd) {
  CallWhoServesFrom(std::chrono::microseconds(500));
  EXPECT_THAT(seen_, ElementsAre("21 UNAVAILABLE Socket closed", "cancelled"));
}

}  // namespace
}  // namespace vigil::sim
