// A run fails since something has struck that its task can feel, and not long ago.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/sim/checkers/checker.h"
#include "vigil/sim/checkers/reach.h"

namespace vigil::sim {
namespace {

// After the end of a fault whatever it has broken is known to be, to who does not pause just then.
constexpr std::chrono::minutes kFelt{2};

// When a fault was felt, at the most.
struct Trouble {
  const TimedFault* fault;
  Time from;
  Time to;
};

// By nothing but faults of which it is known when they strike: none of links, requests, disks and calls.
bool IsKnownWhen(const JobRun& run, std::string_view task) {
  const auto ordinary = [](const LinkSpec& link) { return link.loss == 0 && link.duplication == 0; };
  const FaultPlan& plan = run.spec.plan;
  return ordinary(plan.default_link) &&
         std::ranges::all_of(plan.links, [&](const auto& entry) { return ordinary(entry.second); }) &&
         !AnyStruck(run, InertFault::List::kRpcs, plan.rpcs,
                    [&](const RpcFault& f) { return Reaches(run, f.from, task); }) &&
         !AnyStruck(run, InertFault::List::kDisks, plan.disks,
                    [&](const DiskFault& f) { return Reaches(run, f.task, task); }) &&
         !AnyStruck(run, InertFault::List::kSessionCalls, plan.session_calls,
                    [&](const SessionCallFault& f) { return Reaches(run, f.task, task); });
}

// Each has a say in all the others' runs, or they meet at what only one of them fills.
bool IsAlone(const JobSpec& spec) {
  return spec.workload.filters && spec.workload.master.empty() && !spec.workload.shared_input && !spec.no_wait &&
         spec.workload.timeout_ms == 0 && spec.workload.kind != WorkloadKind::kSyncRegression &&
         spec.workload.kind != WorkloadKind::kSupervisor;
}

std::vector<Trouble> TroublesOf(const JobRun& run) {
  std::vector<Trouble> troubles;
  std::optional<Time> begin;
  Time healed = kNever;
  for (const JobMoment& moment : run.history) {
    if (moment.kind == JobMoment::Kind::kBegin) begin = moment.at;
    if (moment.kind == JobMoment::Kind::kHealed) healed = moment.at;
  }
  if (!begin.has_value()) return troubles;
  for (const TimedFault& fault : run.spec.plan.timed) {
    // Nothing that a run waits for looks at the time of day.
    if (fault.kind == TimedFault::Kind::kClockJump || fault.kind == TimedFault::Kind::kClockDrift) continue;
    std::optional<Duration> lasts = fault.lasts.has_value() ? fault.lasts : fault.restart_after;
    if (fault.kind == TimedFault::Kind::kStart) lasts = Duration(0);
    // At a point of the course it strikes nobody knows when.
    const Time at = fault.point.has_value() ? run.history.front().at : *begin + fault.at;
    const bool known = !fault.point.has_value() && !fault.elsewhere.has_value() && !fault.in_order &&
                       fault.kind != TimedFault::Kind::kZombie;
    troubles.push_back({&fault, at, known && lasts.has_value() ? std::min(healed, at + *lasts) : healed});
  }
  return troubles;
}

void CheckFailures(const JobRun& run, Findings& findings) {
  if (!IsAlone(run.spec)) return;
  const std::vector<Trouble> troubles = TroublesOf(run);
  std::map<std::string, bool, std::less<>> known;
  std::map<std::string, Time, std::less<>> began;  // the attempt that is under way
  for (const JobMoment& moment : run.history) {
    const auto before = began.find(moment.task);
    const Time from = before == began.end() ? moment.at : before->second;
    if (moment.kind == JobMoment::Kind::kRunStarted || moment.kind == JobMoment::Kind::kAttempt ||
        moment.kind == JobMoment::Kind::kSession)
      began[moment.task] = moment.at;
    if (moment.kind != JobMoment::Kind::kAttempt ||
        (moment.code != Code::kAborted && moment.code != Code::kUnavailable))
      continue;
    const auto [is_known, is_new] = known.try_emplace(moment.task, false);
    if (is_new) is_known->second = IsKnownWhen(run, moment.task);
    if (!is_known->second) continue;
    findings.Arm();
    const bool felt = std::ranges::any_of(troubles, [&](const Trouble& trouble) {
      return trouble.from <= moment.at && from <= trouble.to + kFelt + run.spec.workload.step &&
             Reaches(run, *trouble.fault, moment.task);
    });
    if (!felt) findings.Violate(moment, "a fault that the task can feel before a run fails", CodeName(moment.code));
  }
}

}  // namespace

const Checker kFailuresInReach = {
    .id = "job.failures_are_in_reach",
    .sentence =
        "A run fails with ABORTED or UNAVAILABLE only within two minutes, and a pause between two steps, of a fault "
        "that "
        "its task can feel: of itself, of a server, or of a link to one. What happens to others that train breaks no "
        "session of its own.",
    .source = "recordings of clusters: cluster_worker_gone, cluster_worker_restart: the others have one session each",
    .needs = &Behaviour::bounded_recovery,
    .check = CheckFailures,
    .excuses =
        "jobs whose tasks hang on one another: without filters, with one master or input for all, of synchronous "
        "replicas; supervisors and timeouts; tasks that lost messages, requests, disks or calls may have struck",
    .why = "there one task's failure is another's cause, or it is not known when it struck",
};

}  // namespace vigil::sim
