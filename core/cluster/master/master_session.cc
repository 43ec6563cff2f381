#include "vigil/core/cluster/master/master_session.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/graph/graph_def.h"

namespace vigil {

MasterSession::MasterSession(const Env& env, const OpRegistry& ops, std::shared_ptr<WorkerService> worker,
                             std::string handle, std::int64_t created_by, SessionConfig config, TaskDevices devices)
    : env_(env),
      ops_(ops),
      handle_(std::move(handle)),
      created_by_(created_by),
      config_(std::move(config)),
      options_{.worker = std::move(worker),
               .session = handle_,
               .devices = std::move(devices),
               .keepalive = config_.keepalive},
      mutex_(env.tasks->NewMutex("master session")) {
  options_.own = FindDevice(*options_.devices, 0, options_.worker->device().name());
}

std::int64_t MasterSession::Begin(std::shared_ptr<MasterGraph> graph) {
  MutexLock lock(*mutex_);
  graph_ = std::move(graph);
  return ++version_;
}

absl::StatusOr<std::int64_t> MasterSession::Extend(const proto::GraphDef& nodes, std::int64_t version) {
  MutexLock lock(*mutex_);
  if (version != version_) {
    return MakeStatus(Code::kAborted,
                      fmt::format("Current version is {} but request contained the version {}.", version_, version));
  }
  proto::GraphDef whole = ToGraphDef(graph_->graph());
  whole.MergeFrom(nodes);
  VIGIL_ASSIGN_OR_RETURN(graph_, MasterGraph::Import(ops_, whole));
  return ++version_;
}

absl::StatusOr<std::shared_ptr<ClientGraph>> MasterSession::Find(const StepNames& names, Time deadline,
                                                                 StepCaller* caller) {
  auto made = std::make_shared<ClientGraph>(env_, options_);
  {
    MutexLock lock(*mutex_);
    if (const auto it = graphs_.find(names); it != graphs_.end()) return it->second;
    VIGIL_RETURN_IF_ERROR(made->Partition(*graph_, names));
  }
  if (absl::Status status = made->Register(in_flight_, deadline, caller); !status.ok()) {
    made->Deregister();
    return status;
  }
  std::shared_ptr<ClientGraph> kept;
  bool closed = false;
  {
    MutexLock lock(*mutex_);
    closed = closed_;
    if (!closed) kept = graphs_.try_emplace(names, made).first->second;
  }
  if (kept != made) made->Deregister();  // another task was here first
  if (closed) return MakeStatus(Code::kCancelled, "Session has been closed.");
  return kept;
}

std::int64_t MasterSession::version() const {
  MutexLock lock(*mutex_);
  return version_;
}

Time MasterSession::DeadlineOf(const RunOptions* options) const {
  std::int64_t timeout = options == nullptr ? 0 : options->timeout_in_ms;
  if (timeout <= 0) timeout = config_.operation_timeout_in_ms;
  return timeout <= 0 ? kNever : DeadlineAfter(env_, Milliseconds(timeout));
}

absl::Status MasterSession::Run(ClientGraph& graph, const StepCall& call, Time deadline, StepCaller* caller,
                                std::vector<Tensor>* fetched) {
  return graph.Run(in_flight_, call, deadline, caller, fetched);
}

void MasterSession::Close() {
  in_flight_.Close(MakeStatus(Code::kCancelled, "Step was cancelled by an explicit call to `Session::Close()`."));
  std::map<StepNames, std::shared_ptr<ClientGraph>> graphs;
  {
    MutexLock lock(*mutex_);
    closed_ = true;
    graphs.swap(graphs_);
  }
  for (const auto& [names, graph] : graphs) graph->Deregister();
}

}  // namespace vigil
