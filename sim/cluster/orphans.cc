#include "vigil/sim/cluster/orphans.h"

#include <algorithm>

namespace vigil::sim {

std::map<std::string, Orphans::Found> Orphans::Look(const std::map<std::string, Server::Load>& servers, Time now) {
  std::map<std::uint64_t, const Server::Load*> masters;
  for (const auto& [task, load] : servers) masters[load.incarnation] = &load;
  std::map<std::pair<std::uint64_t, std::string>, Time> still;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Time> still_dead;
  std::map<std::string, Found> oldest;
  for (const auto& [task, load] : servers) {
    Found& found = oldest[task];
    for (const auto& [session, incarnation] : load.registered_by) {
      const auto master = masters.find(incarnation);
      if (master == masters.end() || master->second->running.contains(session)) continue;
      const std::pair key(load.incarnation, session);
      const auto before = since_.find(key);
      const Time since = before == since_.end() ? now : before->second;
      still[key] = since;
      if (!found.session.empty() && now - since <= found.age) continue;
      found.session = session;
      found.age = now - since;
    }
    for (const std::uint64_t master : load.steps_of) {
      if (masters.contains(master)) continue;
      const auto before = dead_since_.find({load.incarnation, master});
      const Time since = before == dead_since_.end() ? now : before->second;
      still_dead[{load.incarnation, master}] = since;
      found.dead = std::max(found.dead, now - since);
    }
  }
  since_ = std::move(still);
  dead_since_ = std::move(still_dead);
  return oldest;
}

std::size_t StaleSteps(const Server::Load& load) {
  std::size_t running = 0;
  for (const auto& [session, steps] : load.running) running += steps;
  return running - std::min(running, load.calls);
}

}  // namespace vigil::sim
