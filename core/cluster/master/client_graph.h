// What a master session does for steps with the same feeds, fetches and targets: the graph is cut up once, each task
// gets its partition once, and a step is a request to each of these tasks and a run of the own partition in the calling
// task.
//
// Thread safety: safe from any task. Used through shared_ptr.
#ifndef VIGIL_CORE_CLUSTER_MASTER_CLIENT_GRAPH_H_
#define VIGIL_CORE_CLUSTER_MASTER_CLIENT_GRAPH_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/cluster/master/cleanups.h"
#include "vigil/core/cluster/master/master_graph.h"
#include "vigil/core/cluster/master/step_run.h"
#include "vigil/core/cluster/master_interface.h"
#include "vigil/core/cluster/worker/registered_graph.h"
#include "vigil/core/cluster/worker/worker_service.h"
#include "vigil/core/env/env.h"

namespace vigil {

// For whom a step is run from afar: when he is gone, what is under way for him fails. Safe from any task.
class StepCaller {
 public:
  static std::shared_ptr<StepCaller> Of(IncomingCall& call);
  // These are under way for him now, and nothing else.
  void Watch(const std::shared_ptr<ParallelCalls>& calls);

 private:
  void Gone();

  SpinLock lock_;
  // Guarded by lock_.
  std::shared_ptr<ParallelCalls> calls_;
  bool gone_ = false;
};

struct ClientGraphOptions {
  std::shared_ptr<WorkerService> worker;  // of the master's task
  std::string session;                    // its handle
  TaskDevices devices;
  int own = 0;
  Duration keepalive{0};
  std::shared_ptr<Cleanups> cleanups;  // that the session's end waits for; null: it waits for none
};

class ClientGraph : public std::enable_shared_from_this<ClientGraph> {
 public:
  explicit ClientGraph(const Env& env, ClientGraphOptions options) : env_(env), options_(std::move(options)) {}

  // Has the graph cut up. Errors: PartitionGraph's.
  absl::Status Partition(MasterGraph& graph, const StepNames& names);
  // Hands the partitions out. `caller`: for whom, may be null. Errors: the tasks'; DEADLINE_EXCEEDED; CANCELLED if the
  // caller is gone meanwhile; why the session has ended (MasterSession::End).
  absl::Status Register(CallsInFlight& calls, Time deadline, StepCaller* caller);
  // Tells the tasks to forget them, those too that have not heard of them yet; does not wait. Also while another task
  // is in Register(). REQUIRES: Partition().
  void Deregister();
  // The same of the steps that run, which have failed. The tasks that run them would do so too, but may never come to
  // it: the process may end.
  void CleanupRunning(const absl::Status& why);
  // The tasks that have a partition, by name, without the own one.
  void AddTasks(std::map<std::string, const TaskAddress*>& tasks) const;

  std::size_t running() const;  // steps

  // `caller`: for whom the step runs, may be null. Errors: the root cause; why the session has ended
  // meanwhile.
  absl::Status Run(CallsInFlight& steps, const StepCall& call, Time deadline, StepCaller* caller,
                   std::vector<Tensor>* fetched);

 private:
  struct Part {
    const TaskAddress* task = nullptr;
    const CutPart* cut = nullptr;
    std::int64_t id = 0;
    std::string handle;   // of that id: under which workers of ours register it
    std::string request;  // a RunGraphRequest, as far as it is the same for all steps
  };
  class Lease;

  absl::Status RegisterLocal();
  absl::Status RegisterRemote(CallsInFlight& in_flight, Time deadline, StepCaller* caller);
  void NoteHandle(std::size_t i, const absl::Cord& reply);  // the answer to the i-th registration
  std::string HandleOf(std::size_t i) const;                // under which the i-th is registered
  void Deregister(std::size_t i);
  void HeardOf(const Part& part) const;  // its task has answered: it is told what is owed to it
  std::string DeviceOf(const Part& part) const;
  std::shared_ptr<StepRun> TakeRun();
  void StartRemote(StepRun& run, const StepCall& call) const;
  void RunLocal(StepRun& run, const StepCall& call, Time deadline) const;
  absl::Status Collect(StepRun& run, const StepCall& call, std::vector<Tensor>* fetched) const;
  void Cleanup(StepRun& run, const absl::Status& why) const;
  template <typename Method>
  NetworkRequest RequestTo(const TaskAddress& task, const Method& method,
                           const typename Method::Request& request) const;

  const Env env_;
  const ClientGraphOptions options_;
  std::shared_ptr<const CutGraph> cut_;
  std::vector<Part> remote_;
  Part local_;  // task null: nothing to do here
  std::shared_ptr<RegisteredGraph> local_graph_;
  RegisteredGraph::Lane* local_lane_ = nullptr;
  std::size_t fetches_ = 0;
  mutable SpinLock lock_;
  // Guarded by lock_.
  std::vector<std::string> drawn_;  // by remote part: what TensorFlow's workers draw in place of its handle
  bool deregistered_ = false;
  std::vector<std::shared_ptr<StepRun>> idle_;
  std::vector<std::shared_ptr<StepRun>> running_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_MASTER_CLIENT_GRAPH_H_
