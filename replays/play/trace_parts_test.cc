// Long traces keep their beginning and their end: what lies between may be missing wherever the writer may leave it
// out, and the rest is played as before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/io/trace_rest.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/trace_spec.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/play/testing.h"
#include "vigil/replays/traces/trace_event_reader.h"
#include "vigil/replays/traces/trace_file.h"

namespace vigil::replays {
namespace {

using fakes::TraceParts;
using ::testing::HasSubstr;

// A place of a trace at which a part may begin.
struct Rest {
  std::size_t before;  // this event
  std::int64_t session;
  std::vector<TraceRest::OpenCall> open_calls;
};

std::vector<Rest> RestsOf(const TraceParts& trace) {
  std::vector<Rest> out;
  TraceRest rest;
  for (std::size_t i = 0; i < trace.events.size() && !trace.events[i].end(); ++i) {
    const proto::TraceEvent& record = trace.events[i];
    rest.See(EventIn(record), record.task());
    if (rest.at_rest()) out.push_back({i + 1, rest.session(), rest.open_calls()});
  }
  return out;
}

proto::TraceEvent PartBefore(const TraceParts& trace, const Rest& rest, std::int64_t number) {
  proto::TraceEvent out;
  out.set_time_ns(trace.events[rest.before].time_ns());
  out.mutable_part()->set_number(number);
  out.mutable_part()->set_events_before(rest.before);
  out.mutable_part()->set_session(rest.session);
  out.mutable_part()->set_start_ns(trace.header.start_ns());
  return out;
}

// Without what lies between the two.
TraceParts Without(TraceParts trace, const Rest& from, const Rest& to) {
  const proto::TraceEvent part = PartBefore(trace, to, 3);
  const auto begin = trace.events.begin();
  trace.events.erase(begin + static_cast<std::ptrdiff_t>(from.before), begin + static_cast<std::ptrdiff_t>(to.before));
  trace.events.insert(trace.events.begin() + static_cast<std::ptrdiff_t>(from.before), part);
  return trace;
}

struct PlayCounts {
  int gaps = 0;
  int failed = 0;
  int with_recovery = 0;
};

// All gaps that the trace of each recording may have.
PlayCounts PlayGaps(const std::vector<Recording>& recordings, std::size_t every) {
  PlayCounts counts;
  Runner runner;
  for (std::size_t i = 0; i < recordings.size(); i += every) {
    const std::string written = runner.Run(recordings[i].scenario, {.write_trace = true}).written_trace;
    if (written.empty()) continue;
    const TraceParts trace(written);
    const std::vector<Rest> rests = RestsOf(trace);
    for (const Rest& from : rests) {
      for (const Rest& to : rests) {
        if (to.before <= from.before || to.open_calls != rests.front().open_calls ||
            from.open_calls != rests.front().open_calls) {
          continue;
        }
        ++counts.gaps;
        if (from.session != to.session) ++counts.with_recovery;
        const std::string bytes = Without(trace, from, to).Bytes();
        const absl::StatusOr<Recording> recording = ParseTrace(bytes, "x.trace");
        const std::string& id = recordings[i].scenario.id;
        if (!recording.ok()) {
          ADD_FAILURE() << id << ": " << recording.status();
          continue;
        }
        EXPECT_THAT(recording->note, HasSubstr("events between its beginning and its end are not kept"));
        const Result result = Judge(*recording, runner.Run(recording->scenario));
        if (result.status == Status::kPassed) continue;
        if (++counts.failed <= 3) {
          ADD_FAILURE() << id << " without " << from.before << " to " << to.before << ": " << WhyNot(result);
        }
      }
    }
  }
  EXPECT_EQ(counts.failed, 0);
  return counts;
}

TEST(TraceParts, GapsAnywhereInRecordedTracesPlay) {
  for (const char* const behaviour : {"tensorflow", "default"}) {
    const PlayCounts counts = PlayGaps(RecordedSessions("random.jsonl", behaviour), 8);
    EXPECT_GT(counts.gaps, 1000) << behaviour;
    EXPECT_GT(counts.with_recovery, 50) << behaviour;
    EXPECT_GT(PlayGaps(RecordedSessions("cases.jsonl", behaviour), 2).gaps, 100) << behaviour;
  }
}

TEST(TraceParts, GapsInTracesOfSupervisorsPlay) {
  EXPECT_GT(PlayGaps(RecordedSessions("supervisor.jsonl", "tensorflow", true), 2).gaps, 20);
}

TraceParts ATrace() {
  const absl::StatusOr<Recording> recording = ParseRecording(
      R"({"id": "some", "checkpoint": {"dir": true}, "hooks": [{"hook": "probe", "name": "a"}],
          "faults": [{"at": "run", "call": 3, "code": "ABORTED"}], "drive": [{"op": "loop", "max": 5, "body": [{"op": "run"}]}]})");
  EXPECT_TRUE(recording.ok()) << recording.status();
  return TraceParts(Runner().Run(recording->scenario, {.write_trace = true}).written_trace);
}

TEST(TraceParts, AWrongDecisionBehindTheGapIsFound) {
  const TraceParts trace = ATrace();
  const std::vector<Rest> rests = RestsOf(trace);
  ASSERT_GE(rests.size(), 4u);
  TraceParts forged = Without(trace, rests[0], rests[3]);
  forged.Erase(forged.Find(EventKind::kHookCall, 1, static_cast<int>(HookMethod::kEnd)));
  EXPECT_NE(Replayed(forged.Bytes()).status, Status::kPassed);
  EXPECT_EQ(Replayed(Without(trace, rests[0], rests[3]).Bytes()).status, Status::kPassed);
}

TEST(TraceParts, ThatCannotFollowAreRefused) {
  const TraceParts trace = ATrace();
  const std::vector<Rest> rests = RestsOf(trace);
  const auto error = [](const TraceParts& forged) {
    return std::string(MessageOf(ParseTrace(forged.Bytes(), "x.trace").status()));
  };
  const TraceParts good = Without(trace, rests[0], rests[1]);
  EXPECT_EQ(error(good), "");
  const auto forge = [&](auto change) {
    TraceParts forged = good;
    change(*forged.events[rests[0].before].mutable_part());
    return error(forged);
  };
  EXPECT_THAT(forge([](proto::TracePart& part) { part.set_start_ns(7); }), HasSubstr("a part of another trace"));
  EXPECT_THAT(forge([](proto::TracePart& part) { part.set_number(1); }), HasSubstr("not the next one"));
  EXPECT_THAT(forge([](proto::TracePart& part) { part.set_events_before(2); }), HasSubstr("cannot follow here"));
  EXPECT_THAT(forge([](proto::TracePart& part) { part.set_session(0); }), HasSubstr("cannot follow here"));
  Rest middle = rests[0];
  middle.before -= 1;  // within a call
  EXPECT_THAT(error(Without(trace, middle, rests[1])), HasSubstr("the session was not at rest"));
}

// What the writer leaves in a folder is found there.
TEST(TraceParts, AreReadWithTheTraceTheyBelongTo) {
  const TraceParts trace = ATrace();
  const std::vector<Rest> rests = RestsOf(trace);
  TraceParts head = trace;
  head.events.resize(rests[0].before);
  std::string part;
  AppendRecord(PartBefore(trace, rests[1], 10).SerializeAsString(), &part);
  for (std::size_t i = rests[1].before; i < trace.events.size(); ++i) {
    AppendRecord(trace.events[i].SerializeAsString(), &part);
  }
  FilesWith files({{"/runs/x.trace", head.Bytes()},
                   {"/runs/x.trace.part10", part},
                   {"/runs/x.trace.part", "no number"},
                   {"/runs/x.trace.part2x", "no number"},
                   {"/runs/y.trace.part2", "another one's"}});
  std::vector<RawRecord> records;
  ReadRecords(files, nullptr, {"/runs/x.trace"}, [&](RawRecord record) {
    records.push_back(std::move(record));
    return true;
  });
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(records[0].error.ok()) << records[0].error;
  EXPECT_EQ(records[0].text, head.Bytes() + part);
  EXPECT_EQ(Replayed(records[0].text).status, Status::kPassed) << WhyNot(Replayed(records[0].text));
}

}  // namespace
}  // namespace vigil::replays
