// A server that is told to stop comes to an end, and lets go of everything.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

// As long as those wait who end processes by force (terminationGracePeriodSeconds of a pod).
constexpr std::chrono::seconds kGrace{30};

bool AnyOf(const FaultPlan& plan, std::string_view task, bool (*is)(const TimedFault& fault)) {
  return std::ranges::any_of(plan.timed, [&](const TimedFault& fault) { return fault.task == task && is(fault); });
}

bool TakesTime(const TimedFault& fault) {
  return fault.kind == TimedFault::Kind::kPause || fault.kind == TimedFault::Kind::kSlowNode;
}
bool EndsIt(const TimedFault& fault) { return fault.kind == TimedFault::Kind::kCrash && !fault.in_order; }

void TooLong(const JobMoment& told, Findings& findings) {
  findings.Violate(told, fmt::format("a server that has stopped within {:g} s", ToSeconds(kGrace)), "none");
}

void CheckServerStops(const JobRun& run, Findings& findings) {
  std::map<std::string, const JobMoment*, std::less<>> stopping;
  const FaultPlan& plan = run.spec.plan;
  const auto is_late = [&plan](const JobMoment& told, Time at) {
    return at - told.at > kGrace && !AnyOf(plan, told.task, TakesTime);
  };
  Time last;
  for (const JobMoment& moment : run.history) {
    last = moment.at;
    if (moment.kind == JobMoment::Kind::kToldToStop && IsServer(moment.task)) stopping[moment.task] = &moment;
    const auto told = stopping.find(moment.task);
    if (told == stopping.end()) continue;
    const bool followed = moment.kind == JobMoment::Kind::kStarted;
    if (followed && !AnyOf(plan, moment.task, EndsIt)) TooLong(*told->second, findings);
    if (moment.kind == JobMoment::Kind::kHasStopped) {
      findings.Arm();
      if (!moment.subject.empty()) findings.Violate(moment, "a stopped server that holds nothing", moment.subject);
      if (is_late(*told->second, moment.at)) TooLong(*told->second, findings);
    }
    if (followed || moment.kind == JobMoment::Kind::kHasStopped) stopping.erase(told);
  }
  for (const auto& [task, told] : stopping) {
    if (is_late(*told, last) && !AnyOf(plan, task, EndsIt)) TooLong(*told, findings);
  }
}

}  // namespace

const Checker kServerStops = {
    .id = "server.stop_ends",
    .sentence =
        "A server that is told to stop has stopped within half a minute, whatever its peers do, and then it holds no "
        "step, session or call, and nothing is under way.",
    .source = "core/cluster/server/server.h: Stop cancels what is under way and waits until it has ended",
    .check = CheckServerStops,
    .excuses = "for how long, where the plan stops or slows that task; stops that a crash cuts short; graphs",
    .why = "a process that stands still stops nothing; graphs belong to nobody once the sessions are gone",
};

}  // namespace vigil::sim
