// What a caller meets when links are cut, silent, slow or lossy, when a process stands still, and when requests are
// struck.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "vigil/core/env/notification.h"
#include "vigil/sim/network.h"
#include "vigil/sim/network_testing.h"

namespace vigil::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class NetworkFaultTest : public NetworkTest {
 protected:
  NetworkFaultTest() {
    Serve([this](IncomingCall& call) -> NetworkReply {
      ++served_;
      if (call.body() == "block") world_.AdvanceBy(seconds(5));
      if (call.cancelled()) seen_.push_back("told");
      return call.body();
    });
  }
  // Between chief and parameter server, both ways or only there.
  void Trouble(LinkTrouble& trouble, Duration from, Duration to, bool one_way = false) {
    At(from, [this, &trouble, one_way] {
      world_.network().Begin(trouble, "chief:0", "ps:0");
      if (!one_way) world_.network().Begin(trouble, "ps:0", "chief:0");
    });
    At(to, [this, &trouble] { world_.network().End(trouble); });
  }
  int served_ = 0;
};

TEST_F(NetworkFaultTest, ACutBreaksOpenCallsAndRefusesNewOnes) {
  LinkTrouble cut{.kind = LinkTrouble::Kind::kCut};
  Trouble(cut, milliseconds(20), milliseconds(100));
  Chief([&] {
    Call({.body = absl::Cord("block")});
    Call({.body = absl::Cord("refused")});
    world_.AdvanceBy(milliseconds(100));
    Call({.body = absl::Cord("too soon")});  // the next attempt to connect is a second after the first
    world_.AdvanceBy(seconds(1));
    Call({.body = absl::Cord("again")});
    world_.AdvanceBy(seconds(10));
  });
  Run();
  EXPECT_THAT(seen_, UnorderedElementsAre("20 UNAVAILABLE recvmsg: Connection reset by peer",
                                          HasSubstr("21 UNAVAILABLE failed to"),
                                          "122 UNAVAILABLE connections to all backends failing", "1124 again", "told"));
  EXPECT_EQ(cut.effects, 2);
}

TEST_F(NetworkFaultTest, WhoWaitsForAConnectionGetsTheNextOneAfterTheCut) {
  LinkTrouble cut{.kind = LinkTrouble::Kind::kCut};
  Trouble(cut, milliseconds(5), milliseconds(100));
  Chief([&] {
    Call({.body = absl::Cord("late"),
          .deadline = DeadlineAfter(chief_.env(), milliseconds(500)),
          .wait_for_ready = true});
    Call({.body = absl::Cord("waits"), .wait_for_ready = true});
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("510 DEADLINE_EXCEEDED Deadline Exceeded", "1012 waits"));
  EXPECT_EQ(served_, 1);
}

TEST_F(NetworkFaultTest, WhoWaitsForAConnectionGetsOneOnceSomebodyServes) {
  At(milliseconds(5), [this] { ps_.Kill(); });
  At(milliseconds(2500), [this] { ps_.Boot(); });
  At(milliseconds(5000), [this] { ps_.Kill(); });
  Chief([&] {
    Call({.body = absl::Cord("refused")});
    Call({.body = absl::Cord("waits"), .wait_for_ready = true});  // tried again about every second
    world_.AdvanceBy(seconds(1));
    Call({.body = absl::Cord("block"), .wait_for_ready = true});
    Call({.body = absl::Cord("breaks"), .wait_for_ready = true});
    world_.AdvanceBy(seconds(10));
  });
  Run(seconds(20));
  EXPECT_THAT(seen_, ElementsAre(HasSubstr("11 UNAVAILABLE"), "3013 waits", HasSubstr("UNAVAILABLE Socket closed")));
}

TEST_F(NetworkFaultTest, WhoHasWaitedForAConnectionLosesItWithTheServer) {
  At(milliseconds(5), [this] { ps_.Kill(); });
  At(milliseconds(500), [this] { ps_.Boot(); });
  At(milliseconds(900), [this] { ps_.Pause(); });  // it has the request, and never takes it
  At(milliseconds(2000), [this] { ps_.Kill(); });
  Chief([&] { Call({.body = absl::Cord("waits"), .wait_for_ready = true}); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("2001 UNAVAILABLE Socket closed"));
}

TEST_F(NetworkFaultTest, WhoWaitsForAConnectionIsNotHeldByAProcessThatServesNobodyYet) {
  At(milliseconds(5), [this] { ps_.Kill(); });
  At(milliseconds(400), [this] {
    ps_.Boot();
    ps_.Pause();  // before it comes to serve
  });
  At(milliseconds(1500), [this] { ps_.Kill(); });
  At(milliseconds(1900), [this] { ps_.Boot(); });
  Chief([&] { Call({.body = absl::Cord("waits"), .wait_for_ready = true}); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("2012 waits"));
}

TEST_F(NetworkFaultTest, AConnectionThatNobodyWantedDuringTheCutIsBackAtOnce) {
  LinkTrouble cut{.kind = LinkTrouble::Kind::kCut};
  Trouble(cut, milliseconds(20), milliseconds(100));
  Chief([&] {
    world_.AdvanceBy(milliseconds(110));
    Call({.body = absl::Cord("first")});
    world_.AdvanceBy(seconds(2));
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("122 first"));
  EXPECT_EQ(cut.effects, 0);
}

TEST_F(NetworkFaultTest, AConnectionThatCameBackUnnoticedBreaksAnewWithTheNextCut) {
  LinkTrouble first{.kind = LinkTrouble::Kind::kCut};
  LinkTrouble second{.kind = LinkTrouble::Kind::kCut};
  Trouble(first, milliseconds(20), milliseconds(100));
  Trouble(second, milliseconds(3100), milliseconds(3200));
  Chief([&] {
    world_.AdvanceBy(milliseconds(30));
    Call({.body = absl::Cord("refused")});
    world_.AdvanceBy(milliseconds(3200));
    Call({.body = absl::Cord("back")});  // tried again after the first cut, not wanted during the second one
    world_.AdvanceBy(seconds(2));
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre(HasSubstr("41 UNAVAILABLE failed to"), "3243 back"));
}

TEST_F(NetworkFaultTest, WhatIsUnderWayIsGoneWithTheConnection) {
  LinkTrouble cut{.kind = LinkTrouble::Kind::kCut};
  Trouble(cut, milliseconds(10) + microseconds(500), milliseconds(10) + microseconds(600));
  Chief([&] {
    Call({.body = absl::Cord("lost")});
    world_.AdvanceBy(seconds(2));
    Call({.body = absl::Cord("next")});
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre(HasSubstr("10 UNAVAILABLE"), "2012 next"));
  EXPECT_EQ(served_, 1);
}

TEST_F(NetworkFaultTest, MessagesWaitForTheEndOfASilence) {
  LinkTrouble silence{.kind = LinkTrouble::Kind::kSilent};
  Trouble(silence, milliseconds(5), milliseconds(100), true);
  Chief([&] {
    for (const std::string body : {"a", "b"}) {
      chief_.env().network->Start({.to = "ps:1", .method = "m", .body = absl::Cord(body)},
                                  [this](NetworkReply r) { Note("", r); });
      world_.AdvanceBy(milliseconds(10));
    }
    world_.AdvanceBy(seconds(1));
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("101 a", "101 b"));
  EXPECT_EQ(silence.effects, 2);
}

TEST_F(NetworkFaultTest, DeadlineAndKeepaliveEndTheWaitInASilence) {
  LinkTrouble silence{.kind = LinkTrouble::Kind::kSilent};
  Trouble(silence, milliseconds(5), seconds(60));
  Chief([&] {
    Call({.deadline = Time{seconds(2)}});
    Call({.keepalive = seconds(20)});
    world_.AdvanceBy(seconds(60));
    Call({.body = absl::Cord("again"), .keepalive = seconds(20)});
    EXPECT_EQ(served_, 3);  // the others have arrived, too, although nobody waits for them any more
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("2000 DEADLINE_EXCEEDED Deadline Exceeded",
                                 "22000 UNAVAILABLE keepalive watchdog timeout", "told", "told", "82002 again"));
}

TEST_F(NetworkFaultTest, AShortSilenceDoesNotStrikeTheKeepalive) {
  LinkTrouble silence{.kind = LinkTrouble::Kind::kSilent};
  Trouble(silence, milliseconds(12), seconds(3));
  Chief([&] { Call({.body = absl::Cord("block"), .keepalive = seconds(4)}); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("5012 block"));
}

TEST_F(NetworkFaultTest, ASilentLinkHidesTheDeathOfThePeer) {
  LinkTrouble silence{.kind = LinkTrouble::Kind::kSilent};
  Trouble(silence, milliseconds(15), seconds(3));
  At(milliseconds(20), [&] { ps_.Kill(); });
  Chief([&] { Call({.body = absl::Cord("block")}); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("3000 UNAVAILABLE Socket closed"));
}

TEST_F(NetworkFaultTest, ASlowLink) {
  LinkTrouble slow{.kind = LinkTrouble::Kind::kSlow, .by = milliseconds(100)};
  Trouble(slow, milliseconds(5), seconds(1));
  Chief([&] { Call({.body = absl::Cord("x")}); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("212 x"));
  EXPECT_EQ(slow.effects, 2);
}

TEST_F(NetworkFaultTest, APausedServerAnswersLater) {
  At(milliseconds(11) + microseconds(500), [&] { ps_.Pause(); });
  At(seconds(3), [&] { ps_.Resume(); });
  Chief([&] {
    chief_.env().network->Start({.to = "ps:1", .method = "m", .body = absl::Cord("block")},
                                [this](NetworkReply r) { Note("", r); });
    world_.AdvanceBy(milliseconds(5));
    Call({.body = absl::Cord("late")});
    world_.AdvanceBy(seconds(9));
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("3001 late", "5012 block"));
  EXPECT_EQ(ps_.held_by_pauses(), 1);
}

TEST_F(NetworkFaultTest, AHandlerOfAPausedServerGoesOnLater) {
  At(seconds(3), [&] { ps_.Pause(); });
  At(seconds(8), [&] { ps_.Resume(); });
  Chief([&] { Call({.body = absl::Cord("block")}); });
  Run();
  EXPECT_THAT(seen_, ElementsAre("8001 block"));
  EXPECT_EQ(ps_.held_by_pauses(), 1);
}

TEST_F(NetworkFaultTest, APausedServerMeetsTheKeepalive) {
  At(milliseconds(15), [&] { ps_.Pause(); });
  Chief([&] {
    Call({.body = absl::Cord("block"), .keepalive = seconds(2)});
    Call({.body = absl::Cord("new"), .keepalive = seconds(2)});
  });
  Run();
  EXPECT_THAT(
      seen_, ElementsAre("2015 UNAVAILABLE keepalive watchdog timeout", "4015 UNAVAILABLE keepalive watchdog timeout"));
}

TEST_F(NetworkFaultTest, APausedCallerHearsLater) {
  At(milliseconds(11), [&] { chief_.Pause(); });
  At(seconds(3), [&] { chief_.Resume(); });
  Chief([&] {
    chief_.env().network->Start(
        {.to = "ps:1", .method = "m", .body = absl::Cord("block"), .deadline = Time{seconds(1)}},
        [this](NetworkReply reply) { Note("", reply); });
    Call({.body = absl::Cord("x")});
    world_.AdvanceBy(seconds(9));
  });
  Run();
  EXPECT_THAT(seen_, UnorderedElementsAre("3000 x", "3000 DEADLINE_EXCEEDED Deadline Exceeded", "told"));
  EXPECT_FALSE(chief_.paused());
}

TEST_F(NetworkFaultTest, APausedProcessDies) {
  At(milliseconds(15), [&] { ps_.Pause(); });
  At(milliseconds(30), [&] { ps_.Kill(); });
  At(milliseconds(50), [&] { ps_.Boot(); });
  Chief([&] {
    chief_.env().network->Start({.to = "ps:1", .method = "m", .body = absl::Cord("block")},
                                [this](NetworkReply r) { Note("", r); });
    world_.AdvanceBy(milliseconds(10));
    Call({.body = absl::Cord("never arrives")});
    world_.AdvanceBy(milliseconds(100));
    Call({.body = absl::Cord("again")});
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("31 UNAVAILABLE Socket closed", "31 UNAVAILABLE Socket closed", "133 again"));
}

TEST_F(NetworkFaultTest, EffectsOfThePlan) {
  using Effect = RpcFault::Effect;
  SimNetwork& network = world_.network();
  const auto add = [&](RpcFault fault) -> RpcFaultState& {
    fault.method = "Do";
    return network.AddRpcFault(fault);
  };
  RpcFaultState& error = add({.effect = Effect::kError, .call = 1, .code = Code::kAborted});
  RpcFaultState& request = add({.effect = Effect::kLostRequest, .call = 2});
  RpcFaultState& reply = add({.effect = Effect::kLostReply, .from = "chief:0", .to = "ps:0", .call = 3});
  RpcFaultState& never = add({.effect = Effect::kNeverAnswered, .call = 4});
  RpcFaultState& delayed = add({.effect = Effect::kDelayed, .call = 5, .by = milliseconds(100)});
  RpcFaultState& twice = add({.effect = Effect::kDuplicated, .call = 6});
  RpcFaultState& reset = add({.effect = Effect::kReset, .call = 7});
  RpcFaultState& other = add({.effect = Effect::kError, .from = "worker:0", .call = 0});
  std::vector<int> served;
  Chief([&] {
    for (int i = 0; i < 8; ++i) {
      Call({.body = absl::Cord("x"), .deadline = i == 3 ? Time{seconds(1)} : kNever});
      world_.AdvanceBy(milliseconds(i == 5 ? 10 : 0));
      served.push_back(served_);
    }
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("12 ABORTED Do refused by plan", "13 UNAVAILABLE Socket closed",
                                 "15 UNAVAILABLE Socket closed", "1000 DEADLINE_EXCEEDED Deadline Exceeded", "1102 x",
                                 "1104 x", "1115 UNAVAILABLE recvmsg: Connection reset by peer", "1117 x"));
  EXPECT_THAT(served, ElementsAre(0, 0, 1, 2, 3, 5, 5, 6));
  for (const RpcFaultState* const state : {&error, &request, &reply, &never, &delayed, &twice, &reset}) {
    EXPECT_EQ(state->matched, 8);
    EXPECT_EQ(state->fired, 1);
    EXPECT_EQ(state->effective, 1);
  }
  EXPECT_EQ(other.matched, 0);
}

TEST_F(NetworkTest, WhatWasDamagedIsNoticedBeforeAnybodyReadsIt) {
  std::vector<std::string> served;
  Serve([&served](IncomingCall& call) -> NetworkReply {
    served.push_back(call.method() + " " + std::string(call.body()));
    return absl::Cord("answer");
  });
  RpcFaultState& damaged =
      world_.network().AddRpcFault({.effect = RpcFault::Effect::kDamaged, .method = "Damaged", .call = 0});
  Chief([&] {
    Call({.method = "Damaged", .body = absl::Cord("request")});
    Call({.method = "Damaged",
          .body = absl::Cord("")});  // nothing of which a bit could be another one: so it is the answer
    Call({.method = "Sound", .body = absl::Cord("request")});
  });
  Run();
  EXPECT_THAT(seen_,
              ElementsAre("12 UNAVAILABLE a message was damaged on its way: its checksum does not match",
                          "14 UNAVAILABLE a message was damaged on its way: its checksum does not match", "16 answer"));
  EXPECT_THAT(served, ElementsAre("Damaged ", "Sound request"));
  EXPECT_EQ(damaged.fired, 2);
  EXPECT_EQ(damaged.effective, 2);
  EXPECT_EQ(world_.network().Unheard().size(), 1U);
}

TEST_F(NetworkFaultTest, WhatNoHandlerEverGotIsKnown) {
  using Effect = RpcFault::Effect;
  SimNetwork& network = world_.network();
  network.AddRpcFault({.effect = Effect::kError, .method = "Refused", .call = 0});
  network.AddRpcFault({.effect = Effect::kLostRequest, .method = "Lost", .call = 0});
  network.AddRpcFault({.effect = Effect::kDelayed, .method = "Late", .call = 0, .by = seconds(20)});
  network.AddRpcFault({.effect = Effect::kDelayed, .method = "InTime", .call = 0, .by = seconds(5)});
  network.AddRpcFault({.effect = Effect::kLostReply, .method = "Answered", .call = 0});
  LinkTrouble cut{.kind = LinkTrouble::Kind::kCut};
  Trouble(cut, seconds(40), seconds(41));
  At(seconds(60), [this] { ps_.Kill(); });
  Chief([&] {
    for (const char* method : {"InTime", "Answered", "Refused", "Lost", "Late"})
      Call({.method = std::string("/vigil.Test/") + method, .deadline = Time{seconds(15)}});
    Call({.method = "/vigil.Test/TooLateToSend", .deadline = Time{seconds(15)}});
    world_.AdvanceBy(seconds(40) + milliseconds(500) - world_.scheduler().now());
    Call({.method = "/vigil.Test/Cut"});
    world_.AdvanceBy(seconds(61) - world_.scheduler().now());
    Call({.method = "/vigil.Test/NobodyIsThere"});
  });
  Run();
  std::vector<std::string> unheard;
  for (const UnheardRequest& request : network.Unheard()) {
    EXPECT_EQ(request.to, "ps:0");
    unheard.push_back(request.method.substr(12) + (request.sent < seconds(15) ? "" : " later"));
  }
  EXPECT_THAT(unheard, UnorderedElementsAre("Refused", "Lost", "Late", "Cut later"));
}

TEST_F(NetworkFaultTest, CalmEndsWhatWouldHangForEver) {
  world_.network().AddRpcFault({.effect = RpcFault::Effect::kNeverAnswered, .call = 0});
  At(seconds(50), [&] { world_.network().Calm(); });
  Chief([&] {
    Call({.body = absl::Cord("x")});
    Call({.body = absl::Cord("y")});
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("50000 UNAVAILABLE Socket closed", "50002 y"));
}

TEST_F(NetworkFaultTest, LinksThatLoseRepeatAndReorder) {
  LinkSpec bad;
  bad.least_latency = bad.most_latency = milliseconds(1);
  bad.loss = bad.duplication = bad.reordering = 0.2;
  RandomChooser chooser(3);
  World world({.chooser = &chooser});
  world.network().SetLinks(bad, {});
  Node& ps = world.AddNode("ps:0");
  Node& chief = world.AddNode("chief:0");
  int served = 0;
  int answered = 0;
  int failed = 0;
  ps.Spawn("main", [&] {
    const auto listener = ps.env().network->Listen("ps:1", [&](IncomingCall&) -> NetworkReply {
      ++served;
      return absl::Cord();
    });
    world.AdvanceBy(seconds(1000));
  });
  chief.Spawn("main", [&] {
    for (int i = 0; i < 200; ++i) {
      chief.env().network->Start({.to = "ps:1", .method = "m"},
                                 [&](NetworkReply reply) { ++(reply.ok() ? answered : failed); });
      world.AdvanceBy(seconds(1));
    }
    world.AdvanceBy(seconds(20));
  });
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_EQ(answered + failed, 200);
  const NetworkCounts& counts = world.network().counts();
  EXPECT_GT(failed, 20);
  EXPECT_GT(counts.lost, 40);
  EXPECT_GT(counts.duplicated, 20);
  EXPECT_GT(counts.reordered, 40);
  EXPECT_GT(served, 160);
}

// Requests of many latencies; the server sees them as they were sent, unless some are held up.
TEST(NetworkOrder, OneLinkKeepsItUnlessReorderingIsDrawn) {
  for (const double reordering : {0.0, 0.3}) {
    // Tasks that become ready at one moment run in the order in which they did.
    class NetworkOnly final : public Chooser {
      std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view> labels) override {
        return point.key.starts_with("net/") ? random_.Choose(point, labels) : 0;
      }
      RandomChooser random_{3};
    } chooser;
    World world({.chooser = &chooser});
    LinkSpec wide;
    wide.least_latency = milliseconds(1);
    wide.most_latency = milliseconds(200);
    wide.reordering = reordering;
    world.network().SetLinks(wide, {});
    Node& ps = world.AddNode("ps:0");
    Node& chief = world.AddNode("chief:0");
    std::vector<std::string> arrived;
    std::vector<std::string> sent;
    ps.Spawn("main", [&] {
      const auto listener = ps.env().network->Listen("ps:1", [&](IncomingCall& call) -> NetworkReply {
        arrived.emplace_back(call.body());
        return absl::Cord();
      });
      world.AdvanceBy(seconds(10));
    });
    chief.Spawn("main", [&] {
      for (int i = 0; i < 50; ++i) {
        world.AdvanceBy(milliseconds(10));
        sent.push_back(std::to_string(i));
        chief.env().network->Start({.to = "ps:1", .method = "m", .body = absl::Cord(sent.back())}, [](NetworkReply) {});
      }
    });
    EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
    EXPECT_GT(world.network().counts().late, 20);
    EXPECT_EQ(arrived.size(), sent.size());
    EXPECT_EQ(arrived == sent, reordering == 0);
  }
}

// Holds up the second message of the chief: that its process is gone. The first request of the next process overtakes
// it.
TEST(NetworkOrder, TheEndOfAProcessIsNoneOfTheNext) {
  class SecondIsLate final : public Chooser {
    std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view>) override {
      return point.key == "net/chief:0>ps:0/order" && point.count == 1 ? 1 : 0;
    }
  } chooser;
  World world({.chooser = &chooser});
  LinkSpec link;
  link.least_latency = link.most_latency = milliseconds(1);
  link.reordering = 0.5;
  world.network().SetLinks(link, {});
  Node& ps = world.AddNode("ps:0");
  Node& chief = world.AddNode("chief:0");
  std::vector<std::string> told;
  ps.Spawn("main", [&] {
    const auto listener = ps.env().network->Listen("ps:1", [&](IncomingCall& call) -> NetworkReply {
      world.AdvanceBy(seconds(1));
      told.push_back(std::string(call.body()) + (call.cancelled() ? " told" : " not told"));
      return absl::Cord();
    });
    world.AdvanceBy(seconds(10));
  });
  const auto call = [&](const std::string& body) {
    chief.Spawn("main", [&chief, body] {
      CallAndWait(chief.env(), {.to = "ps:1", .method = "m", .body = absl::Cord(body)}).status().IgnoreError();
    });
  };
  call("old");
  Alarm kill(world.scheduler(), [&] { chief.Kill(); });
  kill.SetAt(milliseconds(100));
  Alarm again(world.scheduler(), [&] {
    chief.Restart();
    call("new");
  });
  again.SetAt(milliseconds(101));
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_THAT(told, ElementsAre("old told", "new not told"));
}

// Messages come from a pool: that one told of the end of a listener is none of the next one's.
TEST(NetworkOrder, TheEndOfAProcessIsToldAfterThatOfAListener) {
  World world({});
  LinkSpec link;
  link.least_latency = link.most_latency = milliseconds(1);
  world.network().SetLinks(link, {});
  Node& ps = world.AddNode("ps:0");
  Node& chief = world.AddNode("chief:0");
  bool told = false;
  const RequestHandler stands = [&](IncomingCall& call) -> NetworkReply {
    world.AdvanceBy(seconds(1));
    told = call.cancelled();
    return absl::Cord();
  };
  ps.Spawn("main", [&] {
    auto listener = ps.env().network->Listen("ps:1", stands);
    world.AdvanceBy(milliseconds(10));
    *listener = nullptr;
    world.AdvanceBy(milliseconds(10));
    listener = ps.env().network->Listen("ps:1", stands);
    world.AdvanceBy(seconds(10));
  });
  chief.Spawn("main", [&] {
    CallAndWait(chief.env(), {.to = "ps:1", .method = "m"}).status().IgnoreError();
    world.AdvanceBy(milliseconds(20));
    CallAndWait(chief.env(), {.to = "ps:1", .method = "m"}).status().IgnoreError();
  });
  Alarm kill(world.scheduler(), [&] {
    told = false;
    chief.Kill();
  });
  kill.SetAt(milliseconds(100));
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_TRUE(told);
}

// The request is held up, and its process ends meanwhile.
TEST(NetworkOrder, TheEndOfAProcessOvertakesNothingThatItSent) {
  class FirstIsLate final : public Chooser {
    std::size_t Choose(const ChoicePoint& point, std::span<const std::string_view>) override {
      return point.key == "net/chief:0>ps:0/order" && point.count == 0 ? 1 : 0;
    }
  } chooser;
  World world({.chooser = &chooser});
  LinkSpec link;
  link.least_latency = link.most_latency = milliseconds(10);
  link.reordering = 0.5;
  world.network().SetLinks(link, {});
  Node& ps = world.AddNode("ps:0");
  Node& chief = world.AddNode("chief:0");
  std::vector<bool> told;
  ps.Spawn("main", [&] {
    const auto listener = ps.env().network->Listen("ps:1", [&](IncomingCall& call) -> NetworkReply {
      world.AdvanceBy(seconds(1));
      told.push_back(call.cancelled());
      return absl::Cord();
    });
    world.AdvanceBy(seconds(10));
  });
  chief.Spawn("main", [&] { CallAndWait(chief.env(), {.to = "ps:1", .method = "m"}).status().IgnoreError(); });
  Alarm kill(world.scheduler(), [&] { chief.Kill(); });
  kill.SetAt(milliseconds(1));
  EXPECT_EQ(world.Run().verdict, WorldVerdict::kDone);
  EXPECT_EQ(world.network().counts().reordered, 1);
  EXPECT_THAT(told, ElementsAre(true));
}

TEST_F(NetworkFaultTest, BytesTakeTimeOnASlowLine) {
  LinkSpec slow;
  slow.least_latency = slow.most_latency = milliseconds(1);
  slow.bytes_per_s = 1000;
  world_.network().SetLinks({.least_latency = milliseconds(1), .most_latency = milliseconds(1)},
                            {{"chief:0>ps:0", slow}});
  Chief([&] {
    for (int i = 0; i < 2; ++i) {
      chief_.env().network->Start({.to = "ps:1", .method = "m", .body = absl::Cord(std::string(100, 'x'))},
                                  [this](NetworkReply reply) { Note("", absl::Cord(reply.ok() ? "ok" : "failed")); });
    }
    world_.AdvanceBy(seconds(1));
  });
  Run();
  EXPECT_THAT(seen_, ElementsAre("112 ok", "212 ok"));
}

}  // namespace
}  // namespace vigil::sim
