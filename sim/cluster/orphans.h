// What servers hold of sessions that are gone, while their masters live on.
//
// A session that ends says goodbye to every server; a goodbye that gets lost is said again, and once more when its
// master hears of that server. So what a server holds of a session which its master does not know is on its way out:
// if nothing keeps the two apart it is gone within moments.
// Thread safety: none.
#ifndef VIGIL_SIM_CLUSTER_ORPHANS_H_
#define VIGIL_SIM_CLUSTER_ORPHANS_H_

#include <map>
#include <string>
#include <utility>

#include "vigil/core/base/time.h"
#include "vigil/core/cluster/server/server.h"

namespace vigil::sim {

class Orphans {
 public:
  struct Found {
    std::string session;
    Duration age{0};   // since it was first seen
    Duration dead{0};  // the same of steps whose master's process is gone
  };

  // Of all servers, by task; `now` only grows. The oldest on each server; none: no session.
  std::map<std::string, Found> Look(const std::map<std::string, Server::Load>& servers, Time now);

 private:
  // By the incarnation of the server, and the session.
  std::map<std::pair<std::uint64_t, std::string>, Time> since_;
  // By the incarnation of the server, and of the master.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Time> dead_since_;
};

// Steps that the graphs of a master take for running, beyond those for which it waits: a few are just beginning or
// ending.
std::size_t StaleSteps(const Server::Load& load);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_ORPHANS_H_
