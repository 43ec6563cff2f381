#include "vigil/replays/show/causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace vigil::replays {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using Kind = Cause::Kind;
using Message = sim::LoggedMessage;

// "run" of a session that came back with that code.
Event RunReturned(Code code) {
  return {
      .kind = EventKind::kSessionCall, .code = code, .call = static_cast<std::uint8_t>(CallKind::kRun), .session = 1};
}

class PlayedByHand {
 public:
  PlayedByHand& Life(seconds at, const std::string& node) {
    played.history.push_back(
        {.at = played.start + at, .task = node, .life = 1, .kind = sim::JobMoment::Kind::kStarted});
    return *this;
  }
  PlayedByHand& Emits(seconds at, const std::string& node, const Event& event) {
    played.trace.Append(played.trace.AddNode(node), played.trace.AddTask(node + "/main"), played.start + at, event);
    return *this;
  }
  PlayedByHand& Fault(seconds at, sim::FaultApplier::Entry::What what, const std::string& text, const std::string& task,
                      const std::string& peer = "") {
    played.faults.push_back({at, text, what, task, peer});
    return *this;
  }
  PlayedByHand& Goes(seconds at, Message::Kind kind, const std::string& from, const std::string& to) {
    played.message_log.messages.push_back({kind, from, to, "RunStep", 1, at, at});
    return *this;
  }
  std::vector<std::string> Why(std::string_view text) const {
    CauseGraph graph = CausesOf(scenario, played);
    return ChainText(graph, WalkBack(graph, AddViolation("a.rule", text, graph)));
  }

  Scenario scenario;
  Played played;
};

using What = sim::FaultApplier::Entry::What;

PlayedByHand ACrashThatIsMet() {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Life(seconds(0), "ps:0").Emits(seconds(1), "chief:0", RunReturned(Code::kOk));
  job.Fault(seconds(2), What::kCrash, "crash ps:0", "ps:0").Goes(seconds(3), Message::Kind::kClosed, "ps:0", "chief:0");
  job.Emits(seconds(3), "chief:0", RunReturned(Code::kUnavailable));
  job.Emits(seconds(3), "chief:0", {.kind = EventKind::kRecovery, .code = Code::kUnavailable, .session = 1});
  job.Emits(seconds(5), "chief:0", RunReturned(Code::kOk));
  return job;
}

TEST(CausalChain, LeadFromAFaultOverMessageErrorAndDecisionToTheViolation) {
  EXPECT_THAT(ACrashThatIsMet().Why("chief:0 (life 1) at 5.000 s: expected 1, seen 2"),
              ElementsAre("    2.000  fault      ps:0: crash ps:0",
                          "    3.000  message    chief:0: chief:0 is told that ps:0 is gone",
                          "    3.000  error      chief:0: session 1 run failed UNAVAILABLE",
                          "    3.000  decision   chief:0: recovery from UNAVAILABLE",
                          "    5.000  event      chief:0: session 1 run", "    5.000  violation  chief:0: a.rule"));
}

TEST(CausalChain, WhatIsLaterThanTheViolationIsNotInItsPast) {
  EXPECT_THAT(
      ACrashThatIsMet().Why("chief:0 (life 1) at 1.000 s: expected 1, seen 2"),
      ElementsAre("no fault that is noted with its time is in its past", "    1.000  violation  chief:0: a.rule"));
}

TEST(CausalChain, AFaultThatIsOverStrikesNoMessage) {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Fault(seconds(1), What::kBegins, "cut ps:0 from chief:0", "ps:0", "chief:0");
  job.Fault(seconds(2), What::kEnds, "ps:0 and chief:0 are as before", "ps:0", "chief:0");
  job.Emits(seconds(2), "chief:0", RunReturned(Code::kOk));
  job.Goes(seconds(3), Message::Kind::kReset, "ps:0", "chief:0");
  job.Emits(seconds(3), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_THAT(job.Why("chief:0: expected 1, seen 2"),
              ElementsAre("no fault that is noted with its time is in its past",
                          "    3.000  error      chief:0: session 1 run failed UNAVAILABLE",
                          "    3.000  violation  chief:0: a.rule"));
}

TEST(CausalChain, ALinksFaultStrikesNobodyElse) {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Fault(seconds(1), What::kBegins, "cut ps:0 from worker:0", "ps:0", "worker:0");
  job.Goes(seconds(3), Message::Kind::kReset, "ps:0", "chief:0");
  job.Emits(seconds(3), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_EQ(job.Why("chief:0: expected 1, seen 2").front(), "no fault that is noted with its time is in its past");
}

TEST(CausalChain, WhatStrikesWhileACallWaitsIsInItsPastWithoutAMessage) {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Emits(seconds(1), "chief:0", RunReturned(Code::kOk));
  job.Fault(seconds(2), What::kBegins, "cut chief:0 from ps:0", "chief:0", "ps:0");
  job.Emits(seconds(2), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_EQ(job.Why("chief:0: expected 1, seen 2").front(), "    2.000  fault      chief:0: cut chief:0 from ps:0");
}

TEST(CausalChain, OfASessionAreTheFaultsOfItsCalls) {
  PlayedByHand session;
  session.scenario.faults = {{.at = FaultPoint::kRun, .calls = {2}, .code = Code::kAborted}};
  session.Emits(seconds(0), "", RunReturned(Code::kOk)).Emits(seconds(1), "", RunReturned(Code::kAborted));
  session.Emits(seconds(1), "", {.kind = EventKind::kRecovery, .code = Code::kAborted, .session = 1});
  CauseGraph graph = CausesOf(session.scenario, session.played);
  const CauseChain chain = WalkBack(graph, AddViolation("a.rule", 2, graph));
  std::vector<Kind> kinds;
  for (const std::size_t cause : chain.causes) kinds.push_back(graph.causes[cause].kind);
  EXPECT_THAT(kinds, ElementsAre(Kind::kFault, Kind::kError, Kind::kDecision, Kind::kViolation));
}

TEST(CausalChain, ALongChainLosesItsMiddle) {
  CauseGraph graph;
  graph.causes.push_back({.kind = Kind::kFault});
  for (std::size_t i = 1; i < 30; ++i)
    graph.causes.push_back({.kind = Kind::kDecision, .at = seconds(i), .past = {i - 1}});
  const CauseChain chain = WalkBack(graph, 29, 4);
  EXPECT_THAT(chain.causes, ElementsAre(0, 1, 28, 29));
  EXPECT_EQ(chain.left_out, 26U);
  EXPECT_EQ(ChainText(graph, chain)[2], "... 26 left out");
}

}  // namespace
}  // namespace vigil::replays
