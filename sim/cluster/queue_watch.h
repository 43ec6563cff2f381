// Watches what happens to the queues on a server: every operation on one, by its kernel, from its call to its return.
//
// It is a registry of ops like any other, for a server to run; sessions and graphs know nothing of it.
// Thread safety: as the functions that are told.
#ifndef VIGIL_SIM_CLUSTER_QUEUE_WATCH_H_
#define VIGIL_SIM_CLUSTER_QUEUE_WATCH_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "vigil/core/graph/op.h"
#include "vigil/sim/cluster/job_history.h"

namespace vigil::sim {

// Told of an operation that begins; gives who is to be told of its end. The operation is the same both times: by its
// end it has what was taken, or the size. One that is killed with its server has no end.
using QueueTold = std::function<std::function<void(const absl::Status&)>(std::shared_ptr<const QueueOp>)>;

// The same ops; `told` hears of each that works on a queue of whole numbers.
std::unique_ptr<OpRegistry> WatchQueues(const OpRegistry& ops, QueueTold told);

}  // namespace vigil::sim

#endif  // VIGIL_SIM_CLUSTER_QUEUE_WATCH_H_
