// The forged histories of servers that are told to stop.
#include <string>
#include <utility>

#include "vigil/sim/checkers/checker_cases.h"

namespace vigil::sim {
namespace {

// It is told in second 2, has stopped so many seconds later (below 0: never) and holds that; a trainer goes on.
JobEvidence Stops(int after, std::string holds = "") {
  JobEvidence evidence;
  const auto add = [&](int second, const char* task, JobMoment::Kind kind, std::string subject = "") {
    evidence.history.push_back({.at = Time{std::chrono::seconds(second)},
                                .task = task,
                                .life = 1,
                                .kind = kind,
                                .subject = std::move(subject)});
  };
  add(1, "ps:0", JobMoment::Kind::kStarted);
  add(2, "ps:0", JobMoment::Kind::kToldToStop);
  if (after >= 0) add(2 + after, "ps:0", JobMoment::Kind::kHasStopped, std::move(holds));
  add(60, "worker:0", JobMoment::Kind::kRunStarted);
  return evidence;
}

JobEvidence IsFollowed(JobEvidence evidence) {
  evidence.history.push_back(
      {.at = Time{std::chrono::seconds(61)}, .task = "ps:0", .life = 2, .kind = JobMoment::Kind::kStarted});
  return evidence;
}

JobEvidence Struck(JobEvidence evidence, TimedFault fault) {
  fault.task = "ps:0";
  evidence.spec.plan.timed.push_back(std::move(fault));
  return evidence;
}

}  // namespace

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
