// A session as its master keeps it: the whole graph, the devices it may use, and a ClientGraph for each kind of step.
//
// Thread safety: safe from any task. Used through shared_ptr, which steps under way hold.
#ifndef VIGIL_CORE_CLUSTER_MASTER_MASTER_SESSION_H_
#define VIGIL_CORE_CLUSTER_MASTER_MASTER_SESSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/atomic.h"
#include "vigil/core/cluster/in_flight.h"
#include "vigil/core/cluster/master/callables.h"
#include "vigil/core/cluster/master/client_graph.h"
#include "vigil/core/cluster/master/master_graph.h"
#include "vigil/core/cluster/master_interface.h"
#include "vigil/core/cluster/task_start.h"
#include "vigil/core/cluster/worker/worker_service.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/notification.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"

namespace vigil {

class MasterSession : public std::enable_shared_from_this<MasterSession> {
 public:
  struct Client {
    std::int64_t request_id = 0;  // of its CreateSession; 0: not known
    bool kept = false;            // it says KeepSession, as long as it lives
    TaskStart process = {};       // which it is; number 0: not known
  };
  MasterSession(const Env& env, const OpRegistry& ops, std::shared_ptr<WorkerService> worker, std::string handle,
                Client client, SessionConfig config, TaskDevices devices);

  const std::string& handle() const { return handle_; }
  // Of the request that it was made for; 0: not known.
  std::int64_t created_by() const { return client_.request_id; }
  const TaskStart& client_process() const { return client_.process; }
  const std::vector<TaskDevice>& devices() const { return *options_.devices; }
  std::size_t calls() const { return in_flight_.size(); }  // steps and registrations under way
  std::size_t running() const;                             // steps alone, as its graphs know of them

  // Its graph, to begin with. Gives the version.
  std::int64_t Begin(std::shared_ptr<MasterGraph> graph);
  // Adds nodes. Errors: ABORTED unless `version` is the graph's; ImportGraphDef's. Gives the new version.
  absl::StatusOr<std::int64_t> Extend(const proto::GraphDef& nodes, std::int64_t version);

  // What the steps of these names do; made at the first time, when it waits for the tasks that get their partitions.
  // `caller`: for whom, may be null. Errors: CANCELLED if the session is closed; PartitionGraph's; the tasks';
  // DEADLINE_EXCEEDED. What failed is made anew the next time.
  absl::StatusOr<std::shared_ptr<ClientGraph>> Find(const StepNames& names, Time deadline, StepCaller* caller);
  absl::Status Run(ClientGraph& graph, const StepCall& call, Time deadline, StepCaller* caller,
                   std::vector<Tensor>* fetched);
  // Until when a step may take that begins now.
  Time DeadlineOf(const RunOptions* options) const;

  std::int64_t version() const;

  // From now on until Close(), every keepalive (if there is one), the tasks that work for it are asked who they are. If
  // one is gone, or another process has its name, what is under way fails with UNAVAILABLE or ABORTED: a step may wait
  // for a value that it alone would have brought about, without a request left to it. And if nothing was Heard() in two
  // of them of a client that would say that it lives, the session ends, after `forget` was called. `running`: as long
  // as that lasts.
  void Watch(InFlight::Token running, std::function<void()> forget);
  // What its clients run again and again.
  Callables& callables() { return callables_; }

  // Its client is there.
  void Heard() { heard_.store(true, std::memory_order_relaxed); }

  // Ends what is under way with CANCELLED, and tells the tasks to forget the graphs. Waits for nobody but the task that
  // watches, which ends at once, and for what SessionConfig::waits_for_tasks says: until `stopped` (null: not at all).
  void Close(const std::function<bool()>& stopped = nullptr);
  // The same with that reason, but for the wait. The first reason is also what a step is told that comes later, by who
  // has found the session before: ABORTED if its client should make another one.
  void End(const absl::Status& why);

 private:
  bool ClientIsLost();
  void FailIfTasksAreLost();
  // OK if it is the one that the session began with, or does not say.
  absl::Status CheckTask(const TaskAddress& task, const NetworkReply& reply) const;

  const Env env_;
  const OpRegistry& ops_;
  const std::string handle_;
  const Client client_;
  const SessionConfig config_;
  ClientGraphOptions options_;
  CallsInFlight in_flight_;  // registrations and steps
  Notification over_;        // closed
  Callables callables_;
  Atomic<bool> heard_{true};
  int silent_ = 0;  // keepalives in which nothing was heard, one after the other; of the task that watches
  const std::unique_ptr<Mutex> mutex_;
  // Guarded by *mutex_.
  std::shared_ptr<MasterGraph> graph_;
  std::int64_t version_ = 0;
  std::map<StepNames, std::shared_ptr<ClientGraph>> graphs_;
  std::vector<std::shared_ptr<ClientGraph>> registering_;  // until the answers are there
  absl::Status ended_;                                     // why; OK: it has not
  std::shared_ptr<Task> watcher_;                          // null: none
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_MASTER_MASTER_SESSION_H_
