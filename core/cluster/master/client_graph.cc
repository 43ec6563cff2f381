#include "vigil/core/cluster/master/client_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/goodbye.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/cluster/step_errors.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/session/run_metadata.h"
#include "vigil/core/tensor/tensor_proto.h"
#include "vigil/core/tensor/tensor_wire.h"

namespace vigil {
namespace {

constexpr std::size_t kMostIdle = 16;  // as many as a worker keeps: rendezvous_mgr.cc

// The first error ends it: a task that never answers holds up nobody who knows already that it has failed.
class Registrations final : public ParallelCalls {
 public:
  using Registered = std::function<void(std::size_t, const absl::Cord&)>;
  Registrations(const Env& env, Registered registered) : ParallelCalls(env), registered_(std::move(registered)) {}

 private:
  void OnReply(std::size_t i, const NetworkReply& reply) override {
    if (!reply.ok()) return Fail(reply.status());
    registered_(i, *reply);
  }
  const Registered registered_;
};

}  // namespace

std::shared_ptr<StepCaller> StepCaller::Of(IncomingCall& call) {
  auto caller = std::make_shared<StepCaller>();
  call.OnCancelled([caller] { caller->Gone(); });
  return caller;
}

void StepCaller::Watch(const std::shared_ptr<ParallelCalls>& calls) {
  bool gone = false;
  {
    SpinGuard lock(lock_);
    calls_ = calls;
    gone = gone_;
  }
  if (gone) Gone();
}

void StepCaller::Gone() {
  std::shared_ptr<ParallelCalls> calls;
  {
    SpinGuard lock(lock_);
    gone_ = true;
    calls = calls_;
  }
  if (calls != nullptr) calls->Fail(MakeStatus(Code::kCancelled, "RunStep was cancelled by its caller"));
}

// A step under way; gives everything back when destroyed, also when the task is killed.
class ClientGraph::Lease {
 public:
  Lease(ClientGraph& graph, CallsInFlight& steps, std::shared_ptr<StepRun> run)
      : graph_(graph), steps_(steps), run_(std::move(run)) {
    SpinGuard lock(graph_.lock_);
    graph_.running_.push_back(run_);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    steps_.Remove(run_.get());
    SpinGuard lock(graph_.lock_);
    std::erase(graph_.running_, run_);
    // One that was left in the middle (the task was killed) is not used again.
    if (!done_ || graph_.idle_.size() >= kMostIdle) return;
    graph_.idle_.push_back(std::move(run_));
  }
  void SetDone() { done_ = true; }

 private:
  ClientGraph& graph_;
  CallsInFlight& steps_;
  std::shared_ptr<StepRun> run_;
  bool done_ = false;
};

absl::Status ClientGraph::Partition(MasterGraph& graph, const StepNames& names) {
  VIGIL_ASSIGN_OR_RETURN(cut_, graph.Cut(names, options_.devices, options_.own));
  fetches_ = names.fetches.size();
  for (const CutPart& cut : cut_->parts) {
    Part& part = cut.device == options_.own ? local_ : remote_.emplace_back();
    part.cut = &cut;
    part.task =
        options_.worker->cluster().FindByDevice((*options_.devices)[static_cast<std::size_t>(cut.device)].task_name());
  }
  for (Part& part : remote_) {
    part.id = options_.worker->ids().Next();
    part.handle = GraphHandle(part.id);
  }
  return absl::OkStatus();
}

absl::Status ClientGraph::Register(CallsInFlight& calls, Time deadline, StepCaller* caller) {
  if (local_.task != nullptr) VIGIL_RETURN_IF_ERROR(RegisterLocal());
  return remote_.empty() ? absl::OkStatus() : RegisterRemote(calls, deadline, caller);
}

absl::Status ClientGraph::RegisterLocal() {
  VIGIL_ASSIGN_OR_RETURN(local_graph_,
                         options_.worker->MakeGraph(local_.cut->graph, options_.keepalive, options_.session));
  std::vector<std::string> feeds;
  std::vector<std::string> fetches;
  for (const PartitionFeed& feed : local_.cut->feeds) feeds.push_back(feed.name);
  for (const PartitionFetch& fetch : local_.cut->fetches) fetches.push_back(fetch.name);
  VIGIL_ASSIGN_OR_RETURN(local_lane_, local_graph_->FindLane(feeds, fetches));
  return absl::OkStatus();
}

// The handles are the master's, so that it can take back what was registered although no answer of it came.
absl::Status ClientGraph::RegisterRemote(CallsInFlight& in_flight, Time deadline, StepCaller* caller) {
  const auto calls = std::make_shared<Registrations>(
      env_, [self = shared_from_this()](std::size_t i, const absl::Cord& reply) { self->NoteHandle(i, reply); });
  calls->Reuse(remote_.size());
  VIGIL_RETURN_IF_ERROR(in_flight.Add(calls));
  if (caller != nullptr) caller->Watch(calls);
  for (std::size_t i = 0; i < remote_.size(); ++i) {
    proto::RegisterGraphRequest request;
    request.set_graph_id(remote_[i].id);
    request.set_session_handle(options_.session);
    request.set_keepalive_ns(options_.keepalive.count());
    request.set_graph_def(remote_[i].cut->graph);
    request.set_master_task(options_.worker->cluster().own().name);
    request.set_master_incarnation(options_.worker->device().incarnation());
    request.set_master_start(options_.worker->start_number());
    absl::StatusOr<absl::Cord> body = Serialize(methods::kRegisterGraph.path, request);
    if (!body.ok()) calls->Fail(body.status());  // then the call is not made
    calls->Start(i, {.to = remote_[i].task->address,
                     .method = methods::kRegisterGraph.text(),
                     .body = std::move(body).value_or(absl::Cord()),
                     .keepalive = options_.keepalive});
  }
  if (!calls->Wait(deadline)) calls->Fail(MakeStatus(Code::kDeadlineExceeded, "Operation timed out."));
  in_flight.Remove(calls.get());
  if (caller != nullptr) caller->Watch(nullptr);
  if (const absl::Status failed = calls->failed(); !failed.ok()) return Underived(failed);
  for (std::size_t i = 0; i < remote_.size(); ++i) {
    proto::RegisterGraphResponse response;
    if (!ParseBody(*calls->reply(i), &response))
      return MakeStatus(Code::kInternal, "RegisterGraph: malformed response");
    HeardOf(remote_[i]);
    proto::RunGraphRequest request;
    request.set_session_handle(options_.session);
    request.set_graph_handle(HandleOf(i));
    for (const PartitionFetch& fetch : remote_[i].cut->fetches) request.add_recv_key(fetch.name);
    remote_[i].request = request.SerializeAsString();
  }
  return absl::OkStatus();
}

template <typename Method>
NetworkRequest ClientGraph::RequestTo(const TaskAddress& task, const Method& method,
                                      const typename Method::Request& request) const {
  return {.to = task.address,
          .method = method.text(),
          .body = absl::Cord(request.SerializeAsString()),
          .keepalive = options_.keepalive};
}

void ClientGraph::HeardOf(const Part& part) const {
  options_.worker->owed_goodbyes()->HeardOf(env_, part.task->address);
}

// Also if another one failed, or all has been taken back meanwhile.
void ClientGraph::NoteHandle(std::size_t i, const absl::Cord& reply) {
  proto::RegisterGraphResponse response;
  if (!ParseBody(reply, &response) || response.graph_handle().empty() || response.graph_handle() == remote_[i].handle)
    return;
  bool late = false;
  {
    SpinGuard lock(lock_);
    drawn_.resize(remote_.size());
    drawn_[i] = response.graph_handle();
    late = deregistered_;
  }
  if (late) Deregister(i);
}

std::string ClientGraph::HandleOf(std::size_t i) const {
  SpinGuard lock(lock_);
  return i < drawn_.size() && !drawn_[i].empty() ? drawn_[i] : remote_[i].handle;
}

void ClientGraph::Deregister(std::size_t i) {
  proto::DeregisterGraphRequest request;
  request.set_session_handle(options_.session);
  request.set_graph_handle(HandleOf(i));
  const bool drawn = request.graph_handle() != remote_[i].handle;
  // TensorFlow's workers know no handle but their own: what they never gave one, or say so later, is not there.
  if (!drawn && (*options_.devices)[static_cast<std::size_t>(remote_[i].cut->device)].of_tensorflow) return;
  NetworkRequest goodbye = RequestTo(*remote_[i].task, methods::kDeregisterGraph, request);
  if (drawn) return SayGoodbyeOnce(env_, std::move(goodbye));
  SayGoodbye(env_, std::move(goodbye), options_.worker->owed_goodbyes());
}

void ClientGraph::Deregister() {
  {
    SpinGuard lock(lock_);
    deregistered_ = true;
  }
  for (std::size_t i = 0; i < remote_.size(); ++i) Deregister(i);
}

void ClientGraph::AddTasks(std::map<std::string, const TaskAddress*>& tasks) const {
  for (const Part& part : remote_) tasks.emplace(part.task->name, part.task);
}

void ClientGraph::CleanupRunning(const absl::Status& why) {
  std::vector<std::shared_ptr<StepRun>> running;
  {
    SpinGuard lock(lock_);
    running = running_;
  }
  for (const std::shared_ptr<StepRun>& run : running) Cleanup(*run, why);
}

void ClientGraph::Cleanup(StepRun& run, const absl::Status& why) const {
  if (!run.TakeCleanup()) return;
  const std::int64_t step_id = run.step_id();
  proto::CleanupGraphRequest request;
  request.set_step_id(step_id);
  for (const Part& part : remote_) {
    NetworkRequest cleanup = RequestTo(*part.task, methods::kCleanupGraph, request);
    if (options_.cleanups != nullptr) {
      options_.cleanups->Say(std::move(cleanup));
    } else {
      SayGoodbye(env_, std::move(cleanup), options_.worker->owed_goodbyes());
    }
  }
  // The own partition may have ended well, with values that nobody will fetch any more.
  if (local_graph_ != nullptr) options_.worker->EndStep(step_id, Derived(why));
}

std::string ClientGraph::DeviceOf(const Part& part) const {
  return (*options_.devices)[static_cast<std::size_t>(part.cut->device)].device_name();
}

std::shared_ptr<StepRun> ClientGraph::TakeRun() {
  {
    SpinGuard lock(lock_);
    // One that a late callback of the network still holds is not taken.
    const auto free = std::find_if(idle_.rbegin(), idle_.rend(), [](const auto& run) { return run.use_count() == 1; });
    if (free != idle_.rend()) {
      std::shared_ptr<StepRun> run = std::move(*free);
      idle_.erase(std::next(free).base());
      return run;
    }
  }
  return std::make_shared<StepRun>(env_, *options_.worker, remote_.size());
}

std::size_t ClientGraph::running() const {
  SpinGuard lock(lock_);
  return running_.size();
}

absl::Status ClientGraph::Run(CallsInFlight& steps, const StepCall& call, Time deadline, StepCaller* caller,
                              std::vector<Tensor>* fetched) {
  const std::shared_ptr<StepRun> run = TakeRun();
  run->Begin(options_.worker->ids().Next());
  VIGIL_RETURN_IF_ERROR(steps.Add(run));
  Lease lease(*this, steps, run);
  if (caller != nullptr) caller->Watch(run);
  StartRemote(*run, call);
  if (local_graph_ != nullptr) RunLocal(*run, call, deadline);
  absl::Status status = run->Finish(deadline);
  if (caller != nullptr) caller->Watch(nullptr);
  if (status.ok()) {
    status = Collect(*run, call, fetched);
  } else {
    Cleanup(*run, status);
  }
  run->ForgetValues();
  lease.SetDone();
  return status;
}

void ClientGraph::StartRemote(StepRun& run, const StepCall& call) const {
  const bool traced = IsTracedOnServer(call.options);
  const bool reports = call.options != nullptr && call.options->report_tensor_allocations_upon_oom;
  using Request = proto::RunGraphRequest;
  for (std::size_t i = 0; i < remote_.size(); ++i) {
    const Part& part = remote_[i];
    std::string body;
    body.reserve(part.request.size() + 32);
    body = part.request;
    MessageWriter message(std::move(body));
    message.Integer(Request::kStepIdFieldNumber, run.step_id());
    message.Integer(Request::kRequestIdFieldNumber, options_.worker->ids().Next());
    for (const PartitionFeed& feed : part.cut->feeds) {
      message.NamedTensor(Request::kSendFieldNumber, feed.name, call.feeds[static_cast<std::size_t>(feed.feed)]);
    }
    if (traced || reports) {
      proto::ExecutorOpts options;
      options.set_record_timeline(traced);
      options.set_report_tensor_allocations_upon_oom(reports);
      message.Text(Request::kExecOptsFieldNumber, options.SerializeAsString());
    }
    run.Start(i, {.to = part.task->address,
                  .method = methods::kRunGraph.text(),
                  .body = std::move(message).Take(),
                  .keepalive = options_.keepalive});
  }
}

void ClientGraph::RunLocal(StepRun& run, const StepCall& call, Time deadline) const {
  if (!run.SetLocal(true)) return;
  for (const PartitionFeed& feed : local_.cut->feeds)
    run.feeds.push_back(call.feeds[static_cast<std::size_t>(feed.feed)]);
  const absl::Status status =
      options_.worker->RunGraph(*local_graph_, *local_lane_, run.step_id(),
                                {.feeds = run.feeds,
                                 .options = call.options,
                                 .metadata = IsTracedOnServer(call.options) ? call.metadata : nullptr,
                                 .deadline = deadline,
                                 .master = options_.worker->device().incarnation()},
                                &run.fetched);
  if (call.metadata != nullptr) {
    for (NodeStats& stats : call.metadata->step_stats) stats.device = DeviceOf(local_);
  }
  run.SetLocal(false);
  if (!status.ok()) run.Fail(status);
}

absl::Status ClientGraph::Collect(StepRun& run, const StepCall& call, std::vector<Tensor>* fetched) const {
  fetched->resize(fetches_);
  for (const auto& [fetch, feed] : cut_->fed_fetches) {
    (*fetched)[static_cast<std::size_t>(fetch)] = call.feeds[static_cast<std::size_t>(feed)];
  }
  const auto put = [fetched](const PartitionFetch& fetch, const Tensor& value) {
    for (const int i : fetch.fetches) (*fetched)[static_cast<std::size_t>(i)] = value;
  };
  if (local_graph_ != nullptr) {
    for (std::size_t i = 0; i < local_.cut->fetches.size(); ++i) put(local_.cut->fetches[i], run.fetched[i]);
  }
  proto::RunGraphResponse response;
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < remote_.size(); ++i) {
    HeardOf(remote_[i]);
    const std::vector<PartitionFetch>& fetches = remote_[i].cut->fetches;
    if (fetches.empty() && run.reply(i)->empty()) continue;
    values.clear();
    const absl::Status parsed = ParseWithTensors(*run.reply(i), proto::RunGraphResponse::kRecvFieldNumber,
                                                 &proto::RunGraphResponse::mutable_recv, &response, &values);
    if (!parsed.ok() && parsed != NotParsed()) return parsed;
    if (!parsed.ok() || values.size() != fetches.size()) {
      return MakeStatus(Code::kInternal, "RunGraph: malformed response");
    }
    for (std::size_t j = 0; j < values.size(); ++j) put(fetches[j], values[j]);
    if (call.metadata == nullptr || !IsTracedOnServer(call.options)) continue;
    for (const auto& stats : response.node_stats()) {
      call.metadata->step_stats.push_back(FromProto(stats));
      call.metadata->step_stats.back().device = DeviceOf(remote_[i]);
    }
    if (!response.has_step_stats()) continue;
    proto::RunMetadata of_tensorflow;
    of_tensorflow.mutable_step_stats()->Swap(response.mutable_step_stats());
    for (NodeStats& stats : FromProto(of_tensorflow).step_stats) call.metadata->step_stats.push_back(std::move(stats));
  }
  return absl::OkStatus();
}

}  // namespace vigil
