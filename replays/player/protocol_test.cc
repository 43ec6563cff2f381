#include "vigil/replays/player/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/player/event_json.h"

namespace vigil::replays {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kGreeting[] =
    R"({"type":"hello","protocol":1,"name":"port","version":"2","kinds":["monitored","unit"],)"
    R"("hooks":["probe"],"faults":["run"],"behaviours":["tensorflow"],"typed":true,"details":["run_part"]})";

std::string ErrorOfGreeting(const std::string& line) {
  const absl::StatusOr<Greeting> greeting = ParseGreeting(line);
  return greeting.ok() ? "" : std::string(MessageOf(greeting.status()));
}

Scenario ScenarioOf(const std::string& json) {
  const absl::StatusOr<Recording> recording = ParseRecording(json);
  EXPECT_TRUE(recording.ok()) << MessageOf(recording.status());
  return recording->scenario;
}

TEST(ProtocolTest, AGreetingIsReadAndPrinted) {
  const absl::StatusOr<Greeting> greeting = ParseGreeting(kGreeting);
  ASSERT_TRUE(greeting.ok()) << MessageOf(greeting.status());
  EXPECT_EQ(greeting->Title(), "port 2");
  EXPECT_TRUE(greeting->kinds.contains("unit"));
  EXPECT_FALSE(greeting->choices);
  EXPECT_THAT(UnseenBy(*greeting), ElementsAre(EventKind::kHookDetail, EventKind::kSaverDetail,
                                               EventKind::kCoordinatorDetail, EventKind::kQueueDetail));
  const absl::StatusOr<Greeting> again = ParseGreeting(PrintGreeting(*greeting));
  ASSERT_TRUE(again.ok()) << MessageOf(again.status());
  EXPECT_EQ(PrintGreeting(*again), PrintGreeting(*greeting));
}

TEST(ProtocolTest, WrongGreetingsAreNamed) {
  EXPECT_THAT(ErrorOfGreeting("hello"), HasSubstr("(in hello)"));
  EXPECT_THAT(ErrorOfGreeting("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(ErrorOfGreeting(R"({"type":"played"})"), HasSubstr("expected a hello, got 'played'"));
  std::string other = kGreeting;
  other.replace(other.find(":1"), 2, ":2");
  EXPECT_THAT(ErrorOfGreeting(other), HasSubstr("/protocol: protocol 2 is none of ours, which are: 1"));
  other = kGreeting;
  other.replace(other.find("kinds"), 5, "kimds");
  EXPECT_THAT(ErrorOfGreeting(other), HasSubstr("kimds"));
}

TEST(ProtocolTest, WhatIsNotListedIsNotAskedFor) {
  const Greeting greeting = *ParseGreeting(kGreeting);
  const auto why = [&](const std::string& json) { return WhyNotPlayed(greeting, ScenarioOf(json)); };
  EXPECT_EQ(why(R"({"id":"a","hooks":[{"hook":"probe","name":"a"}],"drive":[]})"), "");
  EXPECT_EQ(why(R"({"id":"a","session":{"kind":"singular"},"drive":[]})"), "no sessions of kind singular");
  EXPECT_EQ(why(R"({"id":"a","behaviour":"default","drive":[]})"), "not the behaviour 'default'");
  EXPECT_EQ(why(R"({"id":"a","hooks":[{"hook":"stop_at_step","last_step":3}],"drive":[]})"), "no hook 'stop_at_step'");
  EXPECT_EQ(why(R"({"id":"a","faults":[{"at":"save","call":1,"code":"ABORTED"}],"drive":[]})"), "no faults at save");
  EXPECT_EQ(why(R"({"id":"a","unit":"timer","args":{"every_steps":2},"ops":[]})"), "");
}

TEST(ProtocolTest, ARequestIsReadAsItIsPrinted) {
  const std::string scenario = R"({"id":"\"scenario\":{}","drive":[]})";
  const auto request = ParseRequest(PrintRequest({.id = 7, .random = true, .scenario = scenario}));
  ASSERT_TRUE(request.ok()) << MessageOf(request.status());
  EXPECT_EQ((*request)->id, 7);
  EXPECT_TRUE((*request)->random);
  EXPECT_EQ((*request)->scenario, scenario);
  EXPECT_FALSE(ParseRequest(PrintHello())->has_value());
  EXPECT_FALSE(ParseRequest("?").ok());
  EXPECT_FALSE(ParseRequest(R"({"type":"play","id":1})").ok());
}

class AnswerTest : public ::testing::Test {
 protected:
  absl::Status Read(const std::string& events, const std::string& more = "") {
    outcome_ = PlainOutcome();
    played_ = Played();
    return ParseAnswer(R"({"type":"played","id":3,"verdict":"played","events":[)" + events + "]" + more + "}", 3,
                       scenario_, outcome_, played_);
  }
  std::string Error(const std::string& events, const std::string& more = "") {
    const absl::Status status = Read(events, more);
    return status.ok() ? "" : NameOfCode(CodeOf(status)) + ": " + std::string(MessageOf(status));
  }
  static std::string NameOfCode(Code code) { return std::string(CodeName(code)); }

  Scenario scenario_ = ScenarioOf(R"({"id":"a","hooks":[{"hook":"probe","name":"a"}],"drive":[]})");
  PlainOutcome outcome_;
  Played played_;
};

TEST_F(AnswerTest, LinesAndTypedEventsGoTogether) {
  ASSERT_TRUE(Read(R"("session 1 created",{"e":"run_start","at":5},{"line":"hook a before_run session=1","index":0},)"
                   R"({"e":"hook_return","call":"before_run","index":0,"code":"ABORTED","value":1,"at":6},)"
                   R"({"e":"session_call","task":"chief/other","session":1,"call":"run","at":1000000000})",
                   R"(,"final":{"checkpoints":[2],"latest":"model.ckpt-2"},"messages":["x"],"typed":false)")
                  .ok());
  EXPECT_THAT(outcome_.events, ElementsAre("session 1 created", "hook a before_run session=1"));
  ASSERT_EQ(played_.trace.size(), 5U);
  EXPECT_EQ(played_.trace[2].event.index, 0);
  EXPECT_EQ(played_.trace[2].time, played_.start + Duration(5));
  EXPECT_EQ(played_.trace[3].event.code, Code::kAborted);
  EXPECT_EQ(played_.trace.TaskLabel(played_.trace[4]), "chief/other");
  EXPECT_EQ(played_.trace.NodeName(played_.trace[4]), "chief");
  EXPECT_EQ(outcome_.final.latest, "model.ckpt-2");
  EXPECT_THAT(played_.unseen, ElementsAre(EventKind::kHookCall));
  EXPECT_NE(outcome_.hash, 0U);
}

TEST_F(AnswerTest, EventsThatMakeNoSenseAreNamed) {
  EXPECT_THAT(Error(R"("hook b begin")"), StartsWith("OUT_OF_RANGE: /events/0: there is no hook 'b'"));
  EXPECT_THAT(Error(R"({"e":"hook_call","call":"begin","index":1})"), HasSubstr("there is no hook number 1"));
  EXPECT_THAT(Error(R"("listener l begin")"), HasSubstr("there is no listener 'l'"));
  EXPECT_THAT(Error(R"("session 1 run")"), HasSubstr("session 1 was never created"));
  EXPECT_THAT(Error(R"("session 2 created")"), HasSubstr("session 2 cannot be created behind session 0"));
  EXPECT_THAT(Error(R"({"e":"run_start","at":5},{"e":"run_end","at":4})"),
              HasSubstr("/events/1/at: time goes back, from 5 to 4"));
  EXPECT_THAT(Error(R"({"e":"explodes"})"), HasSubstr("there are no events 'explodes'"));
  EXPECT_THAT(Error(R"({"e":"session_call","call":"explode"})"), HasSubstr("session_call has no call 'explode'"));
  EXPECT_THAT(Error(R"({"e":"run_end","code":"EXPLODED"})"), HasSubstr("EXPLODED"));
  EXPECT_THAT(Error(R"({"index":1})"), HasSubstr(R"(expected "e" or "line")"));
  EXPECT_THAT(Error(R"({"e":"run_end","knife":1})"), HasSubstr("knife"));
  EXPECT_THAT(Error(R"({"e":"note","bytes":"0g"})"), HasSubstr("expected pairs"));
  EXPECT_THAT(Error("7"), HasSubstr("/events/0"));
}

TEST_F(AnswerTest, WrongAnswersAreNamed) {
  const auto error = [&](const std::string& line) {
    const absl::Status status = ParseAnswer(line, 3, scenario_, outcome_, played_);
    return NameOfCode(CodeOf(status)) + ": " + std::string(MessageOf(status));
  };
  EXPECT_THAT(error(R"({"type":"played","id":2,"verdict":"played","events":[]})"),
              StartsWith("FAILED_PRECONDITION: asked for play 3, it answers play 2"));
  EXPECT_THAT(error("Segmentation fault"), StartsWith("INVALID_ARGUMENT: "));
  EXPECT_THAT(error(R"({"type":"played","id":3,"verdict":"won","events":[]})"), HasSubstr("won"));
  EXPECT_THAT(error(R"({"type":"lost","id":3,"verdict":"played","events":[]})"), HasSubstr("got 'lost'"));
  EXPECT_THAT(error(R"({"type":"played","id":3,"verdict":"played","events":[],"hash":"xyz"})"), HasSubstr("hash"));
  EXPECT_THAT(error(R"({"type":"played","id":3,"verdict":"played"})"), HasSubstr("events"));
}

TEST_F(AnswerTest, WhatCannotBePlayedSaysWhy) {
  ASSERT_TRUE(ParseAnswer(PrintCannot(3, "not the field x"), 3, scenario_, outcome_, played_).ok());
  EXPECT_EQ(outcome_.verdict, Verdict::kCannot);
  EXPECT_EQ(outcome_.reason, "not the field x");
}

// Each field of each kind of event comes through.
TEST_F(AnswerTest, TypedEventsAreReadAsTheyArePrinted) {
  Played sent;
  sent.start = Time{std::chrono::seconds(1000)};
  const std::uint32_t node = sent.trace.AddNode("chief");
  const std::uint32_t task = sent.trace.AddTask("chief/main");
  const std::uint32_t other = sent.trace.AddTask("");
  const std::string bytes("\xff\x00\x01", 3);
  const double odd[] = {0, -2.5, 1e300, std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity()};
  sent.trace.Append(node, task, sent.start, {.kind = EventKind::kSessionCreated, .session = 1});
  for (int kind = 0; kind <= static_cast<int>(EventKind::kQueueDetail); ++kind) {
    Event event{.kind = static_cast<EventKind>(kind), .code = Code::kUnimplemented, .call = 1, .has_value = true};
    if (event.kind == EventKind::kSessionCreated) continue;
    event.value = odd[kind % 5];
    event.has_value = kind % 3 != 0;
    event.closed = kind % 2 == 0;
    event.index = 0;
    event.session = 1;
    if (kind % 4 == 1) event.subject = bytes;
    if (event.kind == EventKind::kHookCall || event.kind == EventKind::kHookReturn) event.subject = "a";
    if (event.kind == EventKind::kListenerCall) event.subject = "";
    sent.trace.Append(node, kind % 7 == 0 ? other : task, sent.start + Duration(kind * 3), event);
  }
  PlainOutcome outcome;
  outcome.hash = 0xfedcba9876543210U;
  outcome.choices = {{"a/b", {"1", "2"}}};
  outcome.final.all = {"x"};
  const std::string answer = PrintAnswer(3, scenario_, outcome, sent);
  const absl::Status read = ParseAnswer(answer, 3, scenario_, outcome_, played_);
  ASSERT_TRUE(read.ok()) << MessageOf(read);
  EXPECT_EQ(PrintAnswer(3, scenario_, outcome_, played_), answer);
  EXPECT_EQ(played_.trace.size(), sent.trace.size());
  EXPECT_EQ(outcome_.hash, outcome.hash);
  for (std::size_t i = 0; i < sent.trace.size(); ++i) {
    EXPECT_EQ(played_.trace[i].event.subject, sent.trace[i].event.subject);
    EXPECT_EQ(played_.trace[i].event.value, sent.trace[i].event.value);
    EXPECT_EQ(played_.trace[i].time, sent.trace[i].time);
  }
}

}  // namespace
}  // namespace vigil::replays
