#include "vigil/core/cluster/master/master.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/master/device_finder.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/cluster/parallel_calls.h"
#include "vigil/core/cluster/task_start.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/session/run_metadata.h"
#include "vigil/core/tensor/tensor_proto.h"
#include "vigil/core/tensor/tensor_wire.h"

namespace vigil {
namespace {

// So long a task may take to forget its resources.
constexpr Duration kResetTimeout = std::chrono::seconds(60);

absl::Status NoSession(const std::string& handle) {
  return MakeStatus(Code::kAborted, fmt::format("Session {} is not found.", handle));
}

absl::Status WasRestarted(const TaskStart& client) {
  return WasFollowed(
      fmt::format("{} was restarted: the session is one of its start {}, which is over.", client.task, client.number));
}

// `given` wins.
SessionConfig Merged(const SessionConfig& defaults, SessionConfig given) {
  if (given.device_filters.empty()) given.device_filters = defaults.device_filters;
  if (given.operation_timeout_in_ms == 0) given.operation_timeout_in_ms = defaults.operation_timeout_in_ms;
  if (given.create_timeout == Duration::zero()) given.create_timeout = defaults.create_timeout;
  if (given.keepalive == Duration::zero()) given.keepalive = defaults.keepalive;
  return given;
}

// A step that somebody has asked for over the network.
absl::Status RunFor(IncomingCall& call, MasterSession& session, const StepNames& names, const StepCall& step,
                    std::vector<Tensor>* fetched) {
  const Time deadline = session.DeadlineOf(step.options);
  const std::shared_ptr<StepCaller> caller = StepCaller::Of(call);
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<ClientGraph> graph, session.Find(names, deadline, caller.get()));
  return session.Run(*graph, step, deadline, caller.get(), fetched);
}

StepNames NamesOf(const proto::RunStepRequest& request) {
  StepNames names;
  for (const proto::NamedTensorProto& feed : request.feed()) names.feeds.push_back(feed.name());
  names.fetches.assign(request.fetch().begin(), request.fetch().end());
  names.targets.assign(request.target().begin(), request.target().end());
  return names;
}

}  // namespace

// A session that is gone, or not there, stays so.
class Master::Prepared final : public PreparedStep {
 public:
  Prepared(std::string handle, std::shared_ptr<MasterSession> session, StepNames names)
      : handle_(std::move(handle)), session_(std::move(session)), names_(std::move(names)) {}

  absl::Status Run(const StepCall& call, std::vector<Tensor>* fetched) {
    if (session_ == nullptr) return NoSession(handle_);
    const Time deadline = session_->DeadlineOf(call.options);
    std::shared_ptr<ClientGraph> graph;
    {
      SpinGuard lock(lock_);
      graph = graph_;
    }
    if (graph == nullptr) {
      VIGIL_ASSIGN_OR_RETURN(graph, session_->Find(names_, deadline, nullptr));
      SpinGuard lock(lock_);
      graph_ = graph;
    }
    return session_->Run(*graph, call, deadline, nullptr, fetched);
  }

 private:
  const std::string handle_;
  const std::shared_ptr<MasterSession> session_;
  const StepNames names_;
  SpinLock lock_;
  std::shared_ptr<ClientGraph> graph_;  // guarded by lock_
};

Master::Master(const Env& env, const OpRegistry& ops, std::shared_ptr<WorkerService> worker, SessionConfig defaults)
    : env_(env), ops_(ops), worker_(std::move(worker)), defaults_(std::move(defaults)), graphs_(ops) {}

NetworkReply Master::Handle(IncomingCall& call) {
  using namespace methods;
  const std::string_view method = call.method();
  if (method == kRunStep.path) return ServeRunStep(call);
  if (method == kCreateSession.path)
    return ServeMethod(kCreateSession, call, [&](const auto& request) { return CreateSessionFor(request, &call); });
  if (method == kExtendSession.path)
    return ServeMethod(kExtendSession, call, [this](const auto& request) { return ExtendSession(request); });
  if (method == kMakeCallable.path)
    return ServeMethod(kMakeCallable, call, [&](const auto& request) { return MakeCallable(request, call); });
  if (method == kRunCallable.path)
    return ServeMethod(kRunCallable, call, [&](const auto& request) { return RunCallable(request, call); });
  if (method == kReleaseCallable.path)
    return ServeMethod(kReleaseCallable, call, [this](const auto& request) { return ReleaseCallable(request); });
  if (method == kCloseSession.path) {
    return ServeMethod(kCloseSession, call, [this](const auto& request) { return ServeCloseSession(request); });
  }
  if (method == kKeepSession.path) {
    return ServeMethod(kKeepSession, call,
                       [this](const auto& request) { return FindSession(request.session_handle()).status(); });
  }
  if (method == kReset.path) {
    return ServeMethod(kReset, call, [this](const auto& request) {
      return Reset({request.container().begin(), request.container().end()},
                   {request.device_filters().begin(), request.device_filters().end()});
    });
  }
  if (method == kListDevices.path) {
    return ServeMethod(kListDevices, call,
                       [&](const auto& request) { return ListDevicesFor(request.session_handle(), &call); });
  }
  return MakeStatus(Code::kUnimplemented, fmt::format("Method not found: {}", call.method()));
}

absl::StatusOr<proto::CreateSessionResponse> Master::CreateSession(const proto::CreateSessionRequest& request) {
  return CreateSessionFor(request, nullptr);
}

absl::StatusOr<proto::CreateSessionResponse> Master::CreateSessionFor(const proto::CreateSessionRequest& request,
                                                                      IncomingCall* caller) {
  const auto respond = [](const MasterSession& session, std::int64_t version) {
    proto::CreateSessionResponse response;
    response.set_session_handle(session.handle());
    response.set_graph_version(version);
    return response;
  };
  const std::int64_t request_id = request.request_id();
  const TaskStart client{.task = request.client_task(), .number = request.client_start()};
  VIGIL_RETURN_IF_ERROR(NoteClient(client));
  const auto created = [&]() {
    SpinGuard lock(lock_);
    return FindCreated(request_id);
  };
  VIGIL_ASSIGN_OR_RETURN(std::shared_ptr<MasterSession> known, created());
  if (known != nullptr) return respond(*known, known->version());
  VIGIL_ASSIGN_OR_RETURN(SessionConfig given, FromProto(request.config()));
  const SessionConfig config = Merged(defaults_, std::move(given));
  VIGIL_ASSIGN_OR_RETURN(std::vector<TaskDevice> devices, FindDevices(env_, *worker_,
                                                                      {.filters = config.device_filters,
                                                                       .timeout = config.create_timeout,
                                                                       .keepalive = config.keepalive,
                                                                       .wait_for_ready = config.waits_for_tasks,
                                                                       .caller = caller,
                                                                       .client = client,
                                                                       .stopped = [this] { return stopped(); }}));
  const auto session = std::make_shared<MasterSession>(
      env_, ops_, worker_, fmt::format("{:016x}", worker_->ids().Next()),
      MasterSession::Client{.request_id = request_id, .kept = caller != nullptr && request.kept(), .process = client},
      config, std::make_shared<const std::vector<TaskDevice>>(std::move(devices)));
  VIGIL_ASSIGN_OR_RETURN(std::shared_ptr<MasterGraph> graph, graphs_.Get(request.graph_def()));
  const std::int64_t version = session->Begin(std::move(graph));
  // Nobody would close it.
  if (caller != nullptr && caller->cancelled()) {
    return MakeStatus(Code::kCancelled, "CreateSession was cancelled by its caller");
  }
  {
    SpinGuard lock(lock_);
    VIGIL_ASSIGN_OR_RETURN(known, FindCreated(request_id));
    if (known != nullptr) return respond(*known, version);
    if (stopped_) return MakeStatus(Code::kCancelled, "The server was stopped.");  // nobody would close it
    if (IsFollowed(client)) return WasRestarted(client);
    if (request_id != 0) creations_.Add(request_id);
    sessions_.emplace(session->handle(), session);
  }
  session->Watch(worker_->background().Begin("watch tasks"), [this, handle = session->handle()] { TakeOut(handle); });
  return respond(*session, version);
}

absl::StatusOr<std::shared_ptr<MasterSession>> Master::FindCreated(std::int64_t request_id) {
  if (request_id == 0) return nullptr;
  const auto it = std::ranges::find_if(
      sessions_, [request_id](const auto& entry) { return entry.second->created_by() == request_id; });
  if (it != sessions_.end()) return it->second;
  if (!creations_.Contains(request_id)) return nullptr;
  return MakeStatus(Code::kAborted, fmt::format("The session of request {} is closed already.", request_id));
}

bool Master::IsFollowed(const TaskStart& client) const {
  const auto latest = clients_.find(client.task);
  return latest != clients_.end() && client.number != 0 && client.number < latest->second;
}

absl::Status Master::NoteClient(const TaskStart& client) {
  if (client.number == 0) return absl::OkStatus();
  std::vector<std::shared_ptr<MasterSession>> over;
  {
    SpinGuard lock(lock_);
    if (IsFollowed(client)) return WasRestarted(client);
    clients_[client.task] = client.number;
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      const auto next = std::next(it);
      if (IsFollowed(it->second->client_process())) over.push_back(std::move(sessions_.extract(it).mapped()));
      it = next;
    }
  }
  for (const std::shared_ptr<MasterSession>& session : over) session->End(WasRestarted(session->client_process()));
  return absl::OkStatus();
}

bool Master::stopped() const {
  SpinGuard lock(lock_);
  return stopped_;
}

std::size_t Master::sessions() const {
  SpinGuard lock(lock_);
  return sessions_.size();
}

std::map<std::string, std::size_t> Master::RunningSteps() const {
  std::map<std::string, std::shared_ptr<MasterSession>> sessions;
  {
    SpinGuard lock(lock_);
    sessions = {sessions_.begin(), sessions_.end()};
  }
  std::map<std::string, std::size_t> running;
  for (const auto& [handle, session] : sessions) running[handle] = session->running();
  return running;
}

std::size_t Master::calls() const {
  std::size_t calls = resets_.size();
  SpinGuard lock(lock_);
  for (const auto& [handle, session] : sessions_) calls += session->calls();
  return calls;
}

absl::StatusOr<std::shared_ptr<MasterSession>> Master::FindSession(const std::string& handle) {
  SpinGuard lock(lock_);
  const auto it = sessions_.find(handle);
  if (it == sessions_.end()) return NoSession(handle);
  it->second->Heard();
  return it->second;
}

absl::StatusOr<proto::ExtendSessionResponse> Master::ExtendSession(const proto::ExtendSessionRequest& request) {
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<MasterSession> session, FindSession(request.session_handle()));
  proto::ExtendSessionResponse response;
  VIGIL_ASSIGN_OR_RETURN(const std::int64_t version,
                         session->Extend(request.graph_def(), request.current_graph_version()));
  response.set_new_graph_version(version);
  return response;
}

std::shared_ptr<PreparedStep> Master::Prepare(const std::string& session, StepNames names) {
  absl::StatusOr<std::shared_ptr<MasterSession>> found = FindSession(session);
  return std::make_shared<Prepared>(session, found.ok() ? *std::move(found) : nullptr, std::move(names));
}

absl::Status Master::RunStep(PreparedStep& step, const StepCall& call, std::vector<Tensor>* fetched) {
  return static_cast<Prepared&>(step).Run(call, fetched);
}

NetworkReply Master::ServeRunStep(IncomingCall& call) {
  proto::RunStepRequest request;
  std::vector<Tensor> feeds;
  const absl::Status parsed = ParseWithTensors(call.body(), proto::RunStepRequest::kFeedFieldNumber,
                                               &proto::RunStepRequest::mutable_feed, &request, &feeds);
  NetworkReply reply = parsed.ok() ? RunRequest(request, feeds, call) : parsed;
  if (reply.ok() || !request.store_errors_in_response_body()) return reply;
  proto::RunStepResponse response;
  PutStatus(reply.status(), &response);
  return Serialize(methods::kRunStep.path, response);
}

absl::Status Master::NoteRequest(std::int64_t id, std::string_view what, const std::string& session) {
  if (id == 0) return absl::OkStatus();
  SpinGuard lock(lock_);
  if (requests_.Add(id)) return absl::OkStatus();
  return MakeStatus(Code::kAborted,
                    fmt::format("The same {} (Master) request was received twice. session_handle: \"{}\" "
                                "request_id: {}",
                                what, session, id));
}

absl::StatusOr<absl::Cord> Master::RunRequest(const proto::RunStepRequest& request, const std::vector<Tensor>& feeds,
                                              IncomingCall& call) {
  VIGIL_RETURN_IF_ERROR(NoteRequest(request.request_id(), methods::kRunStep.name, request.session_handle()));
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<MasterSession> session, FindSession(request.session_handle()));
  VIGIL_ASSIGN_OR_RETURN(const RunOptions options, FromProto(request.options()));
  RunMetadata metadata;
  std::vector<Tensor> fetched;
  VIGIL_RETURN_IF_ERROR(
      RunFor(call, *session, NamesOf(request), {.feeds = feeds, .options = &options, .metadata = &metadata}, &fetched));
  MessageWriter response;
  for (std::size_t i = 0; i < fetched.size(); ++i) {
    const std::string& name = request.fetch(static_cast<int>(i));
    VIGIL_RETURN_IF_ERROR(CheckFits(env_, methods::kRunStep.path, name, fetched[i]));
    response.NamedTensor(proto::RunStepResponse::kTensorFieldNumber, name, fetched[i]);
  }
  proto::RunStepResponse others;
  for (const NodeStats& stats : metadata.step_stats) ToProto(stats, others.add_node_stats());
  if (!metadata.step_stats.empty()) *others.mutable_metadata() = ToProto(metadata);
  response.Fields(others.SerializeAsString());
  return std::move(response).Take();
}

// What is wrong with its names is said here, as TensorFlow's does.
absl::StatusOr<proto::MakeCallableResponse> Master::MakeCallable(const proto::MakeCallableRequest& request,
                                                                 IncomingCall& call) {
  VIGIL_RETURN_IF_ERROR(NoteRequest(request.request_id(), methods::kMakeCallable.name, request.session_handle()));
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<MasterSession> session, FindSession(request.session_handle()));
  VIGIL_ASSIGN_OR_RETURN(NamedCallable callable, CallableOf(request.options()));
  const std::shared_ptr<StepCaller> caller = StepCaller::Of(call);
  VIGIL_RETURN_IF_ERROR(session->Find(callable.names, session->DeadlineOf(&callable.options), caller.get()).status());
  proto::MakeCallableResponse response;
  response.set_handle(session->callables().Add(std::move(callable)));
  return response;
}

absl::StatusOr<proto::RunCallableResponse> Master::RunCallable(const proto::RunCallableRequest& request,
                                                               IncomingCall& call) {
  VIGIL_RETURN_IF_ERROR(NoteRequest(request.request_id(), methods::kRunCallable.name, request.session_handle()));
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<MasterSession> session, FindSession(request.session_handle()));
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<const NamedCallable> callable,
                         session->callables().Find(request.handle()));
  const StepNames& names = callable->names;
  std::vector<Tensor> feeds;
  for (const proto::TensorProto& feed : request.feed()) {
    VIGIL_ASSIGN_OR_RETURN(feeds.emplace_back(), FromProto(feed));
  }
  if (feeds.size() != names.feeds.size()) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("Expected {} feed tensors, but got {}.", names.feeds.size(), feeds.size()));
  }
  std::vector<Tensor> fetched;
  RunMetadata metadata;
  VIGIL_RETURN_IF_ERROR(
      RunFor(call, *session, names, {.feeds = feeds, .options = &callable->options, .metadata = &metadata}, &fetched));
  proto::RunCallableResponse response;
  for (std::size_t i = 0; i < fetched.size(); ++i) {
    VIGIL_RETURN_IF_ERROR(CheckFits(env_, methods::kRunCallable.path, names.fetches[i], fetched[i]));
    ToProto(fetched[i], response.add_fetch());
  }
  if (!metadata.step_stats.empty()) *response.mutable_metadata() = ToProto(metadata);
  return response;
}

absl::Status Master::ReleaseCallable(const proto::ReleaseCallableRequest& request) {
  VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<MasterSession> session, FindSession(request.session_handle()));
  return session->callables().Release(request.handle());
}

std::shared_ptr<MasterSession> Master::TakeOut(const std::string& session) {
  SpinGuard lock(lock_);
  const auto it = sessions_.find(session);
  if (it == sessions_.end()) return nullptr;
  std::shared_ptr<MasterSession> closing = std::move(it->second);
  sessions_.erase(it);
  return closing;
}

absl::Status Master::CloseSession(const std::string& session) {
  const std::shared_ptr<MasterSession> closing = TakeOut(session);
  if (closing == nullptr) return NoSession(session);
  closing->Close([this] { return stopped(); });
  return absl::OkStatus();
}

absl::Status Master::ServeCloseSession(const proto::CloseSessionRequest& request) {
  if (!request.session_handle().empty() || request.created_by() == 0) return CloseSession(request.session_handle());
  std::string session;
  {
    SpinGuard lock(lock_);
    absl::StatusOr<std::shared_ptr<MasterSession>> created = FindCreated(request.created_by());
    if (created.ok() && *created != nullptr) session = (*created)->handle();
    creations_.Add(request.created_by());  // a creation that is under way comes to nothing
  }
  return session.empty() ? absl::OkStatus() : CloseSession(session);
}

void Master::AbandonSession(const std::string& session) {
  const std::shared_ptr<MasterSession> closing = TakeOut(session);
  if (closing == nullptr) return;
  const auto close = [closing, running = worker_->background().Begin("close session")] { closing->Close(); };
  // Where no thread can be made, here and now.
  if (!TrySpawn(*env_.tasks, "close session", close).ok()) close();
}

void Master::CloseAll() {
  std::map<std::string, std::shared_ptr<MasterSession>> closing;
  {
    SpinGuard lock(lock_);
    closing.swap(sessions_);
  }
  for (const auto& [handle, session] : closing) session->Close();
}

void Master::Stop() {
  {
    SpinGuard lock(lock_);
    stopped_ = true;
  }
  resets_.Close(MakeStatus(Code::kCancelled, "The server was stopped."));
  CloseAll();
}

absl::Status Master::Reset(const std::vector<std::string>& containers, const std::vector<std::string>& device_filters) {
  VIGIL_ASSIGN_OR_RETURN(const std::vector<const TaskAddress*> tasks, FilterTasks(worker_->cluster(), device_filters));
  proto::CleanupAllRequest request;
  for (const std::string& container : containers) request.add_container(container);
  const auto calls = std::make_shared<ParallelCalls>(env_);
  std::vector<const TaskAddress*> others;
  for (const TaskAddress* const task : tasks) {
    if (task != &worker_->cluster().own()) others.push_back(task);
  }
  calls->Reuse(others.size());
  VIGIL_RETURN_IF_ERROR(resets_.Add(calls));
  CloseAll();
  for (std::size_t i = 0; i < others.size(); ++i) {
    calls->Start(i, {.to = others[i]->address,
                     .method = methods::kCleanupAll.text(),
                     .body = absl::Cord(request.SerializeAsString())});
  }
  worker_->CleanupAll(containers);
  if (!calls->Wait(DeadlineAfter(env_, kResetTimeout))) {
    calls->Fail(MakeStatus(Code::kDeadlineExceeded,
                           fmt::format("Reset: not every task has answered within {:g} s.", ToSeconds(kResetTimeout))));
  }
  resets_.Remove(calls.get());
  absl::Status status = calls->failed();
  for (std::size_t i = 0; status.ok() && i < others.size(); ++i) status.Update(calls->reply(i).status());
  return status;
}

absl::StatusOr<proto::ListDevicesResponse> Master::ListDevices(const std::string& session) {
  return ListDevicesFor(session, nullptr);
}

absl::StatusOr<proto::ListDevicesResponse> Master::ListDevicesFor(const std::string& session, IncomingCall* caller) {
  std::vector<TaskDevice> devices;
  if (session.empty()) {
    VIGIL_ASSIGN_OR_RETURN(devices,
                           FindDevices(env_, *worker_, {.caller = caller, .stopped = [this] { return stopped(); }}));
  } else {
    VIGIL_ASSIGN_OR_RETURN(const std::shared_ptr<MasterSession> found, FindSession(session));
    devices = found->devices();
  }
  proto::ListDevicesResponse response;
  for (const TaskDevice& device : devices) {
    const bool own = device.device_name() == worker_->device().name();
    proto::DeviceAttributes& out = own ? *response.add_local_device() : *response.add_remote_device();
    out.set_name(device.device_name());
    out.set_device_type("CPU");
    out.set_incarnation(device.incarnation);
  }
  return response;
}

}  // namespace vigil
