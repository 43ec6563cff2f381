// Traces of supervisors are played again, whole, torn and forged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/trace_writer.h"
#include "vigil/core/train/supervisor/supervisor.h"
#include "vigil/replays/format/parse.h"
#include "vigil/replays/format/trace_spec.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/play/testing.h"
#include "vigil/replays/stage/model.h"
#include "vigil/replays/traces/trace_file.h"
#include "vigil/sim/world.h"

namespace vigil::replays {
namespace {

using fakes::TraceParts;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TEST(SupervisorTraces, OfRandomScenariosPass) {
  EXPECT_GT(ReplayTracesOf(RecordedSessions("supervisor.jsonl", "tensorflow", true), 1), 400);
}

TEST(SupervisorTraces, OfRandomScenariosUnderTheDefaultPass) {
  EXPECT_GT(ReplayTracesOf(RecordedSessions("supervisor.jsonl", "default", true), 2), 200);
}

TEST(SupervisorTraces, OfNamedScenariosPass) {
  for (const char* behaviour : {"tensorflow", "default"}) {
    EXPECT_GT(ReplayTracesOf(RecordedSessions("cases.jsonl", behaviour, true), 1), 20) << behaviour;
    EXPECT_GT(ReplayTracesOf(RecordedSessions("extended.jsonl", behaviour, true), 1), 2) << behaviour;
  }
}

TEST(SupervisorTraces, OfRunningServicesPass) {
  for (const char* behaviour : {"tensorflow", "default"}) {
    EXPECT_GT(ReplayTracesOf(RecordedSessions("services.jsonl", behaviour, true), 3), 100) << behaviour;
  }
}

std::string TraceOf(const std::string& scenario) {
  const absl::StatusOr<Recording> recording = ParseRecording(scenario);
  EXPECT_TRUE(recording.ok()) << recording.status();
  return Runner().Run(recording->scenario, {.write_trace = true}).written_trace;
}

// A managed session of three steps, with a service that saves.
std::string ManagedTrace() {
  return TraceOf(R"({"id": "managed", "session": {"kind": "supervisor", "logdir": true, "save_model_secs": 2},
      "scaffold": {"init_fn": true}, "drive": [{"op": "loop", "max": 3, "body": [{"op": "run"}, {"op": "advance", "secs": 1}]},
      {"op": "summary_computed"}]})");
}

// The same by hand, with a restored model.
std::string TraceByHand() {
  return TraceOf(R"({"id": "by_hand", "session": {"kind": "supervisor", "logdir": true}, "checkpoint": {"preload": [3]},
      "scope": "bare", "drive": [{"op": "prepare"}, {"op": "run"}, {"op": "should_stop"}, {"op": "start_services"},
      {"op": "request_stop", "code": "INTERNAL"}, {"op": "should_stop"}, {"op": "stop", "catch": true}, {"op": "close"}]})");
}

TEST(SupervisorTraces, HoldWhatWasCalledAndWhatCameOfIt) {
  const std::string bytes = ManagedTrace();
  const absl::StatusOr<Recording> recording = ParseTrace(bytes, "x.trace");
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->note, "");
  ASSERT_TRUE(recording->scenario.trace->supervisor.has_value());
  EXPECT_EQ(recording->scenario.trace->supervisor->writer, SupervisorSpec::Writer::kOwn);
  EXPECT_THAT(
      recording->expect->events,
      IsSupersetOf({"supervisor managed_session begins", "supervisor prepare begins", "writer reopen", "session 1 init",
                    "init_fn session=1 returns OK", "writer session_log", "supervisor prepare returns OK",
                    "supervisor body begins session=1", "supervisor should_stop -> no", "session 1 raw_run",
                    "supervisor body returns OK", "coordinator join", "supervisor stop returns OK", "session 1 close",
                    "supervisor managed_session returns OK"}));
  for (const std::string& line : recording->expect->events) EXPECT_THAT(line, testing::Not(HasSubstr("save")));
  EXPECT_EQ(Replayed(bytes).status, Status::kPassed) << WhyNot(Replayed(bytes));
}

TEST(SupervisorTraces, TornAnywherePlayWhatIsWhole) {
  for (const std::string& bytes : {ManagedTrace(), TraceByHand()}) ExpectToPlayTorn(bytes, 3);
}

std::size_t FindReturn(const TraceParts& parts, SupervisorMethod method, int n = 1) {
  return parts.Find(EventKind::kSupervisorReturn, n, static_cast<int>(method));
}

TEST(SupervisorTraces, AForgedDecisionIsFound) {
  const auto code = [](Code c) { return static_cast<std::uint32_t>(c); };
  const auto call = [](WriterCall c) { return static_cast<int>(c); };
  const Forgery forgeries[] = {
      {"another answer of should_stop",
       [&](TraceParts& p) { p.events[FindReturn(p, SupervisorMethod::kShouldStop, 2)].set_value(0); },
       "supervisor should_stop -> no", "supervisor should_stop -> yes"},
      {"an error that is not told",
       [&](TraceParts& p) { p.events[FindReturn(p, SupervisorMethod::kStop)].set_status(code(Code::kOk)); },
       "supervisor stop returns OK", "supervisor stop returns INTERNAL"},
      {"a writer that stays open",
       [&](TraceParts& p) { p.Erase(p.Find(EventKind::kWriterCall, 1, call(WriterCall::kClose))); },
       "supervisor stop returns INTERNAL", "writer close"},
      {"no start in the events",
       [&](TraceParts& p) { p.Erase(p.Find(EventKind::kWriterCall, 1, call(WriterCall::kSessionLog))); },
       "supervisor start_standard_services returns OK", "writer session_log"},
      {"a model that is restored and initialised",
       [&](TraceParts& p) {
         proto::TraceEvent& init = p.events[p.Find(EventKind::kSessionCall, 1, static_cast<int>(CallKind::kLocalInit))];
         init.set_call(static_cast<std::uint32_t>(CallKind::kInit));
       },
       "session 1 init", "session 1 local_init"},
      {"a failed restore that nobody minds",
       [&](TraceParts& p) {
         p.events[p.Find(EventKind::kSessionCall, 1, static_cast<int>(CallKind::kRestore))].set_status(
             code(Code::kDataLoss));
       },
       "session 1 local_init", "supervisor prepare returns DATA_LOSS"},
      {"a stop that does not join", [&](TraceParts& p) { p.Erase(p.Find(EventKind::kCoordinatorJoin)); },
       "writer session_log", "coordinator join"},
  };
  const std::string bytes = TraceByHand();
  EXPECT_EQ(Replayed(bytes).status, Status::kPassed) << WhyNot(Replayed(bytes));
  ExpectFound(bytes, forgeries);
}

TEST(SupervisorTraces, EveryEventThatIsTakenOutOfOneIsMissed) {
  const std::string bytes = ManagedTrace();
  const TraceParts whole(bytes);
  int passed = 0;
  for (std::size_t i = 0; i + 1 < whole.events.size(); ++i) {
    TraceParts parts(bytes);
    const proto::TraceEvent& event = parts.events[i];
    const auto kind = static_cast<EventKind>(event.kind());
    // What the user need not have done; and what other tasks did.
    const bool users =
        (kind == EventKind::kSessionCall && event.call() == static_cast<std::uint32_t>(CallKind::kRawRun)) ||
        (kind == EventKind::kSupervisorReturn &&
         event.call() == static_cast<std::uint32_t>(SupervisorMethod::kShouldStop));
    const bool of_a_service = event.task() != whole.events[0].task();
    const bool note = kind == EventKind::kNote;
    parts.Erase(i);
    const Result result = Replayed(parts.Bytes());
    EXPECT_EQ(result.status == Status::kPassed, users || of_a_service || note) << i << ": " << static_cast<int>(kind);
    passed += result.status == Status::kPassed ? 1 : 0;
  }
  EXPECT_GT(passed, 0);
}

// The trace of a managed session beside which a loop fails, some time: tasks take the processor wherever they can.
std::string TraceWithALoopThatFails(std::uint64_t seed, Code code, Code body_fails) {
  sim::RandomChooser chooser(seed);
  sim::World world({.chooser = &chooser, .seed = seed, .preempt = sim::Preempt::kAtCalls});
  sim::Node& node = world.AddNode("node");
  node.Spawn("main", [&] {
    const Env env = node.env();
    const std::unique_ptr<Model> model = *BuildModel(env, {});
    const auto sv = Supervisor::Create(env, *model->graph, {.logdir = "/logs", .trace_path = "/x.trace"});
    if (!sv.ok()) return;
    RunSpec run;
    model->caller_fetches.AppendTo(*model->graph, &run);
    (*sv)
        ->ManagedSession({},
                         [&](const SessionPtr& session) -> absl::Status {
                           (*sv)->Loop(std::chrono::seconds(1), [&] { return MakeStatus(code, "from elsewhere"); });
                           std::vector<Tensor> values;
                           for (int i = 0; i < 4; ++i) {
                             if ((*sv)->ShouldStop()) return absl::OkStatus();
                             VIGIL_RETURN_IF_ERROR(session->Run({.spec = run}, &values));
                           }
                           return body_fails == Code::kOk ? absl::OkStatus() : MakeStatus(body_fails, "the body");
                         })
        .IgnoreError();
  });
  EXPECT_EQ(world.Run().verdict, sim::WorldVerdict::kDone);
  return node.disk().Contents()["/x.trace"];
}

TEST(SupervisorTraces, OfRunsThatALoopStopsPass) {
  int requests = 0;
  int told = 0;
  for (const Code code : {Code::kAborted, Code::kOutOfRange, Code::kInternal}) {
    for (const Code body_fails : {Code::kOk, Code::kCancelled}) {
      for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const absl::StatusOr<Recording> recording =
            ParseTrace(TraceWithALoopThatFails(seed, code, body_fails), "x.trace");
        ASSERT_TRUE(recording.ok()) << recording.status();
        requests += static_cast<int>(recording->scenario.trace->requests.size());
        const std::vector<std::string>& events = recording->expect->events;
        told += static_cast<int>(
            std::ranges::count(events, fmt::format("supervisor managed_session returns {}", CodeName(code))));
        const Result result = Judge(*recording, Runner().Run(recording->scenario));
        ASSERT_EQ(result.status, Status::kPassed)
            << CodeName(code) << " " << CodeName(body_fails) << " " << seed << ": " << WhyNot(result);
      }
    }
  }
  EXPECT_GT(requests, 200);
  EXPECT_GT(told, 50);
}

TEST(SupervisorTraces, OfATaskThatWasLeftBehindPass) {
  const std::string bytes = TraceOf(
      R"({"id": "stuck", "session": {"kind": "supervisor", "stop_grace_secs": 7}, "scope": "bare", "drive": [{"op": "prepare"},
      {"op": "start_thread", "secs": 100000}, {"op": "run"}, {"op": "stop", "catch": true}, {"op": "close"}]})");
  const absl::StatusOr<Recording> recording = ParseTrace(bytes, "x.trace");
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_THAT(recording->expect->events, testing::Contains("supervisor stop returns USAGE, tasks are left behind"));
  EXPECT_EQ(Replayed(bytes).status, Status::kPassed) << WhyNot(Replayed(bytes));
}

}  // namespace
}  // namespace vigil::replays
