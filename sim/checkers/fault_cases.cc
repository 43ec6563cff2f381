// The forged histories of servers that are told to stop, and of runs that fail when something was struck.
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

}  // namespace

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
