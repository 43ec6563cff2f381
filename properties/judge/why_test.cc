#include "vigil/properties/judge/why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "vigil/properties/judge/node_rules.h"
#include "vigil/replays/format/parse.h"

namespace vigil::properties {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class WhyTest : public ::testing::Test {
 protected:
  void Play(const std::string& text) {
    absl::StatusOr<replays::Recording> recording = replays::ParseRecording(text);
    ASSERT_TRUE(recording.ok()) << recording.status();
    scenario_ = std::move(recording->scenario);
    outcome_ = replays::Runner().Run(scenario_, {.log_messages = true});
  }
  // A job of a chief, a parameter server and a worker with that plan.
  void PlayJob(const std::string& plan) {
    Play(R"({"id":"j","behaviour":"default","cluster":{"tasks":{"chief":1,"ps":1,"worker":1}},"limit_s":600,)"
         R"("workload":{"name":"async_regression","last_step":300},"plan":[)" +
         plan + "]}");
  }
  // What led to the first event with that code.
  replays::CauseChain WhyFirst(Code code) {
    const replays::CauseGraph graph = replays::CausesOf(scenario_, outcome_);
    for (std::size_t i = 0; i < outcome_.trace.size(); ++i) {
      if (outcome_.trace[i].event.code == code) return replays::WalkBack(graph, graph.of_events[i]);
    }
    ADD_FAILURE() << "there is no such event";
    return {};
  }

  replays::Scenario scenario_;
  replays::Outcome outcome_;
};

TEST_F(WhyTest, OfASessionsRuleTheFaultOfTheCallThatFailed) {
  Play(R"({"id":"x","hooks":[{"hook":"probe","name":"a"}],"faults":[{"at":"run","call":1,"code":"INTERNAL"}],)"
       R"("drive":[{"op":"run"}]})");
  EXPECT_EQ(WhyBroken(scenario_, outcome_, "end.only_on_clean_exit"), std::nullopt);
  // End is called although the scope was left with an error.
  sim::Trace trace;
  for (const sim::TraceRecord& record : outcome_.trace) {
    const std::uint32_t node = trace.AddNode(outcome_.trace.NodeName(record));
    const std::uint32_t task = trace.AddTask(outcome_.trace.TaskLabel(record));
    trace.Append(node, task, record.time, record.event);
    if (record.event.kind != EventKind::kCloseStart) continue;
    Event end{.kind = EventKind::kHookCall,
              .call = static_cast<std::uint8_t>(HookMethod::kEnd),
              .index = 0,
              .session = 1,
              .subject = "a"};
    trace.Append(node, task, record.time, end);
    end.kind = EventKind::kHookReturn;
    trace.Append(node, task, record.time, end);
  }
  outcome_.trace = std::move(trace);
  const std::optional<replays::CauseChain> why = WhyBroken(scenario_, outcome_, "end.only_on_clean_exit");
  ASSERT_TRUE(why.has_value());
  EXPECT_TRUE(why->from_a_fault);
  EXPECT_EQ(why->causes.front().text, "call 1 of run fails with INTERNAL");
  EXPECT_EQ(why->causes[1].text, "session 1 run failed INTERNAL");
  EXPECT_EQ(why->causes.back().kind, replays::Cause::Kind::kViolation);
  EXPECT_EQ(why->causes.back().text, "end.only_on_clean_exit");
}

TEST_F(WhyTest, OfAJobsInvariantWhatItsTaskHadComeTo) {
  PlayJob(R"({"at_s":5,"crash":"ps:0","restart_after_s":2})");
  outcome_.job->violations.push_back({.rule = "an.invariant",
                                      .text = "chief:0 ...",
                                      .task = "chief:0",
                                      .at = outcome_.start + std::chrono::seconds(100)});
  const std::optional<replays::CauseChain> why = WhyBroken(scenario_, outcome_, "an.invariant");
  ASSERT_TRUE(why.has_value());
  EXPECT_EQ(why->causes.front().text, "crash ps:0");
  EXPECT_EQ(why->causes.back().at, std::chrono::seconds(100));
  EXPECT_EQ(why->causes.back().node, "chief:0");
}

TEST_F(WhyTest, AFaultOfARequestIsFound) {
  PlayJob(R"({"rpc":"RunGraph","from":"chief:0","call":5,"effect":"lost_reply"})");
  const replays::CauseChain why = WhyFirst(Code::kUnavailable);
  ASSERT_TRUE(why.from_a_fault);
  EXPECT_THAT(why.causes.front().text, HasSubstr("lost_reply"));
  EXPECT_EQ(why.causes[1].kind, replays::Cause::Kind::kMessage);
  EXPECT_EQ(why.causes.back().kind, replays::Cause::Kind::kError);
}

TEST_F(WhyTest, AFaultOfADiskIsFound) {
  PlayJob(R"({"disk":"chief:0","op":"append","call":0,"code":"NO_SPACE"})");
  const replays::CauseChain why = WhyFirst(Code::kResourceExhausted);
  ASSERT_TRUE(why.from_a_fault);
  EXPECT_THAT(why.causes.front().text, HasSubstr("NO_SPACE"));
}

TEST_F(WhyTest, AFaultOfASessionsCallInAJobIsFound) {
  PlayJob(R"({"session":"worker:0","at":"run","call":7,"code":"ABORTED"})");
  const replays::CauseChain why = WhyFirst(Code::kAborted);
  ASSERT_TRUE(why.from_a_fault);
  EXPECT_THAT(why.causes.front().text, HasSubstr("worker:0"));
}

}  // namespace
}  // namespace vigil::properties
