#include "vigil/sim/checkers/reach.h"

#include <algorithm>
#include <array>

namespace vigil::sim {
namespace {

// What every network does, and no fault: messages take their time, and answers to two calls come in either order.
bool IsOrdinary(const FaultCount& fault) {
  constexpr std::array kOrdinary = {FaultKind::kLatencySpread, FaultKind::kReordering, FaultKind::kSmallWindow};
  return std::ranges::any_of(kOrdinary, [&](FaultKind kind) { return fault.kind == InfoOf(kind).name; });
}

// Times of a plan count from its begin.
bool HasComeBy(const JobRun& run, Duration at, Time when) {
  const auto begin = std::ranges::find(run.history, JobMoment::Kind::kBegin, &JobMoment::kind);
  return begin == run.history.end() || begin->at + at <= when;
}

}  // namespace

bool IsServer(std::string_view task) { return task.starts_with("ps"); }

// Clients are no part of the cluster.
bool NeedsAll(const JobSpec& spec) { return !spec.workload.filters && !spec.workload.clients; }

bool StartsInOrder(const JobSpec& spec) { return !spec.no_wait && !NeedsAll(spec); }

bool IsCalm(const JobFacts& facts) {
  return std::ranges::all_of(facts.faults, [](const FaultCount& fault) {
    if (IsOrdinary(fault)) return true;
    // Whom a zombie does nothing beside has been followed all the same.
    return fault.effective == 0 && (fault.kind != InfoOf(FaultKind::kZombie).name || fault.fired == 0);
  });
}

bool NobodyStaysAway(const JobFacts& facts) {
  return std::ranges::none_of(facts.faults, [](const FaultCount& fault) {
    return fault.kind == InfoOf(FaultKind::kCrashForGood).name && fault.fired > 0;
  });
}

bool HasZombies(const JobRun& run) {
  return std::ranges::any_of(run.history,
                             [](const JobMoment& moment) { return moment.kind == JobMoment::Kind::kReplaced; });
}

bool PlansForDisks(const JobRun& run, DiskFault::Effect effect) {
  return std::ranges::find(run.spec.plan.disks, effect, &DiskFault::effect) != run.spec.plan.disks.end();
}

bool Fired(const JobRun& run, InertFault::List list, std::size_t index) {
  return std::ranges::none_of(run.facts.inert, [&](const InertFault& inert) {
    return inert.list == list && inert.index == index && !inert.fired;
  });
}

bool MayHaveStruckBy(const JobRun& run, const TimedFault& fault, Time when) {
  return fault.point.has_value() || fault.kind == TimedFault::Kind::kStart || HasComeBy(run, fault.at, when);
}

bool MayHaveStruckBy(const JobRun& run, const DiskFault& fault, Time when) {
  return !fault.at.has_value() || HasComeBy(run, *fault.at, when);
}

bool Reaches(const JobRun& run, std::string_view struck, std::string_view who) {
  const std::string_view task = WithoutZombie(who);
  return struck.empty() || struck == task || IsServer(struck) || NeedsAll(run.spec);
}

bool Reaches(const JobRun& run, const TimedFault& fault, std::string_view who) {
  const std::string_view task = WithoutZombie(who);
  if (fault.peer.empty()) return Reaches(run, fault.task, task);
  return fault.task == task || fault.peer == task || (IsServer(fault.task) && IsServer(fault.peer)) ||
         NeedsAll(run.spec);
}

}  // namespace vigil::sim
