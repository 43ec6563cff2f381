#include "vigil/sim/cluster/orphans.h"

#include <algorithm>
#include <cstddef>

namespace vigil::sim {
namespace {

// Steps that the graphs of a master take for running, beyond those for which it waits: a few are just beginning or
// ending.
std::size_t StaleSteps(const Server::Load& load) {
  std::size_t running = 0;
  for (const auto& [session, steps] : load.running) running += steps;
  return running - std::min(running, load.calls);
}

// Since when it was there each time that somebody looked, who says so of this time, too.
template <typename Key>
Time SinceWhen(const std::map<Key, Time>& before, std::map<Key, Time>& still, Key key, Time now) {
  const auto seen = before.find(key);
  const Time since = seen == before.end() ? now : seen->second;
  still.insert_or_assign(std::move(key), since);
  return since;
}

}  // namespace

std::map<std::string, Overdue> Orphans::Look(const std::map<std::string, Server::Load>& servers, Time now) {
  std::map<std::uint64_t, const Server::Load*> masters;
  for (const auto& [task, load] : servers) masters[load.incarnation] = &load;
  decltype(since_) still;
  decltype(dead_since_) still_dead;
  std::map<std::string, Overdue> oldest;
  for (const auto& [task, load] : servers) {
    Overdue& found = oldest[task];
    found.stale_steps = StaleSteps(load);
    for (const auto& [session, incarnation] : load.registered_by) {
      const auto master = masters.find(incarnation);
      if (master == masters.end() || master->second->running.contains(session)) continue;
      const Duration held = now - SinceWhen(since_, still, {load.incarnation, session}, now);
      if (!found.session.empty() && held <= found.session_for) continue;
      found.session = session;
      found.session_for = held;
    }
    for (const std::uint64_t master : load.steps_of) {
      if (masters.contains(master)) continue;
      found.dead_for =
          std::max(found.dead_for, now - SinceWhen(dead_since_, still_dead, {load.incarnation, master}, now));
    }
  }
  since_ = std::move(still);
  dead_since_ = std::move(still_dead);
  return oldest;
}

}  // namespace vigil::sim
