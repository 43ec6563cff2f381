// The forged histories of servers that are told to stop, of runs that fail when something was struck, and of what
// conversations hear.
#include <memory>
#include <string>
#include <utility>

#include "vigil/sim/checkers/checker_cases.h"

namespace vigil::sim {
namespace {

JobMoment& Add(JobEvidence& evidence, int second, const char* task, JobMoment::Kind kind) {
  return evidence.history.emplace_back(
      JobMoment{.at = Time{std::chrono::seconds(second)}, .task = task, .life = 1, .kind = kind});
}

// It is told in second 2, has stopped so many seconds later (below 0: never) and holds that; a trainer goes on.
JobEvidence Stops(int after, std::string holds = "") {
  JobEvidence evidence;
  Add(evidence, 1, "ps:0", JobMoment::Kind::kStarted);
  Add(evidence, 2, "ps:0", JobMoment::Kind::kToldToStop);
  if (after >= 0) Add(evidence, 2 + after, "ps:0", JobMoment::Kind::kHasStopped).subject = std::move(holds);
  Add(evidence, 60, "worker:0", JobMoment::Kind::kRunStarted);
  return evidence;
}

JobEvidence IsFollowed(JobEvidence evidence) {
  Add(evidence, 61, "ps:0", JobMoment::Kind::kStarted).life = 2;
  return evidence;
}

JobEvidence Struck(JobEvidence evidence, TimedFault fault) {
  fault.task = "ps:0";
  evidence.spec.plan.timed.push_back(std::move(fault));
  return evidence;
}

// That happens in second 10 of the plan and lasts 5 s; a run of worker:1 fails so many seconds after the plan's begin,
// and had begun 5 s before.
JobEvidence FailsAfter(int seconds, TimedFault fault, Code code = Code::kAborted) {
  JobEvidence evidence;
  evidence.spec.workload.filters = true;
  fault.at = std::chrono::seconds(10);
  if (fault.kind == TimedFault::Kind::kCrash) fault.restart_after = std::chrono::seconds(5);
  if (fault.kind == TimedFault::Kind::kCut) fault.lasts = std::chrono::seconds(5);
  evidence.spec.plan.timed.push_back(std::move(fault));
  Add(evidence, 100, "", JobMoment::Kind::kBegin);
  Add(evidence, 100 + seconds - 5, "worker:1", JobMoment::Kind::kRunStarted);
  Add(evidence, 100 + seconds, "worker:1", JobMoment::Kind::kAttempt).code = code;
  return evidence;
}

TimedFault CrashOf(const char* task) { return {.kind = TimedFault::Kind::kCrash, .task = task}; }
TimedFault CutOf(const char* task, const char* peer) {
  return {.kind = TimedFault::Kind::kCut, .task = task, .peer = peer};
}

JobEvidence Besides(JobEvidence evidence, RpcFault fault) {
  evidence.spec.plan.rpcs.push_back(std::move(fault));
  return evidence;
}

// What a conversation hears in second 1,000, of a session that was made, and variables that were initialised, so many
// seconds before. A server has begun in second 1, and everything has healed in second 100.
struct Hears {
  Code code = Code::kOk;
  int session_for = 500;
  int initialised_for = 500;
  int took = 1;
  std::string wrong = {};
};
JobEvidence ThatHears(const Hears& hears) {
  JobEvidence evidence;
  evidence.spec.workload.kind = WorkloadKind::kConversation;
  evidence.facts.faults = {{.kind = "crash_restart", .planned = 1, .fired = 1, .effective = 1}};
  Add(evidence, 1, "ps:0", JobMoment::Kind::kServing);
  Add(evidence, 100, "", JobMoment::Kind::kHealed);
  JobMoment& heard = Add(evidence, 1000, "worker:0", JobMoment::Kind::kAnswered);
  heard.code = hears.code;
  heard.answer = std::make_shared<Answer>(Answer{.took = std::chrono::seconds(hears.took),
                                                 .session_for = std::chrono::seconds(hears.session_for),
                                                 .initialised_for = std::chrono::seconds(hears.initialised_for),
                                                 .wrong = hears.wrong});
  return evidence;
}
JobEvidence OfAnOldSession(Code code, int initialised_for = 500) {
  return ThatHears({.code = code, .session_for = 990, .initialised_for = initialised_for});
}
JobEvidence InACalmJob(JobEvidence evidence) {
  evidence.facts.faults.clear();
  return evidence;
}
JobEvidence WhereOneStaysAway(JobEvidence evidence, std::int64_t fired) {
  evidence.facts.faults.push_back({.kind = "crash_for_good", .planned = 1, .fired = fired});
  return evidence;
}
JobEvidence WithATimeout(JobEvidence evidence) {
  evidence.spec.workload.timeout_ms = 1000;
  return evidence;
}

}  // namespace

std::vector<CheckerCase> AnswerCases() {
  constexpr std::string_view kId = "session.answers_as_alone";
  return {{kId, "the answer is wrong", ThatHears({}), ThatHears({.wrong = "[1], where one process answers [2]"})},
          {kId, "a code that no fault gives", OfAnOldSession(Code::kAborted), OfAnOldSession(Code::kInternal)},
          {kId, "a timeout that nobody has set", WithATimeout(OfAnOldSession(Code::kDeadlineExceeded)),
           OfAnOldSession(Code::kDeadlineExceeded)},
          {kId, "nobody has lost what was initialised", OfAnOldSession(Code::kFailedPrecondition, 999),
           OfAnOldSession(Code::kFailedPrecondition, 998)},
          {kId, "no fault has struck", InACalmJob(ThatHears({})), InACalmJob(OfAnOldSession(Code::kUnavailable))},
          {kId, "all had healed long before", ThatHears({.code = Code::kUnavailable, .session_for = 721}),
           ThatHears({.code = Code::kUnavailable, .session_for = 720})},
          {kId, "and the answer takes long", ThatHears({.took = 60}), ThatHears({.took = 61})},
          {kId, "who is said to stay away has not gone", WhereOneStaysAway(ThatHears({.code = Code::kUnavailable}), 1),
           WhereOneStaysAway(ThatHears({.code = Code::kUnavailable}), 0)}};
}

std::vector<CheckerCase> ReachCases() {
  constexpr std::string_view kId = "job.failures_are_in_reach";
  return {{kId, "another worker was struck", FailsAfter(12, CrashOf("ps:0")), FailsAfter(12, CrashOf("worker:0"))},
          {kId, "a link of others was cut", FailsAfter(12, CutOf("worker:1", "ps:0")),
           FailsAfter(12, CutOf("worker:0", "ps:0"))},
          {kId, "it fails before the fault", FailsAfter(10, CrashOf("ps:0")), FailsAfter(9, CrashOf("ps:0"))},
          {kId, "it fails long after the fault", FailsAfter(15 + 120 + 5, CrashOf("ps:0")),
           FailsAfter(15 + 120 + 6, CrashOf("ps:0"))},
          {kId, "the end of an input is no failure", FailsAfter(12, CrashOf("worker:0"), Code::kOutOfRange),
           FailsAfter(12, CrashOf("worker:0"), Code::kUnavailable)},
          {kId, "only requests of its own, or of servers, count",
           Besides(FailsAfter(12, CrashOf("worker:0")), {.from = "worker:1"}),
           Besides(FailsAfter(12, CrashOf("worker:0")), {.from = "worker:0"})}};
}

std::vector<CheckerCase> StopCases() {
  constexpr std::string_view kId = "server.stop_ends";
  const TimedFault crash{.kind = TimedFault::Kind::kCrash};
  const TimedFault orderly{.kind = TimedFault::Kind::kCrash, .in_order = true};
  const TimedFault pause{.kind = TimedFault::Kind::kPause};
  return {{kId, "it takes too long", Stops(30), Stops(31)},
          {kId, "it never ends", Stops(1), Stops(-1)},
          {kId, "a step is left", Stops(1), Stops(1, "1 steps")},
          {kId, "it is followed before it has stopped", IsFollowed(Stops(1)), IsFollowed(Stops(-1))},
          {kId, "only another crash may end it", Struck(IsFollowed(Stops(-1)), crash),
           Struck(IsFollowed(Stops(-1)), orderly)},
          {kId, "a pause excuses that it takes time, not what it keeps", Struck(Stops(31), pause),
           Struck(Stops(31, "1 steps"), pause)}};
}

}  // namespace vigil::sim
