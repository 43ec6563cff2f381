// Flow control: which requests wait for their turn at the caller, and what ends the wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/network_testing.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// The chief's requests have a hundred bytes, of which two may be in flight; a message takes a millisecond.
class NetworkFlowTest : public NetworkTest {
 protected:
  NetworkFlowTest() {
    Limit(250);
    Serve([this](IncomingCall& call) -> NetworkReply {
      served_.push_back(std::to_string(Now()) + " " + call.method());
      return absl::Cord("ok");
    });
  }

  void Limit(std::int64_t bytes) {
    LinkSpec link;
    link.least_latency = link.most_latency = milliseconds(1);
    LinkSpec limited = link;
    limited.bytes_in_flight = bytes;
    world_.network().SetLinks(link, {{"chief:0>ps:0", limited}});
  }
  std::int64_t Now() { return world_.scheduler().now() / milliseconds(1); }

  std::uint64_t Start(const std::string& method, Duration deadline = Duration::max(), Duration keepalive = Duration(0),
                      std::size_t bytes = 100) {
    return chief_.env().network->Start({.to = "ps:1",
                                        .method = method,
                                        .body = absl::Cord(std::string(bytes, 'x')),
                                        .deadline = deadline == Duration::max() ? kNever : Time{deadline},
                                        .keepalive = keepalive},
                                       [this, method](const NetworkReply& reply) { Note(method + " ", reply); });
  }
  void StartAll(const std::vector<std::string>& methods) {
    for (const std::string& method : methods) Start(method);
  }
  std::int64_t InFlight() { return world_.network().BytesInFlight("chief:0"); }

  std::vector<std::string> served_;
};

TEST_F(NetworkFlowTest, WhatIsBeyondTheLimitWaitsForItsTurnInOrder) {
  Chief([&] {
    StartAll({"a", "b", "c", "d", "e"});
    EXPECT_EQ(InFlight(), 200);
    world_.AdvanceBy(seconds(1));
    EXPECT_EQ(InFlight(), 0);
  });
  Run();
  EXPECT_THAT(served_, ElementsAre("11 a", "11 b", "12 c", "12 d", "13 e"));
  EXPECT_THAT(seen_, ElementsAre("a 12 ok", "b 12 ok", "c 13 ok", "d 13 ok", "e 14 ok"));
  EXPECT_EQ(world_.network().counts().waited, 3);
}

TEST_F(NetworkFlowTest, WhatIsLargerThanTheLimitGoesAloneAndNobodyOvertakes) {
  Chief([&] {
    Start("a");
    Start("large", Duration::max(), Duration(0), 1000);
    Start("b");
    world_.AdvanceBy(seconds(1));
  });
  Run();
  EXPECT_THAT(served_, ElementsAre("11 a", "12 large", "13 b"));
}

TEST_F(NetworkFlowTest, WhatHasArrivedHoldsNobodyBackThoughItIsNotAnswered) {
  Limit(1);
  std::function<void(NetworkReply)> answer;
  ps_.Kill();
  Serve([&](IncomingCall& call) -> NetworkReply {
    if (call.method() == "first") answer = call.AnswerLater();
    if (call.method() == "second") answer(absl::Cord("answered by the second"));
    return absl::Cord("ok");
  });
  Chief([&] {
    StartAll({"first", "second"});
    world_.AdvanceBy(seconds(1));
    answer = nullptr;
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("first 13 answered by the second", "second 13 ok"));
}

// Nothing was sent of them, so that nobody is told either.
TEST_F(NetworkFlowTest, DeadlineAndCancelHoldForWhoWaits) {
  LinkTrouble silence{.kind = LinkTrouble::Kind::kSilent};
  world_.network().Begin(silence, "chief:0", "ps:0");
  At(seconds(5), [&] { world_.network().End(silence); });
  Chief([&] {
    StartAll({"a", "b"});
    Start("late", seconds(1));
    const std::uint64_t cancelled = Start("cancelled");
    Start("last");
    const std::int64_t sent = world_.network().counts().sent;
    chief_.env().network->Cancel(cancelled);
    world_.AdvanceBy(seconds(2));
    EXPECT_EQ(world_.network().counts().sent, sent);
    world_.AdvanceBy(seconds(10));
    EXPECT_EQ(InFlight(), 0);
  });
  Run();
  EXPECT_THAT(served_, ElementsAre("5000 a", "5000 b", "5001 last"));
  EXPECT_THAT(seen_,
              ElementsAre("cancelled 10 CANCELLED Cancelled by the caller",
                          "late 1000 DEADLINE_EXCEEDED Deadline Exceeded", "a 5001 ok", "b 5001 ok", "last 5002 ok"));
}

TEST_F(NetworkFlowTest, WhatIsGivenUpOnItsWayGivesItsBytesBack) {
  LinkTrouble silence{.kind = LinkTrouble::Kind::kSilent};
  world_.network().Begin(silence, "chief:0", "ps:0");
  Chief([&] {
    const std::uint64_t cancelled = Start("cancelled");
    Start("late", seconds(1));
    StartAll({"a", "b"});
    chief_.env().network->Cancel(cancelled);
    EXPECT_EQ(InFlight(), 200) << "a has taken its turn";
    world_.AdvanceBy(seconds(2));
    EXPECT_EQ(InFlight(), 200) << "and so has b";
    world_.network().End(silence);
    world_.AdvanceBy(seconds(1));
    EXPECT_EQ(InFlight(), 0);
  });
  Run();
  EXPECT_THAT(served_, ElementsAre("2010 cancelled", "2010 late", "2010 a", "2010 b"));
}

TEST_F(NetworkFlowTest, WhoWaitsForAPeerThatSaysNothingHearsOfItFromTheKeepalive) {
  LinkTrouble silence{.kind = LinkTrouble::Kind::kSilent};
  world_.network().Begin(silence, "chief:0", "ps:0");
  Chief([&] {
    for (const char* const method : {"a", "b", "c"}) Start(method, Duration::max(), seconds(3));
    world_.AdvanceBy(seconds(10));
    EXPECT_EQ(InFlight(), 0);
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("a 3010 UNAVAILABLE keepalive watchdog timeout",
                                 "b 3010 UNAVAILABLE keepalive watchdog timeout",
                                 "c 3010 UNAVAILABLE keepalive watchdog timeout"));
}

// It was not sent yet: it goes over the next connection.
TEST_F(NetworkFlowTest, AConnectionThatBreaksEndsWhatIsOnItsWayAndNotWhoWaits) {
  Chief([&] {
    StartAll({"a", "b", "c"});
    world_.network().Reset("chief:0", "ps:0");
    EXPECT_EQ(InFlight(), 100);
    world_.AdvanceBy(seconds(1));
    EXPECT_EQ(InFlight(), 0);
  });
  Run();
  EXPECT_THAT(served_, ElementsAre("11 c"));
  EXPECT_THAT(seen_, ElementsAre("a 10 UNAVAILABLE recvmsg: Connection reset by peer",
                                 "b 10 UNAVAILABLE recvmsg: Connection reset by peer", "c 12 ok"));
}

TEST_F(NetworkFlowTest, APeerThatDiesEndsWhatItHasNotTaken) {
  Chief([&] {
    ps_.Pause();
    StartAll({"a", "b", "c"});
    world_.AdvanceBy(milliseconds(10));
    ps_.Kill();
    world_.AdvanceBy(seconds(1));
    EXPECT_EQ(InFlight(), 0);
  });
  Run();
  EXPECT_THAT(served_, IsEmpty());
  EXPECT_THAT(seen_, ElementsAre("a 21 UNAVAILABLE Socket closed", "b 21 UNAVAILABLE Socket closed",
                                 testing::StartsWith("c 21 UNAVAILABLE failed to connect")));
}

// Nobody served there when they were made: only their deadline ends them.
TEST_F(NetworkFlowTest, WhatAPeerHasNotTakenWhenItDiesHoldsNobodyBack) {
  ps_.Kill();
  ps_.set_boot([](Node& node) {
    node.Spawn("main", [env = node.env()] {
      EXPECT_TRUE(env.network->Listen("ps:1", [](IncomingCall&) { return absl::Cord(); }).ok());  // for a moment
      env.tasks->SleepUntil(kNever);
    });
  });
  ps_.Boot();
  Chief([&] {
    ps_.Pause();
    for (const char* const method : {"a", "b"}) Start(method, seconds(1));
    Start("c");
    world_.AdvanceBy(milliseconds(10));
    ps_.Kill();
    world_.AdvanceBy(seconds(2));
  });
  Run();
  EXPECT_THAT(seen_,
              ElementsAre(testing::StartsWith("c 21 UNAVAILABLE failed to connect"),
                          "a 1000 DEADLINE_EXCEEDED Deadline Exceeded", "b 1000 DEADLINE_EXCEEDED Deadline Exceeded"));
}

TEST_F(NetworkFlowTest, AProcessThatIsPausedSendsNothingAndOneThatDiesHasNothingInFlight) {
  Chief([&] {
    StartAll({"a", "b", "c", "d", "e"});
    world_.AdvanceBy(seconds(60));
  });
  At(milliseconds(10) + std::chrono::microseconds(500), [&] { chief_.Pause(); });
  At(seconds(1), [&] {
    EXPECT_THAT(served_, ElementsAre("11 a", "11 b"));
    chief_.Resume();
    EXPECT_EQ(InFlight(), 200);
    chief_.Kill();
    EXPECT_EQ(InFlight(), 0);
  });
  Run();
  EXPECT_THAT(served_, ElementsAre("11 a", "11 b", "1001 c", "1001 d"));
}

// As a rule of a plan counts what is sent.
TEST_F(NetworkFlowTest, FaultsOfRequestsMeetWhatIsSent) {
  const RpcFaultState& fault = world_.network().AddRpcFault({.effect = RpcFault::Effect::kError, .method = "x"});
  Chief([&] {
    StartAll({"/s/a", "/s/b"});
    const std::uint64_t cancelled = Start("/s/x");
    chief_.env().network->Cancel(cancelled);
    EXPECT_EQ(fault.matched, 0);
    Start("/s/x");
    world_.AdvanceBy(seconds(1));
  });
  Run();
  EXPECT_EQ(fault.matched, 1);
  EXPECT_EQ(fault.effective, 1);
}

TEST(NetworkFlowLimits, WhatGoesAtOnceWaitsForNoTurn) {
  World world({.network = {.bytes_in_flight = 150}});
  Node& node = world.AddNode("node");
  std::vector<std::string> served;
  node.Spawn("main", [&] {
    const auto listener = node.env().network->Listen("here:1", [&](IncomingCall& call) -> NetworkReply {
      served.push_back(call.method());
      return absl::Cord();
    });
    for (const std::string method : {"first", "second", "third"})
      node.env().network->Start({.to = "here:1", .method = method, .body = absl::Cord(std::string(100, 'x'))},
                                [](const NetworkReply&) {});
    node.env().network->Start({.to = "here:1", .method = "sign", .body = absl::Cord("x"), .at_once = true},
                              [](const NetworkReply&) {});
    world.AdvanceBy(seconds(1));
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(served, UnorderedElementsAre("first", "second", "third", "sign"));
  EXPECT_LT(std::ranges::find(served, "sign"), std::ranges::find(served, "second"));
}

TEST(NetworkFlowLimits, TheLimitOfTheNetworkHoldsForAllLinksAlsoToOneself) {
  World world({.network = {.bytes_in_flight = 150}});
  Node& node = world.AddNode("node");
  std::vector<std::int64_t> served;
  node.Spawn("main", [&] {
    const auto listener = node.env().network->Listen("here:1", [&](IncomingCall&) -> NetworkReply {
      served.push_back(world.scheduler().now() / std::chrono::microseconds(1));
      return absl::Cord();
    });
    EXPECT_EQ(node.env().network->limits().bytes_in_flight, 150);
    for (int i = 0; i < 3; ++i)
      node.env().network->Start({.to = "here:1", .method = "m", .body = absl::Cord(std::string(100, 'x'))},
                                [](const NetworkReply&) {});
    world.AdvanceBy(seconds(1));
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(served, ElementsAre(50, 100, 150));
}

}  // namespace
}  // namespace vigil::sim
