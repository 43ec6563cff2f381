#include "vigil/sim/checkers/reach.h"

#include <algorithm>

namespace vigil::sim {

bool IsServer(std::string_view task) { return task.starts_with("ps"); }

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

bool Reaches(const JobRun& run, std::string_view struck, std::string_view who) {
  const std::string_view task = WithoutZombie(who);
  return struck.empty() || struck == task || IsServer(struck) || !run.spec.workload.filters;
}

bool Reaches(const JobRun& run, const TimedFault& fault, std::string_view who) {
  const std::string_view task = WithoutZombie(who);
  if (fault.peer.empty()) return Reaches(run, fault.task, task);
  return fault.task == task || fault.peer == task || (IsServer(fault.task) && IsServer(fault.peer)) ||
         !run.spec.workload.filters;
}

}  // namespace vigil::sim
