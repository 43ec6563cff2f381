#include "vigil/properties/judge/timeline_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/show/timeline_page.h"

namespace vigil::properties {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

replays::Recording Read(const char* text) {
  absl::StatusOr<replays::Recording> recording = replays::ParseRecording(text);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return *std::move(recording);
}

constexpr char kFails[] =
    R"({"id":"x","title":"t","hooks":[{"hook":"probe","name":"a"}],"faults":[{"at":"run","call":1,"code":"INTERNAL"}],"drive":[{"op":"run"}]})";

TEST(TimelineFindingsTest, AGoodRunHasNone) {
  const replays::Recording recording = Read(kFails);
  replays::Outcome outcome = replays::Runner().Run(recording.scenario);
  outcome.timeline = replays::ShowTimeline(recording.scenario, outcome);
  TellTimeline(recording.scenario, outcome, *outcome.timeline);
  EXPECT_THAT(outcome.timeline->findings, IsEmpty());
  EXPECT_EQ(outcome.timeline->id, "x");
  EXPECT_EQ(outcome.timeline->title, "t");
  EXPECT_EQ(outcome.timeline->end, "played");
}

TEST(TimelineFindingsTest, ABadOneHasItsWitnessAmongTheMarks) {
  const replays::Recording recording = Read(kFails);
  replays::Outcome outcome = replays::Runner().Run(recording.scenario);
  // End is called although the scope was left with an error.
  sim::Trace trace;
  for (const sim::TraceRecord& record : outcome.trace) {
    const std::uint32_t node = trace.AddNode(outcome.trace.NodeName(record));
    const std::uint32_t task = trace.AddTask(outcome.trace.TaskLabel(record));
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
  outcome.trace = std::move(trace);
  replays::Timeline timeline = replays::MakeTimeline(outcome);
  TellTimeline(recording.scenario, outcome, timeline);
  const auto found = std::ranges::find(timeline.findings, "end.only_on_clean_exit", &replays::TimelineFinding::rule);
  ASSERT_NE(found, timeline.findings.end());
  EXPECT_THAT(found->text, HasSubstr("\nactual "));
  ASSERT_THAT(found->witness, Not(IsEmpty()));
  EXPECT_THAT(timeline.marks[found->witness.back()].text, HasSubstr("hook a end"));
  ASSERT_GE(found->why.size(), 2U);
  EXPECT_EQ(found->why[0].kind, "fault");
  EXPECT_EQ(found->why[0].mark, std::nullopt) << "it is no event";
  EXPECT_EQ(found->why[1].text, "chief: session 1 run failed INTERNAL");
  ASSERT_TRUE(found->why[1].mark.has_value());
  EXPECT_EQ(timeline.marks[*found->why[1].mark].text, "session 1 run failed INTERNAL");
}

TEST(TimelineFindingsTest, WhatLedToItIsMarksAndMessages) {
  const replays::Recording recording = Read(
      R"({"id":"j","behaviour":"default","cluster":{"tasks":{"chief":1,"ps":1,"worker":1}},"limit_s":600,)"
      R"("workload":{"name":"async_regression","last_step":300},"plan":[{"at_s":5,"crash":"ps:0","restart_after_s":2}]})");
  replays::Outcome outcome = replays::Runner().Run(recording.scenario, {.log_messages = true});
  outcome.job->violations.push_back({.rule = "an.invariant", .text = "...", .task = "chief:0"});
  replays::Timeline timeline = *replays::ShowTimeline(recording.scenario, outcome);
  TellTimeline(recording.scenario, outcome, timeline);
  const auto found = std::ranges::find(timeline.findings, "an.invariant", &replays::TimelineFinding::rule);
  ASSERT_NE(found, timeline.findings.end());
  ASSERT_GE(found->why.size(), 3U);
  ASSERT_TRUE(found->why[0].mark.has_value());
  EXPECT_EQ(timeline.marks[*found->why[0].mark].text, "crash ps:0");
  EXPECT_EQ(found->why[1].kind, "message");
  ASSERT_TRUE(found->why[1].arrow.has_value());
  EXPECT_EQ(timeline.nodes[timeline.arrows[*found->why[1].arrow].to], "chief:0");
  EXPECT_THAT(replays::TimelineJson(timeline),
              HasSubstr(fmt::format(R"("why":[[{},"fault","ps:0: crash ps:0",{},null],[)", ToSeconds(found->why[0].at),
                                    *found->why[0].mark)));
}

}  // namespace
}  // namespace vigil::properties
