// The ops of a task's server, with all that happens to the ledger (update_watch.h) and to queues of whole numbers
// (queue_watch.h) written into a chronicle.
//
// Thread safety: as the chronicle and the functions of the watch. Ownership: the chronicle is borrowed and outlives the
// ops.
#ifndef VIGIL_SIM_CLUSTER_SERVER_WATCH_H_
#define VIGIL_SIM_CLUSTER_SERVER_WATCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "vigil/core/graph/op.h"
#include "vigil/sim/cluster/chronicle.h"

namespace vigil::sim {

struct WatchedProcess {
  std::string task;
  int life = 0;
};

struct ServerWatch {
  Chronicle& chronicle;
  // The process of that parameter server; of "": the one whose ops they are.
  std::function<WatchedProcess(std::string_view server)> process;
  // Another number for each operation on a queue of the job.
  std::function<std::int64_t()> next_call;
};

std::unique_ptr<OpRegistry> WatchServer(const OpRegistry& ops, const ServerWatch& watch);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_SERVER_WATCH_H_
