#include "vigil/replays/show/causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace vigil::replays {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
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
  // Of which fault of the plan the last one is.
  PlayedByHand& Is(std::size_t fault, sim::TimedFault::Kind kind) {
    played.faults.back().fault = fault;
    played.faults.back().kind = kind;
    return *this;
  }
  PlayedByHand& Goes(seconds at, Message::Kind kind, const std::string& from, const std::string& to,
                     std::uint64_t call = 1) {
    played.message_log.messages.push_back({kind, from, to, "RunStep", call, std::nullopt, at, at});
    return *this;
  }
  // What went last: that fault of the plan struck it.
  PlayedByHand& Struck(std::size_t fault) {
    played.message_log.messages.back().fault = fault;
    return *this;
  }
  std::vector<std::string> Why(std::string_view node, std::optional<Duration> at = std::nullopt,
                               std::string_view rule = "a.rule") const {
    CauseGraph graph = CausesOf(scenario, played);
    return ChainText(WalkBack(graph, AddViolation(rule, node, at, graph)));
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
  EXPECT_THAT(ACrashThatIsMet().Why("chief:0", seconds(5)),
              ElementsAre("    2.000  fault      ps:0: crash ps:0",
                          "    3.000  message    chief:0: chief:0 is told that ps:0 is gone",
                          "    3.000  error      chief:0: session 1 run failed UNAVAILABLE",
                          "    3.000  decision   chief:0: recovery from UNAVAILABLE",
                          "    5.000  event      chief:0: session 1 run", "    5.000  violation  chief:0: a.rule"));
}

TEST(CausalChain, WhatTookFilesIsInThePastOfWhatIsWrongWithThem) {
  PlayedByHand job = ACrashThatIsMet();
  job.Fault(seconds(4), What::kCrash, "crash worker:0", "worker:0");
  const std::vector<std::string> before = job.Why("chief:0", seconds(5), "checkpoint.a");
  EXPECT_EQ(before.front(), "    2.000  fault      ps:0: crash ps:0") << "neither has taken any";
  job.played.faults.front().takes_files = true;
  EXPECT_EQ(job.Why("chief:0", seconds(5), "checkpoint.a"), before) << "what it led to is told, too";
  job.played.faults.back().takes_files = true;
  EXPECT_THAT(
      job.Why("chief:0", seconds(5), "checkpoint.a"),
      ElementsAre("    4.000  fault      worker:0: crash worker:0", "    5.000  violation  chief:0: checkpoint.a"));
  EXPECT_EQ(job.Why("chief:0", seconds(5), "step.a").front(), before.front()) << "that is not about files";
  EXPECT_EQ(job.Why("chief:0", seconds(3), "checkpoint.a").front(), before.front()) << "it came later";
}

TEST(CausalChain, WhatIsLaterThanTheViolationIsNotInItsPast) {
  EXPECT_THAT(
      ACrashThatIsMet().Why("chief:0", seconds(1)),
      ElementsAre("no fault that is noted with its time is in its past", "    1.000  violation  chief:0: a.rule"));
}

TEST(CausalChain, WhereMessagesAreMissingItSaysSo) {
  PlayedByHand job = ACrashThatIsMet();
  job.played.message_log.left_out = 1;
  EXPECT_EQ(job.Why("chief:0", seconds(5)).front(),
            "messages after 3.000 s were too many to be kept: what came by them is missing here");
  EXPECT_EQ(job.Why("chief:0", seconds(3)).front(), "    2.000  fault      ps:0: crash ps:0");
}

TEST(CausalChain, AFaultThatIsOverStrikesNoMessage) {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Fault(seconds(1), What::kBegins, "cut ps:0 from chief:0", "ps:0", "chief:0");
  job.Fault(seconds(2), What::kEnds, "ps:0 and chief:0 are as before", "ps:0", "chief:0");
  job.Emits(seconds(2), "chief:0", RunReturned(Code::kOk));
  job.Goes(seconds(3), Message::Kind::kReset, "ps:0", "chief:0");
  job.Emits(seconds(3), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_THAT(job.Why("chief:0"), ElementsAre("no fault that is noted with its time is in its past",
                                              "    3.000  error      chief:0: session 1 run failed UNAVAILABLE",
                                              "    3.000  violation  chief:0: a.rule"));
}

TEST(CausalChain, OfAnErrorIsItsOwnAndNotThatOfAnOlderOne) {
  PlayedByHand job = ACrashThatIsMet();
  job.Fault(seconds(7), What::kBegins, "cut chief:0 and ps:0", "chief:0", "ps:0");
  job.Goes(seconds(8), Message::Kind::kRefusal, "chief:0", "ps:0");
  job.Emits(seconds(8), "chief:0", RunReturned(Code::kUnavailable));
  const CauseGraph graph = CausesOf(job.scenario, job.played);
  EXPECT_EQ(ChainText(WalkBack(graph, graph.of_events.back())).front(),
            "    7.000  fault      chief:0: cut chief:0 and ps:0");
}

TEST(CausalChain, AnotherFaultOfTheSameTaskEndsNone) {
  using Fault = sim::TimedFault::Kind;
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Fault(seconds(1), What::kBegins, "ps:0 is slow", "ps:0").Is(1, Fault::kSlowNode);
  job.Fault(seconds(2), What::kCrash, "crash ps:0", "ps:0");
  job.Fault(seconds(3), What::kEnds, "ps:0 is fast", "ps:0").Is(1, Fault::kSlowNode);
  job.Fault(seconds(3), What::kMoment, "the clock of ps:0 jumps", "ps:0");
  job.Fault(seconds(3), What::kMoment, "the files of all begin to fail", "");
  job.Emits(seconds(4), "chief:0", RunReturned(Code::kOk)).Goes(seconds(5), Message::Kind::kRefusal, "chief:0", "ps:0");
  job.Emits(seconds(5), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_EQ(job.Why("chief:0").front(), "    2.000  fault      ps:0: crash ps:0");
  job.Fault(seconds(4), What::kStarts, "ps:0 starts again", "ps:0");
  EXPECT_EQ(job.Why("chief:0").front(), "no fault that is noted with its time is in its past");
}

TEST(CausalChain, APauseIsOverWithItsProcess) {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Fault(seconds(1), What::kBegins, "pause ps:0", "ps:0");
  job.Is(1, sim::TimedFault::Kind::kPause).Fault(seconds(2), What::kCrash, "crash ps:0", "ps:0");
  job.Fault(seconds(3), What::kStarts, "ps:0 starts again", "ps:0");
  job.Emits(seconds(4), "chief:0", RunReturned(Code::kOk)).Goes(seconds(5), Message::Kind::kRefusal, "chief:0", "ps:0");
  job.Emits(seconds(5), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_EQ(job.Why("chief:0").front(), "no fault that is noted with its time is in its past");
}

TEST(CausalChain, ATaskIsTheSameOnItsNextMachine) {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Emits(seconds(1), "chief:0", RunReturned(Code::kOk));
  job.Fault(seconds(2), What::kCrash, "crash chief:0", "chief:0");
  job.Fault(seconds(3), What::kStarts, "chief:0~2 starts on another machine", "chief:0");
  job.played.faults.back().machine = "chief:0~2";
  job.Life(seconds(3), "chief:0").Emits(seconds(4), "chief:0~2", RunReturned(Code::kOk));
  EXPECT_THAT(job.Why("chief:0"),
              ElementsAre("    2.000  fault      chief:0: crash chief:0",
                          "    4.000  event      chief:0~2: session 1 run", "    4.000  violation  chief:0: a.rule"));
  job.Fault(seconds(5), What::kBegins, "cut chief:0 and ps:0", "chief:0", "ps:0");
  job.Goes(seconds(6), Message::Kind::kReset, "ps:0", "chief:0~2");
  job.Emits(seconds(6), "chief:0~2", RunReturned(Code::kUnavailable));
  EXPECT_EQ(job.Why("chief:0").front(), "    5.000  fault      chief:0~2: cut chief:0 and ps:0");
}

TEST(CausalChain, ALinksFaultStrikesNobodyElse) {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Fault(seconds(1), What::kBegins, "cut ps:0 from worker:0", "ps:0", "worker:0");
  job.Goes(seconds(3), Message::Kind::kReset, "ps:0", "chief:0");
  job.Emits(seconds(3), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_EQ(job.Why("chief:0").front(), "no fault that is noted with its time is in its past");
}

TEST(CausalChain, WhatStrikesWhileACallWaitsIsInItsPastWithoutAMessage) {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Emits(seconds(1), "chief:0", RunReturned(Code::kOk));
  job.Fault(seconds(2), What::kBegins, "cut chief:0 from ps:0", "chief:0", "ps:0");
  job.Emits(seconds(2), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_EQ(job.Why("chief:0").front(), "    2.000  fault      chief:0: cut chief:0 from ps:0");
}

constexpr char kNoFault[] = "no fault that is noted with its time is in its past";

TEST(CausalChain, WhoseRequestIsRefusedIsTold) {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Fault(seconds(1), What::kBegins, "cut chief:0 from ps:0", "chief:0", "ps:0");
  job.Emits(seconds(2), "chief:0", RunReturned(Code::kOk)).Goes(seconds(3), Message::Kind::kRefusal, "chief:0", "ps:0");
  job.Emits(seconds(3), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_THAT(job.Why("chief:0"), ElementsAre("    1.000  fault      chief:0: cut chief:0 from ps:0",
                                              "    3.000  message    chief:0: RunStep from chief:0 to ps:0 is refused",
                                              "    3.000  error      chief:0: session 1 run failed UNAVAILABLE",
                                              "    3.000  violation  chief:0: a.rule"));
}

PlayedByHand ARequestThatIsStruck(sim::RpcFault::Effect effect) {
  PlayedByHand job;
  job.scenario.job.emplace().plan.rpcs = {{.effect = sim::RpcFault::Effect::kError, .method = "Other"},
                                          {.effect = effect}};
  job.Life(seconds(0), "chief:0").Emits(seconds(1), "chief:0", RunReturned(Code::kOk));
  job.Goes(seconds(2), Message::Kind::kRequest, "chief:0", "ps:0").Struck(1);
  return job;
}

TEST(CausalChain, AFaultOfARequestIsThatOfItsReply) {
  PlayedByHand job = ARequestThatIsStruck(sim::RpcFault::Effect::kLostReply);
  job.Goes(seconds(3), Message::Kind::kReply, "ps:0", "chief:0")
      .Goes(seconds(3), Message::Kind::kReply, "ps:1", "chief:0", 2);
  job.Emits(seconds(3), "chief:0", RunReturned(Code::kUnavailable));
  const std::vector<std::string> why = job.Why("chief:0");
  ASSERT_THAT(why, testing::SizeIs(4));
  EXPECT_THAT(why[0], StartsWith(R"(    2.000  fault      chief:0: {"rpc":)"));
  EXPECT_THAT(why[0], HasSubstr("lost_reply"));
  EXPECT_EQ(why[1], "    3.000  message    chief:0: reply of RunStep from ps:0 to chief:0");
}

TEST(CausalChain, AFaultOfARequestThatNobodyAnswersIsThatOfTheRequest) {
  PlayedByHand job = ARequestThatIsStruck(sim::RpcFault::Effect::kNeverAnswered);
  job.Emits(seconds(9), "chief:0", RunReturned(Code::kDeadlineExceeded));
  EXPECT_THAT(job.Why("chief:0").front(), StartsWith("    2.000  fault      chief:0: {"));
}

TEST(CausalChain, ARequestThatArrivesTwiceFailsNothing) {
  PlayedByHand job = ARequestThatIsStruck(sim::RpcFault::Effect::kDuplicated);
  job.Goes(seconds(3), Message::Kind::kReply, "ps:0", "chief:0");
  job.Emits(seconds(3), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_EQ(job.Why("chief:0").front(), kNoFault);
}

TEST(CausalChain, AReplyHandsOnWhatItsSenderHasMet) {
  PlayedByHand job;
  job.Life(seconds(0), "chief:0").Fault(seconds(3), What::kCrash, "crash ps:1", "ps:1");
  job.Goes(seconds(2), Message::Kind::kRequest, "chief:0", "ps:0");
  job.Goes(seconds(4), Message::Kind::kClosed, "ps:1", "ps:0", 0);
  job.Goes(seconds(5), Message::Kind::kReply, "ps:0", "chief:0");
  job.Emits(seconds(5), "chief:0", RunReturned(Code::kUnavailable));
  EXPECT_THAT(job.Why("chief:0"), ElementsAre("    3.000  fault      ps:1: crash ps:1",
                                              "    4.000  message    ps:0: ps:0 is told that ps:1 is gone",
                                              "    5.000  message    chief:0: reply of RunStep from ps:0 to chief:0",
                                              "    5.000  error      chief:0: session 1 run failed UNAVAILABLE",
                                              "    5.000  violation  chief:0: a.rule"));
}

// A job whose chief has run once, with a slow disk and a full one in its plan.
PlayedByHand AJobWithFaultsOfDisks() {
  PlayedByHand job;
  job.scenario.job.emplace().plan.disks = {{.effect = sim::DiskFault::Effect::kSlow},
                                           {.effect = sim::DiskFault::Effect::kNoSpace, .op = "append"}};
  job.Life(seconds(0), "chief:0").Emits(seconds(1), "chief:0", RunReturned(Code::kOk));
  return job;
}

TEST(CausalChain, WhatStrikesADiskIsInThePastOfItsNode) {
  PlayedByHand job = AJobWithFaultsOfDisks();
  job.played.disk_faults = {{seconds(1), "chief:0", 1, 1}, {seconds(3), "chief:0", 0, 1}};
  job.Emits(seconds(4), "chief:0", RunReturned(Code::kResourceExhausted));
  EXPECT_THAT(job.Why("chief:0").front(), StartsWith("    1.000  fault      chief:0: {"));
  EXPECT_THAT(job.Why("chief:0").front(), HasSubstr("append"));
  job.played.disk_faults[0].events = 0;  // it was over when the event before happened
  EXPECT_EQ(job.Why("chief:0").front(), kNoFault);
}

TEST(CausalChain, WhatStrikesADiskIsInThePastOfWhoAskedItsNode) {
  PlayedByHand job = AJobWithFaultsOfDisks();
  job.Goes(seconds(2), Message::Kind::kRequest, "chief:0", "ps:0");
  job.played.disk_faults = {{seconds(3), "ps:0", 1, 1}};
  job.Goes(seconds(4), Message::Kind::kReply, "ps:0", "chief:0");
  job.Emits(seconds(4), "chief:0", RunReturned(Code::kResourceExhausted));
  EXPECT_THAT(job.Why("chief:0").front(), StartsWith("    3.000  fault      ps:0: {"));
}

TEST(CausalChain, AFaultOfASessionsCallIsTheNthOfItsTask) {
  for (const std::int64_t call : {1, 2}) {
    PlayedByHand job;
    job.scenario.job.emplace().plan.session_calls = {{.task = "chief:0", .at = CallKind::kRun, .call = call}};
    job.Emits(seconds(1), "worker:0", RunReturned(Code::kOk)).Emits(seconds(1), "chief:0", RunReturned(Code::kOk));
    job.Emits(seconds(2), "chief:0", RunReturned(Code::kAborted));
    EXPECT_THAT(job.Why("chief:0").front(), StartsWith(call == 2 ? "    2.000  fault      chief:0: {" : kNoFault));
  }
}

TEST(CausalChain, ALinkThatLosesMessagesIsAFault) {
  for (const std::string server : {"ps:0", "ps:1"}) {
    PlayedByHand job;
    job.scenario.job.emplace().plan.links["chief:0>ps:0"].loss = 0.5;
    job.Emits(seconds(1), "chief:0", RunReturned(Code::kOk));
    job.Goes(seconds(2), Message::Kind::kRequest, "chief:0", server);
    job.played.message_log.messages.back().arrived.reset();
    job.Emits(seconds(3), "chief:0", RunReturned(Code::kUnavailable));
    EXPECT_EQ(job.Why("chief:0").front(),
              server == "ps:0" ? "    2.000  fault      chief:0: the link to ps:0 loses messages" : kNoFault);
  }
}

TEST(CausalChain, AsJson) {
  PlayedByHand job = ACrashThatIsMet();
  CauseGraph graph = CausesOf(job.scenario, job.played);
  EXPECT_EQ(
      ChainJson(WalkBack(graph, graph.of_events[2])),
      R"([{"at_s":2,"kind":"fault","node":"ps:0","task":"","text":"crash ps:0"},)"
      R"({"at_s":3,"kind":"message","node":"chief:0","task":"","text":"chief:0 is told that ps:0 is gone"},)"
      R"({"at_s":3,"kind":"error","node":"chief:0","task":"","text":"session 1 run failed UNAVAILABLE","event":2},)"
      R"({"at_s":3,"kind":"decision","node":"chief:0","task":"","text":"recovery from UNAVAILABLE","event":3}])");
}

TEST(CausalChain, OfASessionAreTheFaultsOfItsCalls) {
  PlayedByHand session;
  session.scenario.faults = {{.at = FaultPoint::kRun, .calls = {2}, .code = Code::kAborted}};
  session.Emits(seconds(0), "", RunReturned(Code::kOk)).Emits(seconds(1), "", RunReturned(Code::kAborted));
  session.Emits(seconds(1), "", {.kind = EventKind::kRecovery, .code = Code::kAborted, .session = 1});
  CauseGraph graph = CausesOf(session.scenario, session.played);
  const CauseChain chain = WalkBack(graph, AddViolation("a.rule", 2, graph));
  std::vector<Kind> kinds;
  for (const Cause& cause : chain.causes) kinds.push_back(cause.kind);
  EXPECT_THAT(kinds, ElementsAre(Kind::kFault, Kind::kError, Kind::kDecision, Kind::kViolation));
}

TEST(CausalChain, ALongChainLosesItsMiddle) {
  CauseGraph graph;
  graph.causes.push_back({.kind = Kind::kFault});
  for (std::size_t i = 1; i < 30; ++i)
    graph.causes.push_back({.kind = Kind::kDecision, .at = seconds(i), .past = {i - 1}});
  const CauseChain chain = WalkBack(graph, 29, 4);
  std::vector<Duration> kept;
  for (const Cause& cause : chain.causes) kept.push_back(cause.at);
  EXPECT_THAT(kept, ElementsAre(seconds(0), seconds(1), seconds(28), seconds(29)));
  EXPECT_EQ(chain.left_out, 26U);
  EXPECT_EQ(ChainText(chain)[2], "... 26 left out");
}

}  // namespace
}  // namespace vigil::replays
