// A partition of a graph as the task keeps it that runs it: what a RegisterGraph leaves. An Item of TensorFlow's
// GraphMgr.
//
// The graph is imported once, a plan is made once for each list of feeds and fetches (a lane), and what a run needs is
// kept from one run to the next.
// Thread safety: safe from any task. Ownership: used through shared_ptr; the resources outlive it.
#ifndef VIGIL_CORE_CLUSTER_WORKER_REGISTERED_GRAPH_H_
#define VIGIL_CORE_CLUSTER_WORKER_REGISTERED_GRAPH_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/cluster/request_ids.h"
#include "vigil/core/cluster/task_addresses.h"
#include "vigil/core/cluster/worker/step_rendezvous.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/graph/rendezvous.h"
#include "vigil/core/graph/resource.h"
#include "vigil/core/session/executor_state.h"
#include "vigil/core/session/plan.h"

namespace vigil {

namespace proto {
class GraphDef;
}  // namespace proto

// "send device;its incarnation;receive device;name of the edge;0:0", as TensorFlow has it.
std::string RendezvousKey(const Node& node);
struct ParsedRendezvousKey {
  std::string_view send_device;
  std::uint64_t send_incarnation = 0;
};
absl::StatusOr<ParsedRendezvousKey> ParseRendezvousKey(std::string_view key);

class RegisteredGraph {
 public:
  struct SendEdge {
    const Node* node;
    std::string key;
  };
  struct RecvEdge {
    const Node* node;
    std::string request;  // a RecvTensorRequest, as far as it is the same for all steps
    const TaskAddress* from;
  };
  class Run;
  // One list of feeds and one of fetches, by name.
  struct Lane {
    std::vector<std::string> feeds;
    std::vector<std::string> fetches;
    std::unique_ptr<Plan> plan;
    std::vector<std::unique_ptr<Run>> idle;  // guarded by the graph's lock
  };

  ~RegisteredGraph();
  // Errors: ImportGraphDef's; INVALID_ARGUMENT for an edge from a task that the cluster does not have. All borrowed.
  static absl::StatusOr<std::shared_ptr<RegisteredGraph>> Create(const Env& env, const OpRegistry& ops,
                                                                 const proto::GraphDef& def,
                                                                 const TaskAddresses& cluster,
                                                                 ResourceManager& resources, RequestIds& ids,
                                                                 Duration keepalive);

  // `feeds`: a range of strings, or of what `feed_name` makes a string of; `fetches`: one of strings. The lane stays as
  // long as the graph.
  template <typename Feeds, typename Fetches, typename FeedName = std::identity>
  absl::StatusOr<Lane*> FindLane(const Feeds& feeds, const Fetches& fetches, FeedName feed_name = {}) {
    {
      SpinGuard lock(lock_);
      for (Lane& lane : lanes_) {
        if (std::ranges::equal(lane.feeds, feeds, {}, {}, feed_name) && std::ranges::equal(lane.fetches, fetches))
          return &lane;
      }
    }
    std::vector<std::string> names;
    names.reserve(static_cast<std::size_t>(std::ranges::size(feeds)));
    for (const auto& feed : feeds) names.push_back(std::invoke(feed_name, feed));
    return AddLane(std::move(names), {fetches.begin(), fetches.end()});
  }

  // Runs all of it in the calling task. `step`: of which this is the run.
  struct RunRequest {
    std::span<const Tensor> feeds = {};
    const RunOptions* options = nullptr;
    RunMetadata* metadata = nullptr;
    Time deadline = kNever;
    std::uint64_t master = 0;  // the incarnation of whose step it is; 0: it is not known
  };
  // Some node of it stands for what is its session's alone (SessionResources).
  bool KeepsOwn() const;
  // From now on runs have that from there. REQUIRES: nothing of it has run.
  void set_own(std::shared_ptr<ResourceManager> own) { own_ = std::move(own); }
  bool has_own() const { return own_ != nullptr; }

  absl::Status Execute(Lane& lane, StepRendezvous& step, const RunRequest& request, std::vector<Tensor>* fetched);

 private:
  friend class Run;
  RegisteredGraph(const Env& env, const OpRegistry& ops, ResourceManager& resources, RequestIds& ids,
                  Duration keepalive);
  absl::Status FindEdges(const TaskAddresses& cluster);
  absl::StatusOr<Lane*> AddLane(std::vector<std::string> feeds, std::vector<std::string> fetches);

  const Env env_;
  ResourceManager& resources_;
  std::shared_ptr<ResourceManager> own_;  // null: it keeps nothing for its session
  RequestIds& ids_;
  const Duration keepalive_;
  Graph graph_;
  std::vector<SendEdge> sends_;  // by address of the node
  std::vector<RecvEdge> recvs_;  // in the order of the graph
  SpinLock lock_;
  std::list<Lane> lanes_;  // guarded by lock_; grows only
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_WORKER_REGISTERED_GRAPH_H_
