// Which messages the network says were sent, and which arrived.
#include "vigil/sim/message_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "vigil/sim/kernel/chooser.h"
#include "vigil/sim/network_testing.h"

namespace vigil::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

// "request chief:0>ps:0 10 11", in milliseconds; "lost" if it never arrived.
std::vector<std::string> LoggedTexts(const MessageLog& log) {
  constexpr const char* kNames[] = {"request", "reply", "refusal", "cancel", "closed", "reset"};
  std::vector<std::string> texts;
  for (const LoggedMessage& message : log.messages) {
    texts.push_back(std::string(kNames[static_cast<int>(message.kind)]) + " " + message.from + ">" + message.to + " " +
                    std::to_string(message.sent / milliseconds(1)) + " " +
                    (message.arrived.has_value() ? std::to_string(*message.arrived / milliseconds(1)) : "lost"));
  }
  return texts;
}

class MessageLogTest : public NetworkTest {
 protected:
  MessageLogTest() {
    world_.network().LogTo(&log_);
    Serve([](IncomingCall&) -> NetworkReply { return absl::Cord("x"); });
  }
  // Leaves out what processes say at the end of the world.
  std::vector<std::string> RunAndStopLogging() {
    At(seconds(50), [this] { world_.network().LogTo(nullptr); });
    Run();
    return LoggedTexts(log_);
  }

  MessageLog log_;
};

TEST_F(MessageLogTest, ACallIsARequestAndAReply) {
  Chief([&] { Call({.method = "/vigil.Test/Do"}); });
  EXPECT_THAT(RunAndStopLogging(), ElementsAre("request chief:0>ps:0 10 11", "reply ps:0>chief:0 11 12"));
  EXPECT_EQ(log_.messages[0].method, "/vigil.Test/Do");
  EXPECT_EQ(log_.messages[0].call, log_.messages[1].call);
}

TEST_F(MessageLogTest, WhatIsUnderWayWhenALinkIsCutNeverArrives) {
  LinkTrouble cut;
  At(milliseconds(10) + std::chrono::microseconds(500), [&] { world_.network().Begin(cut, "chief:0", "ps:0"); });
  Chief([&] { Call({}); });
  EXPECT_THAT(RunAndStopLogging(), ElementsAre("request chief:0>ps:0 10 lost"));
}

TEST_F(MessageLogTest, ARequestToNobodyIsARefusal) {
  world_.network().NameAddress("ps:2", "ps:0");
  Chief([&] { EXPECT_FALSE(CallAndWait(chief_.env(), {.to = "ps:2", .method = "m"}).ok()); });
  EXPECT_THAT(RunAndStopLogging(), ElementsAre("refusal chief:0>ps:0 10 11"));
}

TEST_F(MessageLogTest, AnErrorOfThePlanComesBackAsAReply) {
  RpcFault fault;
  fault.effect = RpcFault::Effect::kError;
  fault.code = Code::kUnavailable;
  world_.network().AddRpcFault(fault);
  Chief([&] { Call({}); });
  EXPECT_THAT(RunAndStopLogging(), ElementsAre("request chief:0>ps:0 10 11", "reply ps:0>chief:0 11 12"));
}

TEST_F(MessageLogTest, ARequestThatIsStruckNamesItsFault) {
  world_.network().AddRpcFault({.effect = RpcFault::Effect::kError, .method = "Other"});
  world_.network().AddRpcFault({.effect = RpcFault::Effect::kDuplicated, .method = "Do", .call = 2});
  Chief([&] {
    Call({.method = "/vigil.Test/Do"});
    Call({.method = "/vigil.Test/Do"});
  });
  RunAndStopLogging();
  std::vector<std::optional<std::size_t>> faults;
  for (const LoggedMessage& message : log_.messages) {
    if (message.kind == LoggedMessage::Kind::kRequest) faults.push_back(message.fault);
  }
  EXPECT_THAT(faults, ElementsAre(std::nullopt, 1U, std::nullopt));  // the third is the second once more
}

TEST_F(MessageLogTest, OfANodeThatCallsItselfNothing) {
  Chief([&] {
    const auto own = chief_.env().network->Listen("own", [](IncomingCall&) -> NetworkReply { return absl::Cord("x"); });
    EXPECT_EQ(Text(CallAndWait(chief_.env(), {.to = "own", .method = "m"})), "x");
  });
  EXPECT_THAT(RunAndStopLogging(), IsEmpty());
}

TEST_F(MessageLogTest, TheMemoryIsBounded) {
  log_.most = 3;
  Chief([&] {
    for (int i = 0; i < 4; ++i) Call({});
  });
  RunAndStopLogging();
  EXPECT_EQ(log_.messages.size(), 3U);
  EXPECT_EQ(log_.left_out, 5U);
}

TEST(MessageLogOfABadLinkTest, WhatGetsLostNeverArrives) {
  RandomChooser random(1);
  MessageLog log;
  World world({.chooser = &random});
  LinkSpec bad;
  bad.least_latency = bad.most_latency = milliseconds(1);
  bad.loss = 1;
  world.network().SetLinks(bad, {});
  world.network().LogTo(&log);
  Node& ps = world.AddNode("ps:0");
  Node& chief = world.AddNode("chief:0");
  ps.Spawn("main", [&] {
    const auto listener =
        ps.env().network->Listen("ps:1", [](IncomingCall&) -> NetworkReply { return absl::Cord("x"); });
    ps.env().tasks->SleepUntil(DeadlineAfter(ps.env(), seconds(60)));
    world.network().LogTo(nullptr);
  });
  chief.Spawn("main", [&] {
    world.AdvanceBy(milliseconds(10));
    EXPECT_FALSE(CallAndWait(chief.env(), {.to = "ps:1", .method = "m"}).ok());
  });
  world.Run();
  ASSERT_FALSE(log.messages.empty());
  EXPECT_EQ(LoggedTexts(log).front(), "request chief:0>ps:0 10 lost");
}

}  // namespace
}  // namespace vigil::sim
