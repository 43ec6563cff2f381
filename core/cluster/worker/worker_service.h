// What a task does for the masters of a cluster: it keeps their partitions of graphs, runs them, hands values to other
// tasks, and holds the variables, and what else has a name to be shared by, for all sessions; what has none for the
// session whose it is (session_resources.h).
//
// Errors are TensorFlow's: ABORTED for what a restart has lost ("Graph handle is not found: ...", "RecvTensor expects a
// different device incarnation: ...") and for a request that comes twice; what a run fails with, with its code, message
// and payloads; errors that only follow from another one are marked (step_errors.h).
// Thread safety: safe from any task. Ownership: used through shared_ptr, which running requests hold.
// Source: TensorFlow's worker.proto, graph_mgr.cc, base_rendezvous_mgr.cc.
#ifndef VIGIL_CORE_CLUSTER_WORKER_WORKER_SERVICE_H_
#define VIGIL_CORE_CLUSTER_WORKER_WORKER_SERVICE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/cluster/goodbye.h"
#include "vigil/core/cluster/in_flight.h"
#include "vigil/core/cluster/recent_ids.h"
#include "vigil/core/cluster/request_ids.h"
#include "vigil/core/cluster/task_addresses.h"
#include "vigil/core/cluster/worker.pb.h"
#include "vigil/core/cluster/worker/graph_cache.h"
#include "vigil/core/cluster/worker/graph_table.h"
#include "vigil/core/cluster/worker/registered_graph.h"
#include "vigil/core/cluster/worker/rendezvous_mgr.h"
#include "vigil/core/cluster/worker/session_resources.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/op.h"
#include "vigil/core/graph/resource.h"

namespace vigil {

class WorkerService : public std::enable_shared_from_this<WorkerService> {
 public:
  // `ops` is borrowed. `start_number`: ServerOptions'.
  WorkerService(const Env& env, const OpRegistry& ops, TaskAddresses cluster, std::uint64_t start_number = 0);
  ~WorkerService();

  const TaskAddresses& cluster() const { return cluster_; }
  RequestIds& ids() { return ids_; }
  ResourceManager& resources() { return resources_; }
  const proto::DeviceAttributes& device() const { return device_; }
  std::uint64_t start_number() const { return start_number_; }

  // Serves a request of another task.
  NetworkReply Handle(IncomingCall& call);

  // The same for the master of this task, without the network.
  // `bytes`: a GraphDef; of equal ones it gives the same graph, and of those that keep something for their session the
  // same for that session. Errors: INVALID_ARGUMENT if it is none; RegisteredGraph::Create's.
  absl::StatusOr<std::shared_ptr<RegisteredGraph>> MakeGraph(const std::string& bytes, Duration keepalive,
                                                             const std::string& session);
  // Runs the partition in the calling task until it has ended; after an error `fetched` holds anything. Errors:
  // CANCELLED for a step that is over, ABORTED for one that runs here already; what the run, or another task of the
  // step, fails with.
  absl::Status RunGraph(RegisteredGraph& graph, RegisteredGraph::Lane& lane, std::int64_t step_id,
                        const RegisteredGraph::RunRequest& request, std::vector<Tensor>* fetched);
  // Forgets the resources of these containers; none: of all. Runs under way keep theirs until they end.
  void CleanupAll(const std::vector<std::string>& containers);

  // Ends the step here. May wait for a moment.
  void EndStep(std::int64_t step_id, const absl::Status& why);
  // The same, soon: never waits.
  void CancelStep(std::int64_t step_id, const absl::Status& why);
  // Ends all steps. May wait for a moment.
  void EndAllSteps(const absl::Status& why);
  // Of what goes on here and at the master without anybody who waits for it.
  InFlight& background() { return *background_; }
  // What the master here could not give back to other workers.
  const std::shared_ptr<OwedGoodbyes>& owed_goodbyes() const { return owed_goodbyes_; }
  // What is kept for masters: steps, graphs by their handles.
  std::size_t steps() const { return steps_.size(); }
  std::set<std::uint64_t> StepMasters() const { return steps_.Masters(); }  // RendezvousMgr::Masters
  std::size_t graphs() const { return graphs_.size(); }
  std::size_t sessions_with_own() const { return own_.size(); }                              // SessionResources::size
  std::size_t InLine() const { return resources_.InLine() + own_.InLine(); }                 // ResourceManager::InLine
  std::map<std::string, std::uint64_t> GraphSessions() const { return graphs_.Sessions(); }  // GraphTable::Sessions

 private:
  struct Scratch;
  class ScratchLease;

  absl::StatusOr<proto::GetStatusResponse> GetStatus(const proto::GetStatusRequest& request);
  // Of a master of that incarnation; over if a later process of its task has come.
  RendezvousMgr::Lease EnterStep(std::int64_t step_id, std::uint64_t master);
  // The steps of a master's process that another one has followed; 0: of none.
  void EndWhatWasOf(const std::string& task, std::uint64_t followed);
  // Of TensorFlow's masters.
  absl::Status CreateWorkerSession(const proto::CreateWorkerSessionRequest& request);
  absl::Status DeleteWorkerSession(const proto::DeleteWorkerSessionRequest& request);
  absl::StatusOr<proto::RegisterGraphResponse> RegisterGraph(const proto::RegisterGraphRequest& request);
  absl::Status DeregisterGraph(const proto::DeregisterGraphRequest& request);
  NetworkReply ServeRunGraph(IncomingCall& call);
  NetworkReply RecvTensor(IncomingCall& call);
  struct WaitingRequest;
  // With the value of that key, in who sends it.
  void AnswerWhenSent(IncomingCall& call, const std::string& key, RendezvousMgr::Lease step);
  absl::Status CleanupGraph(const proto::CleanupGraphRequest& request);

  // Whoever waits in a resource looks whether its run was cancelled.
  void WakeAll();
  // In a task of its own. `what` is a literal.
  void Soon(std::string_view what, std::function<void()> work);
  absl::Status CheckSender(std::string_view key) const;
  // ABORTED if the request has come before.
  template <typename Request>
  absl::Status CheckNotRepeated(std::string_view method, const Request& request);

  const Env env_;
  const OpRegistry& ops_;
  const TaskAddresses cluster_;
  const std::uint64_t start_number_;
  RequestIds ids_;
  ResourceManager resources_;
  SessionResources own_;
  proto::DeviceAttributes device_;
  const std::shared_ptr<InFlight> background_;
  const std::shared_ptr<OwedGoodbyes> owed_goodbyes_ = std::make_shared<OwedGoodbyes>();
  RendezvousMgr steps_;
  GraphCache cache_;
  GraphTable graphs_;
  mutable SpinLock lock_;
  // Guarded by lock_.
  RecentIds requests_;
  std::vector<std::unique_ptr<Scratch>> scratches_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_WORKER_WORKER_SERVICE_H_
