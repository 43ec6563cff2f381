// Traces of simulated runs are played again, whole, torn and forged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/record_reader.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/io/trace_writer.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/train/monitored_session.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/trace_spec.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/play/testing.h"
#include "vigil/replays/show/trace_text.h"
#include "vigil/replays/stage/model.h"
#include "vigil/replays/traces/trace_file.h"
#include "vigil/sim/faults/faulty_session.h"
#include "vigil/sim/world.h"

namespace vigil::replays {
namespace {

using fakes::TraceParts;
using ::testing::HasSubstr;

TEST(Traces, OfRandomScenariosPass) {
  EXPECT_GT(ReplayTracesOf(RecordedSessions("random.jsonl", "tensorflow"), 1), 1000);
}

TEST(Traces, OfRandomScenariosUnderTheDefaultPass) {
  EXPECT_GT(ReplayTracesOf(RecordedSessions("random.jsonl", "default"), 1), 1000);
}

TEST(Traces, OfNamedScenariosPass) {
  EXPECT_GT(ReplayTracesOf(RecordedSessions("cases.jsonl", "tensorflow"), 1), 100);
  EXPECT_GT(ReplayTracesOf(RecordedSessions("cases.jsonl", "default"), 1), 100);
}

TEST(Traces, OfPairsOfFaultsPass) {
  EXPECT_GT(ReplayTracesOf(RecordedSessions("pairs.jsonl", "tensorflow"), 26), 300);
  EXPECT_GT(ReplayTracesOf(RecordedSessions("pairs.jsonl", "default"), 26), 300);
}

// A session with two hooks that survives a preemption, and ends in order.
std::string SomeTrace() {
  const absl::StatusOr<Recording> recording = ParseRecording(
      R"({"id": "some", "checkpoint": {"dir": true}, "hooks": [{"hook": "probe", "name": "a"}, {"hook": "probe", "name": "b"}],
          "faults": [{"at": "run", "call": 2, "code": "ABORTED"}], "drive": [{"op": "loop", "max": 3, "body": [{"op": "run"}]}]})");
  EXPECT_TRUE(recording.ok()) << recording.status();
  return Runner().Run(recording->scenario, {.write_trace = true}).written_trace;
}

TEST(Traces, HoldTheHeaderAndEveryEventInOrder) {
  const std::string bytes = SomeTrace();
  const TraceParts parts(bytes);
  EXPECT_EQ(parts.header.magic(), kTraceMagic);
  EXPECT_EQ(parts.header.version(), kTraceVersion);
  EXPECT_EQ(parts.header.kind(), proto::TraceHeader::MONITORED);
  EXPECT_TRUE(parts.header.has_checkpoint_dir());
  EXPECT_EQ(parts.header.behaviour_size(), static_cast<int>(BehaviourSwitches().size()));
  EXPECT_TRUE(parts.events.back().end());
  EXPECT_EQ(parts.Bytes(), bytes);
  const absl::StatusOr<Recording> recording = ParseTrace(bytes, "dir/x.trace");
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->scenario.id, "x.trace");
  EXPECT_EQ(recording->note, "");
  EXPECT_TRUE(recording->scenario.trace->complete);
  EXPECT_THAT(recording->expect->events, ::testing::IsSupersetOf({"construction returns OK", "recovery from ABORTED",
                                                                  "hook b after_run session=2", "close returns OK"}));
  EXPECT_EQ(Replayed(bytes).status, Status::kPassed) << WhyNot(Replayed(bytes));
}

TEST(Traces, TornAnywherePlayWhatIsWhole) { ExpectToPlayTorn(SomeTrace()); }

TEST(Traces, WhatIsNoneIsSaidClearly) {
  const std::string bytes = SomeTrace();
  const auto error = [](std::string_view text) { return std::string(MessageOf(ParseTrace(text, "x.trace").status())); };
  EXPECT_EQ(error(""), "x.trace: an empty file");
  EXPECT_EQ(error(bytes.substr(0, 7)), "x.trace: cut off within its header");
  EXPECT_EQ(error(bytes.substr(0, 40)), "x.trace: no trace, or cut off within its header");
  EXPECT_EQ(error("{\"id\": \"a scenario in disguise\"}"),
            "x.trace: no trace in spite of its name, or damaged in its header");
  TraceParts newer(bytes);
  newer.header.set_version(2);
  EXPECT_EQ(error(newer.Bytes()), "x.trace: a trace of version 2; this program reads version 1");
  TraceParts switches(bytes);
  switches.header.mutable_behaviour(0)->set_name("warp");
  switches.header.mutable_behaviour(0)->set_on(true);
  EXPECT_EQ(error(switches.Bytes()), "x.trace: needs the switch 'warp', which is unknown here");
  TraceParts kinds(bytes);
  kinds.events[3].set_kind(200);
  EXPECT_THAT(error(kinds.Bytes()), HasSubstr("damaged at byte "));
  TraceParts after(bytes);
  after.events.push_back(after.events[0]);
  EXPECT_THAT(error(after.Bytes()), HasSubstr("an event after the end"));
  // Any one byte that is not what was written.
  for (std::size_t at = newer.header.ByteSizeLong() + 16; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const absl::StatusOr<Recording> recording = ParseTrace(damaged, "x.trace");
    EXPECT_THAT(std::string(MessageOf(recording.status())), ::testing::StartsWith("x.trace: damaged at byte ")) << at;
  }
}

TEST(Traces, AForgedDecisionIsFound) {
  const auto kind = [](EventKind k) { return static_cast<std::uint32_t>(k); };
  const Forgery forgeries[] = {
      {"an End less",
       [&](TraceParts& p) {
         const std::size_t at = p.Find(EventKind::kHookCall, 2, static_cast<int>(HookMethod::kEnd));
         p.Erase(at);
         p.Erase(at);
       },
       "coordinator request_stop", "hook b end session=2"},
      {"hooks in another order",
       [&](TraceParts& p) {
         const std::size_t at = p.Find(EventKind::kHookCall, 1, static_cast<int>(HookMethod::kBeforeRun));
         std::swap(p.events[at], p.events[at + 2]);
         std::swap(p.events[at + 1], p.events[at + 3]);
       },
       "hook b before_run session=1", "hook a before_run session=1"},
      {"another code for the caller",
       [&](TraceParts& p) {
         p.events[p.Find(EventKind::kRunEnd)].set_status(static_cast<std::uint32_t>(Code::kInternal));
       },
       "run returns INTERNAL", "run returns OK"},
      {"no recovery from what a recovery is made from", [&](TraceParts& p) { p.Erase(p.Find(EventKind::kRecovery)); },
       "coordinator request_stop", "recovery from ABORTED"},
      {"a recovery from what ends a session",
       [&](TraceParts& p) {
         p.events[p.Find(EventKind::kSessionCall, 2, static_cast<int>(CallKind::kRun))].set_status(
             static_cast<std::uint32_t>(Code::kInternal));
       },
       "recovery from ABORTED", "run returns INTERNAL"},
      {"another answer of should_stop", [&](TraceParts& p) { p.events[p.Find(EventKind::kShouldStop)].set_value(1); },
       "should_stop -> yes", "should_stop -> no"},
      {"the session is not closed",
       [&](TraceParts& p) { p.Erase(p.Find(EventKind::kSessionCall, 2, static_cast<int>(CallKind::kClose))); },
       "graph unfinalized", "session 2 close"},
      {"the model is not made ready",
       [&](TraceParts& p) { p.Erase(p.Find(EventKind::kSessionCall, 1, static_cast<int>(CallKind::kReady))); },
       "hook a after_create_session session=1", "session 1 ready -> yes"},
      {"the last event is missing", [&](TraceParts& p) { p.Erase(p.Find(EventKind::kCloseEnd)); }, "",
       "close returns OK"},
      {"an event too many",
       [&](TraceParts& p) {
         proto::TraceEvent more = p.events[p.Find(EventKind::kCloseEnd)];
         more.set_kind(kind(EventKind::kGraphFinalized));
         p.events.insert(p.events.end() - 1, more);
       },
       "graph finalized", ""},
      {"a hook stops the runs, and they go on",
       [&](TraceParts& p) {
         proto::TraceEvent& returned =
             p.events[p.Find(EventKind::kHookReturn, 1, static_cast<int>(HookMethod::kAfterRun))];
         returned.set_has_value(true);
         returned.set_value(1);
       },
       "hook b after_run session=1", "hook a has requested a stop"},
  };
  ExpectFound(SomeTrace(), forgeries);
}

TEST(Traces, EveryEventThatIsTakenOutOfOneIsMissed) {
  const std::string bytes = SomeTrace();
  const std::size_t count = TraceParts(bytes).events.size() - 1;
  int passed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    TraceParts parts(bytes);
    const auto kind = static_cast<EventKind>(parts.events[i].kind());
    parts.Erase(i);
    const bool passes = Replayed(parts.Bytes()).status == Status::kPassed;
    // The user need not have asked.
    EXPECT_EQ(passes, kind == EventKind::kShouldStop) << i << ": " << static_cast<int>(kind);
    passed += passes ? 1 : 0;
  }
  EXPECT_GT(passed, 0);
}

// Starts a task with each session that asks its coordinator to stop, some time.
class StoppedFromElsewhere : public SessionRunHook {
 public:
  StoppedFromElsewhere(const Env& env, Code code) : env_(env), code_(code) {}
  absl::Status AfterCreateSession(const std::shared_ptr<Session>&, const std::shared_ptr<Coordinator>& coord) override {
    if (++sessions_ > 2) return absl::OkStatus();
    tasks_.push_back(env_.tasks->Spawn("stopper", [coord, code = code_] {
      coord->RequestStop(code == Code::kOk ? absl::OkStatus() : MakeStatus(code, "from elsewhere")).IgnoreError();
    }));
    return absl::OkStatus();
  }

 private:
  const Env env_;
  const Code code_;
  int sessions_ = 0;
  std::vector<std::shared_ptr<Task>> tasks_;
};

// The trace of a short run in which other tasks take the processor wherever they can.
std::string TraceWithAnotherTask(std::uint64_t seed, Code code, Code run_fails) {
  sim::RandomChooser chooser(seed);
  sim::World world({.chooser = &chooser, .seed = seed, .preempt = sim::Preempt::kAtCalls});
  sim::Node& node = world.AddNode("node");
  node.Spawn("main", [&] {
    const Env env = node.env();
    const std::unique_ptr<Model> model = *BuildModel(env, {});
    sim::SessionFaultPlan plan;
    int runs = 0;
    plan.next = [&](CallKind kind, const std::shared_ptr<Session>&) {
      const bool fails = kind == CallKind::kRun && ++runs == 2 && run_fails != Code::kOk;
      return sim::SessionFault{.error = fails ? MakeStatus(run_fails, "planned") : absl::OkStatus()};
    };
    auto creator = std::make_shared<ChiefSessionCreator>(
        env, *model->graph,
        ChiefSessionCreatorOptions{.factory =
                                       sim::NewFaultyFactory(std::make_shared<DirectSessionFactory>(env), plan)});
    auto session = MonitoredSession::Create(env, *model->graph,
                                            {.session_creator = creator,
                                             .hooks = {std::make_shared<StoppedFromElsewhere>(env, code)},
                                             .trace_path = "/x.trace"});
    if (!session.ok()) return;
    WithSession(**session, [&](MonitoredSession& s) -> absl::Status {
      for (int i = 0; i < 4; ++i) {
        VIGIL_ASSIGN_OR_RETURN(const bool stop, s.ShouldStop());
        if (stop) return absl::OkStatus();
        VIGIL_RETURN_IF_ERROR(s.Run(model->caller_fetches).status());
      }
      return absl::OkStatus();
    }).IgnoreError();
  });
  EXPECT_EQ(world.Run().verdict, sim::WorldVerdict::kDone);
  return node.disk().Contents()["/x.trace"];
}

TEST(Traces, OfRunsThatOtherTasksStopPass) {
  int requests = 0;
  int late = 0;
  int between = 0;
  for (const Code code : {Code::kOk, Code::kAborted, Code::kInternal}) {
    for (const Code run_fails : {Code::kOk, Code::kAborted, Code::kCancelled}) {
      for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const absl::StatusOr<Recording> recording = ParseTrace(TraceWithAnotherTask(seed, code, run_fails), "x.trace");
        ASSERT_TRUE(recording.ok()) << recording.status();
        const TraceSpec& trace = *recording->scenario.trace;
        requests += static_cast<int>(trace.requests.size());
        for (const TracedRequest& request : trace.requests) {
          const bool seen = request.before < trace.events.size() &&
                            TraceLine(trace.events[request.before].event) != "should_stop -> no";
          late += seen ? 0 : 1;
        }
        // One ShouldStop looks at the coordinator twice (TensorFlow's does, too), with no event in between: an error
        // that is reported just then comes out of it as an error. A replay cannot put a request there.
        const auto between_looks = [](const TracedEvent& each) {
          return each.event.kind == EventKind::kShouldStop && each.event.code != Code::kOk;
        };
        if (std::any_of(trace.events.begin(), trace.events.end(), between_looks)) {
          ++between;
          continue;
        }
        const Result result = Judge(*recording, Runner().Run(recording->scenario));
        ASSERT_EQ(result.status, Status::kPassed)
            << CodeName(code) << " " << CodeName(run_fails) << " " << seed << ": " << WhyNot(result);
      }
    }
  }
  EXPECT_GT(requests, 500);
  EXPECT_GT(late, 10);
  EXPECT_LT(between, 300);  // of 900: schedules made to hit it
}

// The session's own request is under way, or has just been made: that of another task comes too late to matter.
TEST(Traces, OfRequestsBehindTheSessionsOwnPass) {
  const TraceParts original(SomeTrace());
  int played = 0;
  for (std::size_t i = 0; i < original.events.size(); ++i) {
    if (original.events[i].kind() != static_cast<std::uint32_t>(EventKind::kCoordinatorRequestStop)) continue;
    for (const Code code : {Code::kOk, Code::kCancelled, Code::kInternal}) {
      TraceParts parts = original;
      proto::TraceEvent request = parts.events[i];
      request.set_task(request.task() + 1000);
      request.set_status(static_cast<std::uint32_t>(code));
      parts.events.insert(parts.events.begin() + static_cast<std::ptrdiff_t>(i) + 1, request);
      const Result result = Replayed(parts.Bytes());
      EXPECT_EQ(result.status, Status::kPassed) << i << " " << CodeName(code) << ": " << WhyNot(result);
      ++played;
    }
  }
  EXPECT_EQ(played, 6);  // of a recovery, and of the end
}

TEST(Traces, TracingChangesNothing) {
  const std::vector<Recording> recordings = RecordedSessions("random.jsonl", "default");
  for (std::size_t i = 0; i < recordings.size(); i += 20) {
    const Outcome traced = Runner().Run(recordings[i].scenario, {.write_trace = true});
    const Outcome plain = Runner().Run(recordings[i].scenario);
    EXPECT_EQ(traced.events, plain.events);
    EXPECT_EQ(traced.hash, plain.hash);
    EXPECT_EQ(traced.final, plain.final);
  }
}

}  // namespace
}  // namespace vigil::replays
