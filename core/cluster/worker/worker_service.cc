#include "vigil/core/cluster/worker/worker_service.h"

#include <fmt/format.h>

#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/cluster/step_errors.h"
#include "vigil/core/cluster/task_start.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/cluster/worker/tensorflow_partition.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/session/run_metadata.h"
#include "vigil/core/tensor/tensor_proto.h"
#include "vigil/core/tensor/tensor_wire.h"

namespace vigil {
namespace {

constexpr std::size_t kMostScratches = 16;

std::string Describe(const proto::RunGraphRequest& request) {
  return fmt::format("graph_handle: \"{}\" step_id: {} request_id: {}", request.graph_handle(), request.step_id(),
                     request.request_id());
}
std::string Describe(const proto::RecvTensorRequest& request) { return request.ShortDebugString(); }

NetworkReply RecvTensorAnswer(const Env& env, const std::string& key, const absl::StatusOr<Tensor>& value) {
  VIGIL_RETURN_IF_ERROR(value.status());
  VIGIL_RETURN_IF_ERROR(CheckFits(env, methods::kRecvTensor.path, key, *value));
  MessageWriter response;
  if (value->valid()) {
    response.TensorField(proto::RecvTensorResponse::kTensorFieldNumber, *value);
  } else {
    response.Integer(proto::RecvTensorResponse::kIsDeadFieldNumber, 1);
  }
  return std::move(response).Take();
}

}  // namespace

WorkerService::WorkerService(const Env& env, const OpRegistry& ops, TaskAddresses cluster, std::uint64_t start_number)
    : env_(env),
      ops_(ops),
      cluster_(std::move(cluster)),
      start_number_(start_number),
      ids_(env, cluster_.own().name),
      resources_(env),
      own_(env),
      background_(std::make_shared<InFlight>(env)),
      steps_(env) {
  device_.set_name(cluster_.own().name + "/device:CPU:0");
  device_.set_device_type("CPU");
  device_.set_incarnation(env.random->Unique("device incarnation") | 1);
}

WorkerService::~WorkerService() = default;

// What a request is read into and its answer is made in: kept for the next one, with its memory.
struct WorkerService::Scratch {
  proto::RunGraphRequest run;
  proto::RunGraphResponse ran;
  proto::RecvTensorRequest receive;
  std::vector<Tensor> feeds;
  std::vector<Tensor> fetched;
};

class WorkerService::ScratchLease {
 public:
  explicit ScratchLease(WorkerService& service) : service_(service) {
    SpinGuard lock(service.lock_);
    if (service.scratches_.empty()) return;
    scratch_ = std::move(service.scratches_.back());
    service.scratches_.pop_back();
  }
  ~ScratchLease() {
    if (scratch_ == nullptr) return;
    scratch_->feeds.clear();
    scratch_->fetched.clear();
    SpinGuard lock(service_.lock_);
    if (service_.scratches_.size() < kMostScratches) service_.scratches_.push_back(std::move(scratch_));
  }
  ScratchLease(const ScratchLease&) = delete;
  ScratchLease& operator=(const ScratchLease&) = delete;
  Scratch& Get() {
    if (scratch_ == nullptr) scratch_ = std::make_unique<Scratch>();
    return *scratch_;
  }

 private:
  WorkerService& service_;
  std::unique_ptr<Scratch> scratch_;
};

NetworkReply WorkerService::Handle(IncomingCall& call) {
  using namespace methods;
  const std::string_view method = call.method();
  if (method == kRecvTensor.path) return RecvTensor(call);
  if (method == kRunGraph.path) return ServeRunGraph(call);
  if (method == kGetStatus.path)
    return ServeMethod(kGetStatus, call, [this](const auto& request) { return GetStatus(request); });
  if (method == kRegisterGraph.path)
    return ServeMethod(kRegisterGraph, call, [this](const auto& request) { return RegisterGraph(request); });
  if (method == kDeregisterGraph.path)
    return ServeMethod(kDeregisterGraph, call, [this](const auto& request) { return DeregisterGraph(request); });
  if (method == kCleanupGraph.path)
    return ServeMethod(kCleanupGraph, call, [this](const auto& request) { return CleanupGraph(request); });
  if (method == kCreateWorkerSession.path)
    return ServeMethod(kCreateWorkerSession, call,
                       [this](const auto& request) { return CreateWorkerSession(request); });
  if (method == kDeleteWorkerSession.path)
    return ServeMethod(kDeleteWorkerSession, call,
                       [this](const auto& request) { return DeleteWorkerSession(request); });
  if (method == kCleanupAll.path) {
    return ServeMethod(kCleanupAll, call, [this](const auto& request) {
      CleanupAll({request.container().begin(), request.container().end()});
      return absl::OkStatus();
    });
  }
  return MakeStatus(Code::kUnimplemented, fmt::format("Method not found: {}", call.method()));
}

void WorkerService::EndWhatWasOf(const std::string& task, std::uint64_t followed) {
  if (followed == 0) return;
  steps_.EndAllOf(followed,
                  Derived(MakeStatus(Code::kAborted, fmt::format("{} was restarted: its step is over.", task))));
  WakeAll();
}

RendezvousMgr::Lease WorkerService::EnterStep(std::int64_t step_id, std::uint64_t master) {
  RendezvousMgr::Lease step = steps_.Enter(step_id, master);
  // Asked afterwards: whoever follows from now on finds the step.
  if (step && graphs_.HasFollowed(master)) {
    steps_.End(step_id, Derived(MakeStatus(Code::kAborted,
                                           fmt::format("Step {} is of a process that was restarted.", step_id))));
  }
  return step;
}

absl::StatusOr<proto::GetStatusResponse> WorkerService::GetStatus(const proto::GetStatusRequest& request) {
  if (start_number_ != 0 && start_number_ < request.least_start()) {
    return WasFollowed(fmt::format("{} was restarted: this is its start {}, asked for is start {}.",
                                   cluster_.own().name, start_number_, request.least_start()));
  }
  EndWhatWasOf(request.master_task(), graphs_.Note({.task = request.master_task(),
                                                    .incarnation = request.master_incarnation(),
                                                    .start = request.master_start()}));
  proto::GetStatusResponse response;
  *response.add_device_attributes() = device_;
  return response;
}

void WorkerService::WakeAll() {
  resources_.CancelAll();
  own_.CancelAll();
}

absl::StatusOr<std::shared_ptr<RegisteredGraph>> WorkerService::MakeGraph(const std::string& bytes, Duration keepalive,
                                                                          const std::string& session) {
  std::shared_ptr<RegisteredGraph> graph = cache_.Find(bytes, keepalive, session);
  if (graph == nullptr) {
    proto::GraphDef def;
    if (!def.ParseFromString(bytes)) return NotParsed();
    NameAsOurs(def);
    VIGIL_ASSIGN_OR_RETURN(graph, RegisteredGraph::Create(env_, ops_, def, cluster_, resources_, ids_, keepalive));
    if (graph->KeepsOwn()) graph->set_own(own_.Of(session));
    graph = cache_.Add(bytes, keepalive, session, std::move(graph));
  }
  cache_.Keep(graph);
  return graph;
}

absl::Status WorkerService::CreateWorkerSession(const proto::CreateWorkerSessionRequest& request) {
  if (!request.server_def().cluster().empty()) {
    return MakeStatus(Code::kUnimplemented,
                      fmt::format("CreateWorkerSession: {} serves in the cluster that it was started with; a session "
                                  "with a cluster of its own (ConfigProto.cluster_def) is not served.",
                                  cluster_.own().name));
  }
  if (request.isolate_session_state()) {
    return MakeStatus(Code::kUnimplemented,
                      fmt::format("CreateWorkerSession: all sessions share the variables of {}: one that does not "
                                  "(ConfigProto.isolate_session_state) is not served.",
                                  cluster_.own().name));
  }
  VIGIL_ASSIGN_OR_RETURN(const std::uint64_t followed,
                         graphs_.OpenSession({.task = request.master_task(),
                                              .incarnation = static_cast<std::uint64_t>(request.master_incarnation()),
                                              .session = request.session_handle()}));
  EndWhatWasOf(request.master_task(), followed);
  return absl::OkStatus();
}

absl::Status WorkerService::DeleteWorkerSession(const proto::DeleteWorkerSessionRequest& request) {
  graphs_.CloseSession(request.session_handle());
  return absl::OkStatus();
}

absl::StatusOr<proto::RegisterGraphResponse> WorkerService::RegisterGraph(const proto::RegisterGraphRequest& request) {
  VIGIL_ASSIGN_OR_RETURN(std::shared_ptr<RegisteredGraph> graph,
                         MakeGraph(request.graph_def(), Duration(request.keepalive_ns()), request.session_handle()));
  const std::int64_t id = request.graph_id() != 0 ? request.graph_id() : ids_.Next();
  VIGIL_ASSIGN_OR_RETURN(const std::uint64_t followed, graphs_.Add(id, std::move(graph),
                                                                   {.task = request.master_task(),
                                                                    .incarnation = request.master_incarnation(),
                                                                    .start = request.master_start(),
                                                                    .session = request.session_handle(),
                                                                    .opened = request.create_worker_session_called()}));
  EndWhatWasOf(request.master_task(), followed);
  proto::RegisterGraphResponse response;
  response.set_graph_handle(GraphHandle(id));
  return response;
}

absl::Status WorkerService::DeregisterGraph(const proto::DeregisterGraphRequest& request) {
  std::shared_ptr<RegisteredGraph> dropped = graphs_.TakeOut(request.graph_handle());
  if (dropped == nullptr) return NoSuchGraph(request.graph_handle());
  cache_.Keep(std::move(dropped));
  return absl::OkStatus();
}

template <typename Request>
absl::Status WorkerService::CheckNotRepeated(std::string_view method, const Request& request) {
  if (request.request_id() == 0) return absl::OkStatus();
  {
    SpinGuard lock(lock_);
    if (requests_.Add(request.request_id())) return absl::OkStatus();
  }
  return MakeStatus(Code::kAborted,
                    fmt::format("The same {} request was received twice. {}", method, Describe(request)));
}

NetworkReply WorkerService::ServeRunGraph(IncomingCall& call) {
  ScratchLease lease(*this);
  Scratch& scratch = lease.Get();
  proto::RunGraphRequest& request = scratch.run;
  VIGIL_RETURN_IF_ERROR(ParseWithTensors(call.body(), proto::RunGraphRequest::kSendFieldNumber,
                                         &proto::RunGraphRequest::mutable_send, &request, &scratch.feeds));
  VIGIL_RETURN_IF_ERROR(CheckNotRepeated("RunGraph (GrpcWorker)", request));
  if (request.is_partial())
    return MakeStatus(Code::kUnimplemented, "RunGraph: a run in parts (partial_run) is not served.");
  VIGIL_ASSIGN_OR_RETURN(const GraphTable::Entry entry, graphs_.Find(request.graph_handle()));
  VIGIL_ASSIGN_OR_RETURN(RegisteredGraph::Lane* const lane,
                         entry.graph->FindLane(request.send(), request.recv_key(), &proto::NamedTensorProto::name));
  call.OnCancelled([self = shared_from_this(), step_id = request.step_id()] {
    self->CancelStep(step_id, Derived(MakeStatus(Code::kCancelled, "RunGraph was cancelled")));
  });
  RunOptions options;
  if (request.exec_opts().record_timeline()) options.trace_level = TraceLevel::kSoftwareTrace;
  options.report_tensor_allocations_upon_oom = request.exec_opts().report_tensor_allocations_upon_oom();
  RunMetadata metadata;
  const bool of_tensorflow = request.exec_opts().record_timeline() && graphs_.HasSession(entry.session);
  VIGIL_RETURN_IF_ERROR(
      RunGraph(*entry.graph, *lane, request.step_id(),
               {.feeds = scratch.feeds, .options = &options, .metadata = &metadata, .master = entry.incarnation},
               &scratch.fetched));
  MessageWriter response;
  for (std::size_t i = 0; i < scratch.fetched.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(CheckFits(env_, methods::kRunGraph.path, lane->fetches[i], scratch.fetched[i]));
    response.NamedTensor(proto::RunGraphResponse::kRecvFieldNumber, lane->fetches[i], scratch.fetched[i]);
  }
  proto::RunGraphResponse& others = scratch.ran;
  others.Clear();
  if (of_tensorflow) {
    for (NodeStats& stats : metadata.step_stats) stats.device = device_.name();
    *others.mutable_step_stats() = std::move(*ToProto(metadata).mutable_step_stats());
  } else {
    for (const NodeStats& stats : metadata.step_stats) ToProto(stats, others.add_node_stats());
  }
  response.Fields(others.SerializeAsString());
  return std::move(response).Take();
}

absl::Status WorkerService::RunGraph(RegisteredGraph& graph, RegisteredGraph::Lane& lane, std::int64_t step_id,
                                     const RegisteredGraph::RunRequest& request, std::vector<Tensor>* fetched) {
  const RendezvousMgr::Lease step = EnterStep(step_id, request.master);
  if (!step) return Derived(MakeStatus(Code::kCancelled, fmt::format("Step {} is over.", step_id)));
  absl::Status status = graph.Execute(lane, *step, request, fetched);
  if (status.ok()) return status;
  // What was cancelled says why it was.
  if (absl::Status aborted = step->aborted(); !aborted.ok() && CodeOf(status) == Code::kCancelled) return aborted;
  step->Abort(Derived(status));
  return status;
}

// That the value is to come from this very process.
absl::Status WorkerService::CheckSender(std::string_view key) const {
  VIGIL_ASSIGN_OR_RETURN(const ParsedRendezvousKey parsed, ParseRendezvousKey(key));
  if (parsed.send_device != device_.name()) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("{} is asked for a value of {}.", device_.name(), parsed.send_device));
  }
  if (parsed.send_incarnation == device_.incarnation()) return absl::OkStatus();
  return MakeStatus(
      Code::kAborted,
      fmt::format("RecvTensor expects a different device incarnation: {} vs. {}. Your worker job (\"{}\") "
                  "was probably restarted. Check your worker job for the reason why it was restarted.",
                  parsed.send_incarnation, device_.incarnation(), cluster_.own().name));
}

NetworkReply WorkerService::RecvTensor(IncomingCall& call) {
  ScratchLease lease(*this);
  Scratch& scratch = lease.Get();
  proto::RecvTensorRequest& request = scratch.receive;
  VIGIL_RETURN_IF_ERROR(ParseRequest(call.body(), &request));
  VIGIL_RETURN_IF_ERROR(CheckNotRepeated("RecvTensor (GrpcWorker)", request));
  VIGIL_RETURN_IF_ERROR(CheckSender(request.rendezvous_key()));
  RendezvousMgr::Lease step = EnterStep(request.step_id(), request.master_incarnation());
  if (!step) {
    if (!step.failed().ok()) return step.failed();
    return Derived(MakeStatus(Code::kAborted, fmt::format("Step {} is over.", request.step_id())));
  }
  const std::string& key = request.rendezvous_key();
  if (std::optional<absl::StatusOr<Tensor>> value = step->TryTake(key); value.has_value()) {
    return RecvTensorAnswer(env_, key, *value);
  }
  AnswerWhenSent(call, key, std::move(step));
  return absl::Cord();
}

// What a request for a value that is not here yet keeps until it is answered.
struct WorkerService::WaitingRequest {
  std::shared_ptr<WorkerService> self;
  InFlight::Token running;
  std::function<void(NetworkReply)> answer;
  std::string key;
  RendezvousMgr::Lease step;  // goes first
};

// The network keeps the request, by what it calls when nobody waits any more: with it goes all that the request keeps,
// also where a process ends before its steps do. The rendezvous only knows of it.
void WorkerService::AnswerWhenSent(IncomingCall& call, const std::string& key, RendezvousMgr::Lease step) {
  const auto waiting =
      std::make_shared<WaitingRequest>(WaitingRequest{.self = shared_from_this(),
                                                      .running = background_->Begin(methods::kRecvTensor.path),
                                                      .answer = call.AnswerLater(),
                                                      .key = key,
                                                      .step = std::move(step)});
  const std::uint64_t take =
      waiting->step->Take(key, [known = std::weak_ptr(waiting)](const absl::StatusOr<Tensor>& value) {
        const std::shared_ptr<WaitingRequest> request = known.lock();
        if (request == nullptr) return;
        NetworkReply reply = RecvTensorAnswer(request->self->env_, request->key, value);
        request->answer(reply.ok() ? std::move(reply) : ByPeer(reply.status()));
      });
  if (take == 0) return;
  call.OnCancelled(
      [waiting, take] { waiting->self->Soon("give up a value", [waiting, take] { waiting->step->GiveUp(take); }); });
}

absl::Status WorkerService::CleanupGraph(const proto::CleanupGraphRequest& request) {
  EndStep(request.step_id(), Derived(MakeStatus(Code::kAborted, fmt::format("Cleanup of step {}", request.step_id()))));
  return absl::OkStatus();
}

void WorkerService::CleanupAll(const std::vector<std::string>& containers) {
  const auto reset = [this](const std::string& container) {
    own_.Reset(container);
    resources_.Reset(container);  // last: by its generation runs see that they must look again
  };
  if (containers.empty()) reset("");
  for (const std::string& container : containers) reset(container);
  cache_.Drop();  // runs remember the resources that they have worked with
}

void WorkerService::EndStep(std::int64_t step_id, const absl::Status& why) {
  steps_.End(step_id, why);
  WakeAll();
}

void WorkerService::CancelStep(std::int64_t step_id, const absl::Status& why) {
  Soon("cancel step", [self = shared_from_this(), step_id, why] { self->EndStep(step_id, why); });
}

void WorkerService::Soon(std::string_view what, std::function<void()> work) {
  const auto run = [work = std::move(work), running = background_->Begin(what)] { work(); };
  // Where no thread can be made, here and now.
  if (!TrySpawn(*env_.tasks, what, run).ok()) run();
}

void WorkerService::EndAllSteps(const absl::Status& why) {
  steps_.EndAll(why);
  WakeAll();
}

}  // namespace vigil
