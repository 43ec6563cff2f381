#include "vigil/core/cluster/client/cluster_session.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "vigil/core/base/atomic.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/remote_master.h"
#include "vigil/core/cluster/local_masters.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/graph/graph_def.h"
#include "vigil/core/session/plan.h"

namespace vigil {
namespace {

constexpr std::string_view kGrpc = "grpc://";

// What the runs of a session work with. Outlives the session as long as runs are in flight.
class Client {
 public:
  Client(const Env& env, const Graph& graph, std::shared_ptr<MasterInterface> master, const std::string& handle,
         std::int64_t version, int nodes)
      : given_graph_(graph),
        shared_graph_(graph.Share()),
        graph_(*shared_graph_),
        master_(std::move(master)),
        handle_(handle),
        growing_(env.tasks->NewMutex("session graph")),
        version_(version),
        nodes_(nodes) {}

  const Graph& graph() const { return given_graph_; }
  bool closed() const { return closed_.load(std::memory_order_acquire); }

  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) {
    if (call.metadata != nullptr) call.metadata->Clear();
    if (closed()) return UsageError("Attempted to use a closed Session.");
    VIGIL_RETURN_IF_ERROR(CheckRunOptions(call.options, /*gives_partition_graphs=*/false));
    std::shared_ptr<PreparedStep> step = Find(call.spec);
    if (step == nullptr) {
      VIGIL_ASSIGN_OR_RETURN(step, Prepare(call.spec));
    }
    VIGIL_RETURN_IF_ERROR(CheckFeeds(graph_, call.spec.feeds, call.feed_values));
    if (nodes_.load(std::memory_order_acquire) != graph_.size()) VIGIL_RETURN_IF_ERROR(Extend());
    std::vector<Tensor> nothing;
    std::vector<Tensor>& got = fetched == nullptr ? nothing : *fetched;
    VIGIL_RETURN_IF_ERROR(master_->RunStep(
        *step,
        {.feeds = call.feed_values, .options = call.options, .metadata = call.metadata, .session_closed = &closed_},
        &got));
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Output fetch = call.spec.fetches[i];
      VIGIL_RETURN_IF_ERROR(CheckReceived(graph_.node(fetch.node), fetch.index, got[i]));
    }
    return absl::OkStatus();
  }

  absl::Status Close() {
    if (closed_.exchange(true, std::memory_order_acq_rel)) return absl::OkStatus();
    ForgetSteps();
    return master_->CloseSession(handle_);
  }

  void Abandon() {
    if (closed_.exchange(true, std::memory_order_acq_rel)) return;
    ForgetSteps();
    master_->AbandonSession(handle_);
  }

 private:
  using Steps = std::map<RunSpec, std::shared_ptr<PreparedStep>>;

  std::shared_ptr<PreparedStep> Find(const RunSpec& spec) {
    SpinGuard lock(lock_);
    if (last_ != nullptr && last_->first == spec) return last_->second;
    const auto it = steps_.find(spec);
    if (it == steps_.end()) return nullptr;
    last_ = &*it;
    return it->second;
  }

  // Complains of what is wrong in the words of a direct session.
  absl::StatusOr<std::shared_ptr<PreparedStep>> Prepare(const RunSpec& spec) {
    VIGIL_RETURN_IF_ERROR(PlanFor(graph_, spec).status());
    StepNames names;
    for (const Output feed : spec.feeds) names.feeds.push_back(graph_.NameOf(feed));
    for (const Output fetch : spec.fetches) names.fetches.push_back(graph_.NameOf(fetch));
    for (const NodeId target : spec.targets) names.targets.push_back(graph_.node(target).name);
    std::shared_ptr<PreparedStep> step = master_->Prepare(handle_, std::move(names));
    SpinGuard lock(lock_);
    if (closed()) return step;
    return steps_.try_emplace(spec, std::move(step)).first->second;
  }

  // With what they keep of a master in this process, up to the session's queues: who holds a closed session holds no
  // more than that.
  void ForgetSteps() {
    Steps steps;  // destroyed after the lock is released
    SpinGuard lock(lock_);
    steps_.swap(steps);
    last_ = nullptr;
  }

  // Sends the nodes that the master does not know yet.
  absl::Status Extend() {
    MutexLock lock(*growing_);
    const int size = graph_.size();
    const int known = nodes_.load(std::memory_order_relaxed);
    if (known == size) return absl::OkStatus();
    proto::ExtendSessionRequest request;
    request.set_session_handle(handle_);
    request.set_current_graph_version(version_);
    for (NodeId id = known; id < size; ++id) ToProto(graph_, graph_.node(id), request.mutable_graph_def()->add_node());
    VIGIL_ASSIGN_OR_RETURN(const proto::ExtendSessionResponse response, master_->ExtendSession(request));
    version_ = response.new_graph_version();
    nodes_.store(size, std::memory_order_release);
    return absl::OkStatus();
  }

  const Graph& given_graph_;  // may be gone before the last run
  const std::shared_ptr<const Graph> shared_graph_;
  const Graph& graph_;
  const std::shared_ptr<MasterInterface> master_;
  const std::string handle_;
  Atomic<bool> closed_{false};
  const std::unique_ptr<Mutex> growing_;
  std::int64_t version_;  // guarded by *growing_
  Atomic<int> nodes_;     // known to the master
  SpinLock lock_;
  // Guarded by lock_.
  Steps steps_;
  const Steps::value_type* last_ = nullptr;
};

class ClusterSession final : public Session {
 public:
  ClusterSession(const Env& env, std::shared_ptr<Client> client)
      : client_(std::move(client)), number_(NextSessionNumber(env)) {}
  ~ClusterSession() override { client_->Abandon(); }

  std::int64_t number() const override { return number_; }
  const Graph& graph() const override { return client_->graph(); }
  bool closed() const override { return client_->closed(); }
  absl::Status Run(const RunCall& call, std::vector<Tensor>* fetched) override {
    const std::shared_ptr<Client> client = client_;  // the session may go while it runs
    return client->Run(call, fetched);
  }
  absl::Status Close() override {
    const std::shared_ptr<Client> client = client_;
    return client->Close();
  }

 private:
  const std::shared_ptr<Client> client_;
  const std::int64_t number_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Session>> NewClusterSession(const Env& env, const Graph& graph,
                                                           std::shared_ptr<MasterInterface> master,
                                                           const SessionConfig& config) {
  proto::CreateSessionRequest request;
  const int nodes = graph.size();
  VIGIL_ASSIGN_OR_RETURN(const std::string* const bytes, GraphDefBytes(graph));
  request.set_graph_def(*bytes);
  ToProto(config, request.mutable_config());
  VIGIL_ASSIGN_OR_RETURN(const proto::CreateSessionResponse response, master->CreateSession(request));
  return std::make_unique<ClusterSession>(
      env, std::make_shared<Client>(env, graph, std::move(master), response.session_handle(), response.graph_version(),
                                    nodes));
}

bool IsClusterTarget(std::string_view target) { return target.starts_with(kGrpc); }

absl::StatusOr<std::shared_ptr<MasterInterface>> FindMaster(const Env& env, const std::string& target,
                                                            const SessionConfig& config) {
  if (!IsClusterTarget(target) || target.size() == kGrpc.size()) {
    return MakeStatus(Code::kNotFound,
                      fmt::format("No session factory registered for the given session options: {{target: \"{}\"}} "
                                  "Registered factories are {{DIRECT_SESSION, GRPC_SESSION}}.",
                                  target));
  }
  if (std::shared_ptr<MasterInterface> local = LocalMastersOf(env).Find(target); local != nullptr) return local;
  if (env.network == nullptr) {
    return MakeStatus(Code::kUnimplemented,
                      fmt::format("The Env has no network: it cannot reach the master '{}'.", target));
  }
  return NewRemoteMaster(env, target.substr(kGrpc.size()), config);
}

absl::Status ResetCluster(const Env& env, const std::string& target, const std::vector<std::string>& containers,
                          const SessionConfig& config) {
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<MasterInterface> master, FindMaster(env, target, config));
  return master->Reset(containers, config.device_filters);
}

ClusterSessionFactory::ClusterSessionFactory(const Env& env, DirectSessionOptions direct)
    : env_(env), direct_(env, std::move(direct)) {}

absl::StatusOr<std::unique_ptr<Session>> ClusterSessionFactory::Create(const Graph& graph, const std::string& master,
                                                                       const SessionConfig& config) {
  if (master.empty() || master == "local") return direct_.Create(graph, "", config);
  VIGIL_ASSIGN_OR_RETURN(std::shared_ptr<MasterInterface> found, FindMaster(env_, master, config));
  return NewClusterSession(env_, graph, std::move(found), config);
}

}  // namespace vigil
