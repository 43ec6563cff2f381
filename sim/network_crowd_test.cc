// A node that runs so many handlers at a time: who waits for one, and what becomes of him.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/sim/network.h"
#include "vigil/sim/network_testing.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

// Of whom each request takes a second to handle.
class NetworkCrowdTest : public NetworkTest {
 protected:
  NetworkCrowdTest() {
    Serve([this](IncomingCall& call) -> NetworkReply {
      served_.emplace_back(call.body());
      if (call.body() == "later") {
        answers_.push_back(call.AnswerLater());
        return absl::Cord();
      }
      world_.AdvanceBy(seconds(1));
      return call.body();
    });
  }
  // Each from a task of its own, one behind the other.
  void CallAll(std::vector<std::string> bodies, Time deadline = kNever) {
    for (const std::string& body : bodies) {
      chief_.Spawn(body, [this, body, deadline] {
        world_.AdvanceBy(milliseconds(10));
        Call({.body = absl::Cord(body), .deadline = deadline});
      });
    }
  }
  void Limit(std::int64_t at_once) { world_.network().LimitHandlers("ps:0", at_once); }

  std::vector<std::string> served_;
  std::vector<std::function<void(NetworkReply)>> answers_;
};

TEST_F(NetworkCrowdTest, OneAfterTheOther) {
  Limit(1);
  CallAll({"a", "b", "c"});
  Run();
  EXPECT_THAT(seen_, ElementsAre("1012 a", "2012 b", "3012 c"));
  EXPECT_EQ(world_.network().Crowded("ps:0"), 2);
  EXPECT_EQ(world_.network().Crowded("chief:0"), 0);
}

TEST_F(NetworkCrowdTest, TwoAtATime) {
  Limit(2);
  CallAll({"a", "b", "c"});
  Run();
  EXPECT_THAT(seen_, ElementsAre("1012 a", "1012 b", "2012 c"));
}

TEST_F(NetworkCrowdTest, AllWhoWaitBeginWhenItIsOver) {
  Limit(1);
  CallAll({"a", "b", "c"});
  At(milliseconds(500), [this] { Limit(0); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("1012 a", "1501 b", "1501 c"));
  EXPECT_EQ(world_.network().Crowded("ps:0"), 2);
}

// Those who run count, however many of them there are.
TEST_F(NetworkCrowdTest, ItBeginsWhileManyRun) {
  CallAll({"a", "b"});
  chief_.Spawn("late", [this] {
    world_.AdvanceBy(milliseconds(600));
    Call({.body = absl::Cord("c")});
  });
  At(milliseconds(500), [this] { Limit(1); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("1012 a", "1012 b", "2012 c"));
}

TEST_F(NetworkCrowdTest, WhoHasGivenUpIsNotServed) {
  Limit(1);
  CallAll({"a"});
  CallAll({"b"}, Time{milliseconds(800)});
  CallAll({"c"});
  Run();
  EXPECT_THAT(seen_, ElementsAre("800 DEADLINE_EXCEEDED Deadline Exceeded", "1012 a", "2012 c"));
  EXPECT_THAT(served_, ElementsAre("a", "c"));
  ASSERT_EQ(world_.network().Unheard().size(), 1);
  EXPECT_EQ(world_.network().Unheard()[0].sent, milliseconds(10));
}

TEST_F(NetworkCrowdTest, WhatIsAnsweredLaterNeedsNoHandlerMeanwhile) {
  Limit(1);
  CallAll({"later", "b"});
  At(seconds(3), [this] { answers_[0](absl::Cord("answered")); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("1012 b", "3001 answered"));
}

TEST_F(NetworkCrowdTest, WhoWaitsLosesItsConnectionWithTheProcess) {
  Limit(1);
  CallAll({"a", "b"});
  At(milliseconds(500), [this] { ps_.Kill(); });
  At(milliseconds(600), [this] { ps_.Boot(); });
  chief_.Spawn("late", [this] {
    world_.AdvanceBy(milliseconds(700));
    Call({.body = absl::Cord("c")});
  });
  chief_.Spawn("later", [this] {
    world_.AdvanceBy(milliseconds(701));
    Call({.body = absl::Cord("d")});
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("501 UNAVAILABLE Socket closed", "501 UNAVAILABLE Socket closed", "1702 c", "2702 d"));
  EXPECT_THAT(served_, ElementsAre("a", "c", "d"));
}

// At a point of the course a process may end while it sends an answer, and its handler goes on for a bit.
TEST_F(NetworkCrowdTest, AProcessThatEndsAsItAnswersCountsNoMore) {
  world_.course().At({.kind = FaultPoint::Kind::kSent, .n = 2}, [this] { ps_.KillSoon(); });
  CallAll({"a"});
  At(seconds(2), [this] { ps_.Boot(); });
  At(seconds(3), [this] { Limit(1); });
  for (const char* const body : {"b", "c"}) {
    chief_.Spawn(body, [this, body] {
      world_.AdvanceBy(seconds(4));
      Call({.body = absl::Cord(body)});
    });
  }
  Run();
  EXPECT_THAT(seen_, ElementsAre("1012 a", "5002 b", "6002 c"));
}

TEST_F(NetworkCrowdTest, BothOfARequestThatComesTwiceWaitForTheirTurn) {
  world_.network().AddRpcFault({.effect = RpcFault::Effect::kDuplicated, .call = 2});
  Limit(1);
  CallAll({"a", "b"});
  Run();
  EXPECT_THAT(seen_, ElementsAre("1012 a", "2012 b"));
  EXPECT_THAT(served_, ElementsAre("a", "b", "b"));
  EXPECT_EQ(world_.network().Crowded("ps:0"), 2);
}

TEST_F(NetworkCrowdTest, WhoWaitsAtAProcessThatStandsStillBeginsWhenItGoesOn) {
  Limit(1);
  CallAll({"a", "b"});
  At(milliseconds(500), [this] { ps_.Pause(); });
  At(milliseconds(600), [this] { Limit(0); });
  At(milliseconds(3000), [this] { ps_.Resume(); });
  Run();
  EXPECT_THAT(seen_, testing::UnorderedElementsAre("3001 a", "4001 b"));
}

TEST_F(NetworkCrowdTest, ACutEndsTheWaitOfWhoIsBehindIt) {
  Limit(1);
  CallAll({"a", "b"});
  At(milliseconds(500), [this] { world_.network().Reset("chief:0", "ps:0"); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("500 UNAVAILABLE recvmsg: Connection reset by peer",
                                 "500 UNAVAILABLE recvmsg: Connection reset by peer"));
  EXPECT_THAT(served_, ElementsAre("a"));
}

}  // namespace
}  // namespace vigil::sim
