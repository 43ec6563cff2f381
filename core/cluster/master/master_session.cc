#include "vigil/core/cluster/master/master_session.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/graph/graph_def.h"

namespace vigil {
namespace {

constexpr int kMostSilent = 2;  // keepalives

}  // namespace

MasterSession::MasterSession(const Env& env, const OpRegistry& ops, std::shared_ptr<WorkerService> worker,
                             std::string handle, Client client, SessionConfig config, TaskDevices devices)
    : env_(env),
      ops_(ops),
      handle_(std::move(handle)),
      client_(std::move(client)),
      config_(std::move(config)),
      options_{.worker = std::move(worker),
               .session = handle_,
               .devices = std::move(devices),
               .keepalive = config_.keepalive},
      over_(*env.tasks, "the end of a session"),
      mutex_(env.tasks->NewMutex("master session")) {
  if (config_.waits_for_tasks) options_.cleanups = std::make_shared<Cleanups>(env_);
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
    VIGIL_RETURN_IF_ERROR(ended_);
    VIGIL_RETURN_IF_ERROR(made->Partition(*graph_, names));
    registering_.push_back(made);
  }
  const absl::Status status = made->Register(in_flight_, deadline, caller);
  std::shared_ptr<ClientGraph> kept;
  absl::Status ended;  // then it has said goodbye to what is registered
  {
    MutexLock lock(*mutex_);
    ended = ended_;
    std::erase(registering_, made);
    if (ended.ok() && status.ok()) kept = graphs_.try_emplace(names, made).first->second;
  }
  if (ended.ok() && kept != made) made->Deregister();  // it failed, or another task was here first
  VIGIL_RETURN_IF_ERROR(status);
  VIGIL_RETURN_IF_ERROR(ended);
  return kept;
}

std::size_t MasterSession::running() const {
  std::size_t running = 0;
  MutexLock lock(*mutex_);
  for (const auto& [names, graph] : graphs_) running += graph->running();
  return running;
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

void MasterSession::Watch(InFlight::Token running, std::function<void()> forget) {
  if (config_.keepalive <= Duration::zero() || (options_.devices->size() < 2 && !client_.kept)) return;
  const auto watch = [self = shared_from_this(), running = std::move(running), forget = std::move(forget)] {
    while (!self->over_.Wait(DeadlineAfter(self->env_, self->config_.keepalive))) {
      self->FailIfTasksAreLost();
      if (!self->ClientIsLost()) continue;
      forget();
      return self->End(MakeStatus(Code::kAborted, "Nothing was heard of the client of the session any more."));
    }
  };
  absl::StatusOr<std::unique_ptr<Task>> watcher = TrySpawn(*env_.tasks, "watch tasks", watch);
  if (watcher.ok()) {
    MutexLock lock(*mutex_);
    watcher_ = *std::move(watcher);
    return;
  }
  env_.log->Write(Severity::kWarning, fmt::format("No thread is left to watch the servers of session {}.", handle_));
}

// Two looks: the first one after this process stood still comes before what has arrived meanwhile.
bool MasterSession::ClientIsLost() {
  if (!client_.kept) return false;
  silent_ = heard_.exchange(false, std::memory_order_relaxed) ? 0 : silent_ + 1;
  if (silent_ < kMostSilent) return false;
  env_.log->Write(Severity::kWarning, fmt::format("Nothing was heard of the client of session {} for {:g} s: the "
                                                  "session is closed.",
                                                  handle_, ToSeconds(kMostSilent * config_.keepalive)));
  return true;
}

void MasterSession::FailIfTasksAreLost() {
  if (in_flight_.empty()) return;
  std::map<std::string, const TaskAddress*> tasks;
  {
    MutexLock lock(*mutex_);
    for (const auto& [names, graph] : graphs_) graph->AddTasks(tasks);
  }
  const auto calls = std::make_shared<ParallelCalls>(env_);
  calls->Reuse(tasks.size());
  if (!in_flight_.Add(calls).ok()) return;
  std::size_t i = 0;
  for (const auto& [name, task] : tasks) {
    calls->Start(
        i++,
        {.to = task->address, .method = methods::kGetStatus.text(), .keepalive = config_.keepalive, .at_once = true});
  }
  if (!calls->Wait(DeadlineAfter(env_, config_.keepalive))) {
    calls->CancelAll();  // who has a connection and does not answer is busy, as far as anybody knows
    calls->Wait(kNever);
  }
  in_flight_.Remove(calls.get());
  i = 0;
  for (const auto& [name, task] : tasks) {
    const NetworkReply& reply = calls->reply(i++);
    if (reply.ok()) options_.worker->owed_goodbyes()->HeardOf(env_, task->address);
    if (const absl::Status lost = CheckTask(*task, reply); !lost.ok()) return in_flight_.Fail(lost);
  }
}

absl::Status MasterSession::CheckTask(const TaskAddress& task, const NetworkReply& reply) const {
  if (!reply.ok()) return CodeOf(reply.status()) == Code::kUnavailable ? reply.status() : absl::OkStatus();
  proto::GetStatusResponse response;
  if (!ParseBody(*reply, &response) || response.device_attributes_size() == 0) return absl::OkStatus();
  const std::uint64_t now = response.device_attributes(0).incarnation();
  for (const TaskDevice& device : *options_.devices) {
    if (device.task_name() != task.name || device.incarnation == now) continue;
    return MakeStatus(Code::kAborted, fmt::format("{} was restarted: the session began with its incarnation {}, now it "
                                                  "is {}.",
                                                  task.name, device.incarnation, now));
  }
  return absl::OkStatus();
}

void MasterSession::Close(const std::function<bool()>& stopped) {
  End(MakeStatus(Code::kCancelled, "Step was cancelled by an explicit call to `Session::Close()`."));
  std::shared_ptr<Task> watcher;
  {
    MutexLock lock(*mutex_);
    watcher = watcher_;
  }
  if (watcher != nullptr) watcher->Join(kNever);
  if (options_.cleanups != nullptr && stopped != nullptr) options_.cleanups->Wait(stopped);
}

void MasterSession::End(const absl::Status& why) {
  over_.Notify();
  in_flight_.Close(why);
  std::map<StepNames, std::shared_ptr<ClientGraph>> graphs;
  std::vector<std::shared_ptr<ClientGraph>> registering;
  {
    MutexLock lock(*mutex_);
    if (ended_.ok()) ended_ = why;
    graphs.swap(graphs_);
    registering.swap(registering_);
  }
  for (const auto& [names, graph] : graphs) {
    graph->CleanupRunning(why);
    graph->Deregister();
  }
  // Not left to the tasks that register them: the process may end with this call.
  for (const std::shared_ptr<ClientGraph>& graph : registering) graph->Deregister();
}

}  // namespace vigil
