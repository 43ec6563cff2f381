#include "vigil/replays/show/machines.h"

#include <algorithm>

#include "vigil/sim/cluster/job_history.h"

namespace vigil::replays {

std::string Machines::Of(std::string_view task, Duration at) const {
  const std::string_view name = sim::WithoutZombie(task);
  std::string now(name);
  std::string before(name);
  for (const sim::FaultApplier::Entry& entry : faults_) {
    const bool moves = entry.what == sim::FaultApplier::Entry::What::kStarts && entry.task == name && entry.at <= at;
    if (!moves || entry.machine == now) continue;
    before = now;
    now = entry.machine;
  }
  return sim::IsZombie(task) ? before : now;
}

std::vector<std::string> Machines::Others() const {
  std::vector<std::string> others;
  for (const sim::FaultApplier::Entry& entry : faults_) {
    if (entry.what != sim::FaultApplier::Entry::What::kStarts || entry.machine == entry.task) continue;
    if (std::ranges::find(others, entry.machine) == others.end()) others.push_back(entry.machine);
  }
  return others;
}

bool Machines::IsOf(std::string_view machine, std::string_view task) {
  return machine.substr(0, machine.find('~')) == task;
}

}  // namespace vigil::replays
