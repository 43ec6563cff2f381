// What servers hold of sessions that are gone, while their masters live on.
//
// A session that ends says goodbye to every server; a goodbye that gets lost is said again, and once more when its
// master hears of that server. So what a server holds of a session which its master does not know is on its way out:
// if nothing keeps the two apart it is gone within moments.
// Thread safety: none.
#ifndef VIGIL_SIM_CLUSTER_ORPHANS_H_
#define VIGIL_SIM_CLUSTER_ORPHANS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "vigil/core/base/time.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/sim/cluster/job_history.h"

namespace vigil::sim {

class Orphans {
 public:
  // Of all servers, by task; `now` only grows. Of each server what it has held the longest.
  std::map<std::string, Overdue> Look(const std::map<std::string, Server::Load>& servers, Time now);

 private:
  // By the incarnation of the server, and the session.
  std::map<std::pair<std::uint64_t, std::string>, Time> since_;
  // By the incarnation of the server, and of the master.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Time> dead_since_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_ORPHANS_H_
