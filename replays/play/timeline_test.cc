// What a run looks like: the list, and the two files made from it.
#include "vigil/replays/show/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "vigil/replays/format/json.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/show/perfetto.h"
#include "vigil/replays/show/timeline_page.h"
#include "vigil/sim/world.h"

namespace vigil::replays {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::SizeIs;

constexpr char kOneSession[] = R"({"id":"s","hooks":[{"hook":"probe","name":"a"},{"hook":"probe","name":"b"}],)"
                               R"("faults":[{"at":"run","call":2,"code":"ABORTED"}],"drive":[{"op":"run","times":3}]})";
constexpr char kCluster[] =
    R"({"id":"c","behaviour":"default","cluster":{"tasks":{"chief":1,"ps":1,"worker":1}},)"
    R"("workload":{"name":"async_regression","last_step":300},"plan":[{"at_s":2,"crash":"worker:0","restart_after_s":2},)"
    R"({"at_s":5,"cut":["chief:0","ps:0"],"for_s":1},{"at_s":5.5,"pause":"worker:0","for_s":1}],"limit_s":600})";

Outcome PlayText(const char* text, bool timeline = true) {
  const absl::StatusOr<Recording> recording = ParseRecording(text);
  EXPECT_TRUE(recording.ok()) << recording.status();
  Outcome outcome = Runner().Run(recording->scenario, {.log_messages = timeline});
  if (timeline) outcome.timeline = ShowTimeline(recording->scenario, outcome);
  return outcome;
}

std::set<std::string> LaneNames(const Timeline& timeline) {
  std::set<std::string> names;
  for (const TimelineLane& lane : timeline.lanes) names.insert(lane.node + "/" + lane.name);
  return names;
}

std::vector<std::string> TextsOf(const Timeline& timeline, MarkKind kind) {
  std::vector<std::string> texts;
  for (const TimelineMark& mark : timeline.marks) {
    if (mark.kind == kind) texts.push_back(mark.text);
  }
  return texts;
}

void ExpectInOrder(const Timeline& timeline) {
  std::map<std::pair<std::size_t, int>, const TimelineMark*> last;
  for (const TimelineMark& mark : timeline.marks) {
    ASSERT_LT(mark.lane, timeline.lanes.size());
    EXPECT_LT(mark.depth, timeline.lanes[mark.lane].depth) << mark.text;
    if (mark.until.has_value()) {
      EXPECT_GE(*mark.until, mark.at) << mark.text;
      EXPECT_GE(mark.until_place, mark.place) << mark.text;
    }
    const TimelineMark*& before = last[{mark.lane, mark.depth}];
    if (before != nullptr) {
      EXPECT_GE(mark.at, before->until.value_or(before->at)) << before->text << ", then " << mark.text;
      EXPECT_GE(mark.place, before->until.has_value() ? before->until_place : before->place) << mark.text;
    }
    before = &mark;
  }
}

TEST(TimelineTest, ASessionHasLanesForTasksHooksAndRawSessions) {
  const Outcome outcome = PlayText(kOneSession);
  const Timeline& timeline = *outcome.timeline;
  EXPECT_THAT(timeline.nodes, ElementsAre("chief"));
  EXPECT_THAT(LaneNames(timeline), IsSupersetOf({"chief/main", "chief/sessions", "chief/hook a", "chief/hook b"}));
  EXPECT_THAT(TextsOf(timeline, MarkKind::kSession), ElementsAre("session 1", "session 2"));
  EXPECT_THAT(TextsOf(timeline, MarkKind::kRecovery), ElementsAre("recovery from ABORTED"));
  EXPECT_THAT(TextsOf(timeline, MarkKind::kRun), SizeIs(3));
  EXPECT_THAT(TextsOf(timeline, MarkKind::kHook), Contains("hook b before_run session=2"));
  ASSERT_EQ(timeline.marks_of_events.size(), outcome.trace.size());
  EXPECT_THAT(timeline.marks_of_events, testing::Each(testing::Lt(timeline.marks.size())));
  ExpectInOrder(timeline);
}

TEST(TimelineTest, WhatHasAnEndIsOneMarkThatSaysHowItEnded) {
  const Timeline timeline =
      *PlayText(R"({"id":"s","hooks":[{"hook":"probe","name":"a","plan":[)"
                R"({"method":"before_run","call":1,"do":"raise","code":"INTERNAL"}]}],"drive":[{"op":"run"}]})")
           .timeline;
  const auto run = std::ranges::find(timeline.marks, MarkKind::kRun, &TimelineMark::kind);
  ASSERT_NE(run, timeline.marks.end());
  EXPECT_EQ(run->text, "run begins (run returns INTERNAL)");
  EXPECT_TRUE(run->failed);
  EXPECT_GT(run->until_place, run->place);
  EXPECT_THAT(TextsOf(timeline, MarkKind::kHook),
              Contains("hook a before_run session=1 (hook a before_run returns INTERNAL)"));
}

TEST(TimelineTest, AClusterHasLivesFaultsAndMessages) {
  const Timeline timeline = *PlayText(kCluster).timeline;
  EXPECT_THAT(timeline.nodes, ElementsAre("chief:0", "ps:0", "worker:0"));
  EXPECT_EQ(timeline.lanes.front().name, "plan");
  EXPECT_THAT(LaneNames(timeline), IsSupersetOf({"/plan", "worker:0/life", "worker:0/sessions", "worker:0/main"}));
  std::vector<const TimelineMark*> lives;
  for (const TimelineMark& mark : timeline.marks) {
    if (mark.kind == MarkKind::kLife && timeline.lanes[mark.lane].node == "worker:0" && mark.until.has_value())
      lives.push_back(&mark);
  }
  ASSERT_EQ(lives.size(), 2U);
  EXPECT_EQ(lives[0]->text, "life 1");
  EXPECT_EQ(*lives[0]->until + std::chrono::seconds(2), lives[1]->at) << "it was away from the crash to the restart";
  const auto cut = std::ranges::find_if(
      timeline.marks, [](const TimelineMark& mark) { return mark.kind == MarkKind::kFault && mark.until.has_value(); });
  ASSERT_NE(cut, timeline.marks.end());
  EXPECT_EQ(cut->text, "cut chief:0 and ps:0");
  EXPECT_EQ(*cut->until - cut->at, std::chrono::seconds(1));
  ExpectInOrder(timeline);
}

// The cluster above, with another plan.
Timeline ClusterWith(const std::string& plan) {
  std::string text = kCluster;
  const std::size_t begin = text.find(R"("plan":[)") + std::string_view(R"("plan":[)").size();
  text.replace(begin, text.find(']', text.find(R"("for_s":1}])")) - begin, plan);
  return *PlayText(text.c_str()).timeline;
}

TEST(TimelineTest, OfFaultsThatOverlapEachLastsAsLongAsItDoes) {
  const Timeline timeline = ClusterWith(
      R"({"at_s":2,"cut":["chief:0","ps:0"],"for_s":4},{"at_s":3,"slow_link":["chief:0","ps:0"],"by_s":0.1,"for_s":1},)"
      R"({"at_s":2.5,"pause":"worker:0","for_s":10},{"at_s":3,"crash":"worker:0","restart_after_s":1})");
  std::map<std::string, double> lasted;
  for (const TimelineMark& mark : timeline.marks) {
    if (mark.kind == MarkKind::kFault && mark.until.has_value()) lasted[mark.text] = ToSeconds(*mark.until - mark.at);
  }
  EXPECT_THAT(lasted, ElementsAre(std::pair("cut chief:0 and ps:0", 4), std::pair("pause worker:0", 0.5),
                                  std::pair("slow link chief:0 and ps:0", 1)));
  ExpectInOrder(timeline);
}

TEST(TimelineTest, ALifeAndWhatItDoesAreOnOneMachine) {
  const Timeline timeline = ClusterWith(R"({"at_s":2,"crash":"chief:0","restart_after_s":1,"elsewhere_s":0.5})");
  EXPECT_THAT(timeline.nodes, ElementsAre("chief:0", "ps:0", "worker:0", "chief:0~2"));
  EXPECT_THAT(LaneNames(timeline), IsSupersetOf({"chief:0/life", "chief:0/main", "chief:0~2/life", "chief:0~2/main"}));
  ExpectInOrder(timeline);
}

TEST(TimelineTest, MessagesAreThoseBetweenNodes) {
  const Timeline timeline = *PlayText(kCluster).timeline;
  ASSERT_GT(timeline.arrows.size(), 500U);
  std::size_t told = 0;  // that a process is gone
  Duration last{0};
  std::map<std::tuple<std::size_t, std::size_t, std::uint64_t>, Duration> requests;  // when they arrived
  std::size_t answered = 0;
  for (const TimelineArrow& arrow : timeline.arrows) {
    EXPECT_NE(arrow.from, arrow.to);
    EXPECT_GE(arrow.sent, last);
    last = arrow.sent;
    if (!arrow.arrived.has_value()) continue;
    EXPECT_GT(*arrow.arrived, arrow.sent);
    if (arrow.kind == sim::LoggedMessage::Kind::kRequest) requests[{arrow.from, arrow.to, arrow.call}] = *arrow.arrived;
    told += arrow.kind == sim::LoggedMessage::Kind::kClosed ? 1 : 0;
    if (arrow.kind != sim::LoggedMessage::Kind::kReply) continue;
    const auto request = requests.find({arrow.to, arrow.from, arrow.call});
    ASSERT_NE(request, requests.end()) << arrow.method;
    EXPECT_GE(arrow.sent, request->second);
    ++answered;
  }
  EXPECT_GT(answered, 200U);
  EXPECT_GT(told, 0U);
}

TEST(TimelineTest, LookingChangesNothing) {
  for (const char* const text : {kOneSession, kCluster}) {
    const Outcome looked = PlayText(text);
    const Outcome plain = PlayText(text, false);
    EXPECT_EQ(looked.hash, plain.hash);
    EXPECT_EQ(looked.choices, plain.choices);
    EXPECT_EQ(plain.timeline, nullptr);
  }
}

// A run of one event whose hook has that name.
Timeline Named(std::string_view name, double value) {
  Played played{.start = sim::WorldOptions{}.start};
  const std::uint32_t node = played.trace.AddNode("chief");
  const std::uint32_t task = played.trace.AddTask("chief/main");
  played.trace.Append(node, task, sim::WorldOptions{}.start,
                      {.kind = EventKind::kHookCall,
                       .call = static_cast<std::uint8_t>(HookMethod::kAfterRun),
                       .has_value = true,
                       .index = 0,
                       .session = 1,
                       .value = value,
                       .subject = name});
  Timeline timeline = MakeTimeline(played);
  timeline.id = name;
  timeline.title = name;
  timeline.end = "played";
  timeline.findings.push_back({std::string(name), "</script>", {0}});
  return timeline;
}

std::size_t CountOf(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(TimelinePageTest, NoTextCanEndTheDataOrThePage) {
  constexpr std::string_view kNasty =
      "</script><script>alert(1)</script> <!-- \" ' \\ \n \x01 \xff @@TIMELINE@@ \xe2\x80\xa8";
  const Timeline timeline = Named(kNasty, std::numeric_limits<double>::quiet_NaN());
  const std::string page = TimelinePage(timeline);
  EXPECT_EQ(CountOf(page, "</script"), CountOf(TimelineTemplate(), "</script"));
  EXPECT_EQ(CountOf(page, "<script"), CountOf(TimelineTemplate(), "<script"));
  EXPECT_EQ(CountOf(page, "<!--"), 0U);
  const std::string_view begins = "id=\"data\">";
  const std::size_t from = page.find(begins) + begins.size();
  const std::string data = page.substr(from, page.find("</script>", from) - from);
  JsonDocument document;
  ASSERT_TRUE(document.Parse(data).ok()) << document.Parse(data);
  bool found = false;
  for (const Json member : document.root()) {
    if (member.key() == "findings") {
      for (const Json finding : member) found = found || (*finding.begin()).string().starts_with("</script><script>");
    }
    if (member.key() != "texts") continue;
    EXPECT_THAT(std::string((*member.begin()).string()), HasSubstr("</script><script>alert(1)</script>"));
    EXPECT_THAT(std::string((*member.begin()).string()), HasSubstr("results=nan"));
  }
  EXPECT_TRUE(found);
}

TEST(TimelinePageTest, LoadsNothing) {
  const std::string_view page = TimelineTemplate();
  EXPECT_THAT(std::string(page), HasSubstr("default-src 'none'"));
  for (const char* const part :
       {"http://", "https://", "src=", "href=", "@import", "url(", "fetch(", "@@STYLE@@", "@@SCRIPT@@"})
    EXPECT_EQ(CountOf(page, part), 0U) << part;
}

TEST(PerfettoTest, IsReadableAndEveryArrowHasBothEnds) {
  JsonDocument document;
  const absl::Status read = document.Parse(PerfettoJson(*PlayText(kCluster).timeline));
  ASSERT_TRUE(read.ok()) << read;
  std::map<std::string, int> phases;
  std::set<std::int64_t> starts;
  std::set<std::int64_t> ends;
  std::set<std::string> processes;
  for (const Json member : document.root()) {
    if (member.key() != "traceEvents") continue;
    for (const Json event : member) {
      std::string phase;
      std::string name;
      for (const Json field : event) {
        if (field.key() == "ph") phase = field.string();
        if (field.key() == "name") name = field.string();
        if (field.key() == "id") (phase == "s" ? starts : ends).insert(field.integer());
        if (field.key() == "ts" || field.key() == "dur") {
          EXPECT_GE(field.number(), 0);
        }
        if (field.key() == "args" && name == "process_name") processes.insert(std::string((*field.begin()).string()));
      }
      ++phases[phase];
    }
  }
  EXPECT_THAT(processes, ElementsAre("chief:0", "ps:0", "the plan", "worker:0"));
  EXPECT_EQ(starts, ends);
  EXPECT_GT(starts.size(), 500U);
  EXPECT_GT(phases["X"], 500);
  EXPECT_GT(phases["i"], 100);
}

TEST(PerfettoTest, SlicesOfAThreadLieWithinEachOtherOrApart) {
  JsonDocument document;
  ASSERT_TRUE(document.Parse(PerfettoJson(*PlayText(kCluster).timeline)).ok());
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::pair<double, double>>> threads;
  for (const Json member : document.root()) {
    if (member.key() != "traceEvents") continue;
    for (const Json event : member) {
      std::map<std::string, double> numbers;
      for (const Json field : event) {
        if (field.kind() == JsonKind::kInteger || field.kind() == JsonKind::kNumber)
          numbers[std::string(field.key())] = field.number();
      }
      if (!numbers.contains("dur") || numbers["tid"] == 0) continue;
      threads[{static_cast<std::int64_t>(numbers["pid"]), static_cast<std::int64_t>(numbers["tid"])}].push_back(
          {numbers["ts"], -(numbers["ts"] + numbers["dur"])});
    }
  }
  EXPECT_GT(threads.size(), 6U);
  for (auto& [thread, slices] : threads) {
    std::ranges::sort(slices);
    std::vector<double> open;  // ends
    for (const auto& [begin, minus_end] : slices) {
      while (!open.empty() && open.back() <= begin) open.pop_back();
      if (!open.empty()) {
        EXPECT_LE(-minus_end, open.back()) << "of thread " << thread.second << " at " << begin;
      }
      open.push_back(-minus_end);
    }
  }
}

TEST(PerfettoTest, QuotesWhatTextsHold) {
  JsonDocument document;
  const std::string text = PerfettoJson(Named("a\"b\\c\n\xff", -std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(document.Parse(text).ok()) << text;
}

}  // namespace
}  // namespace vigil::replays
