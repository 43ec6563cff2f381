#include "vigil/core/cluster/server/server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/in_flight.h"
#include "vigil/core/cluster/local_masters.h"
#include "vigil/core/cluster/master/master.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/cluster/step_errors.h"
#include "vigil/core/cluster/worker/worker_service.h"
#include "vigil/core/env/call_guarded.h"

namespace vigil {
namespace {

// So long what is cancelled may take to end before somebody is told of it.
constexpr Duration kLongStop = std::chrono::seconds(30);

absl::Status Internal(std::string text) { return MakeStatus(Code::kInternal, text); }

// Fills in what follows from the cluster; refuses what contradicts it.
absl::Status CheckOptions(ServerOptions& options) {
  const std::vector<std::string> jobs = options.cluster.jobs();
  if (!options.job_name.has_value()) {
    if (jobs.size() != 1) return UsageError("Must specify an explicit `job_name`.");
    options.job_name = jobs[0];
  }
  if (!options.task_index.has_value()) {
    VIGIL_ASSIGN_OR_RETURN(const std::vector<int> tasks, options.cluster.task_indices(*options.job_name));
    if (tasks.size() != 1) return UsageError("Must specify an explicit `task_index`.");
    options.task_index = tasks[0];
  }
  if (options.protocol != "grpc") {
    return MakeStatus(Code::kNotFound,
                      fmt::format("No server factory registered for the given ServerDef: protocol: \"{}\"\n"
                                  "The available server factories are: [ GRPC_SERVER ]",
                                  options.protocol));
  }
  if (std::ranges::find(jobs, *options.job_name) == jobs.end()) {
    return Internal(fmt::format("Job \"{}\" was not defined in cluster", *options.job_name));
  }
  if (!options.cluster.task_address(*options.job_name, *options.task_index).ok()) {
    return Internal(fmt::format("Task {} was not defined in job \"{}\"", *options.task_index, *options.job_name));
  }
  return absl::OkStatus();
}

}  // namespace

// What requests under way share with the server.
class Server::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(const Env& env, ServerOptions given, TaskAddresses cluster)
      : options(std::move(given)),
        worker(std::make_shared<WorkerService>(env, Ops(), std::move(cluster), options.start_number)),
        master(std::make_shared<Master>(env, Ops(), worker, options.config)),
        env_(env),
        requests_(std::make_shared<InFlight>(env)) {}

  absl::Status Listen() {
    const std::string& address = worker->cluster().own().address;
    absl::StatusOr<std::unique_ptr<Listener>> listening =
        env_.network->Listen(address, [self = shared_from_this()](IncomingCall& call) { return self->Handle(call); });
    if (!listening.ok()) {
      // TensorFlow says only this; why, the log says.
      env_.log->Write(Severity::kError, fmt::format("{}: {}", address, MessageOf(listening.status())));
      return MakeStatus(Code::kUnknown, "Could not start gRPC server");
    }
    listener_ = *std::move(listening);
    target = "grpc://" + listener_->address();
    LocalMastersOf(env_).Add(target, master, options.cluster,
                             {.task = worker->cluster().own().name, .number = options.start_number});
    return absl::OkStatus();
  }

  void Close() {
    if (listener_ == nullptr) return;
    LocalMastersOf(env_).Remove(target);
    listener_ = nullptr;
  }

  // Cancels what is under way and waits until it has ended, or `patience` is over: then the log says that the server
  // `was` so, and what is left. False: that.
  bool End(Duration patience, std::string_view was) {
    const Time deadline = DeadlineAfter(env_, patience);
    master->Stop();
    worker->EndAllSteps(Derived(MakeStatus(Code::kCancelled, "The server was stopped.")));
    if (WaitForRequests(deadline)) return true;
    env_.log->Write(Severity::kWarning, fmt::format("The server {} was {} after {:g} s this is still under way: {}.",
                                                    target, was, ToSeconds(patience), UnderWay()));
    return false;
  }

  // False: the deadline passed.
  bool WaitForRequests(Time deadline) {
    return requests_->WaitForNone(deadline) && worker->background().WaitForNone(deadline);
  }

  std::map<std::string, int> Names() const {
    std::map<std::string, int> all = requests_->Names();
    for (const auto& [name, count] : worker->background().Names()) all[name] += count;
    return all;
  }

  // "2 of RunGraph, 1 of cancel step"
  std::string UnderWay() const {
    std::vector<std::string> texts;
    for (const auto& [name, count] : Names()) texts.push_back(fmt::format("{} of {}", count, name));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  bool started() const { return listener_ != nullptr; }

  const ServerOptions options;
  const std::shared_ptr<WorkerService> worker;
  const std::shared_ptr<Master> master;
  std::string target;

 private:
  const OpRegistry& Ops() const { return options.ops == nullptr ? BuiltinOps() : *options.ops; }

  NetworkReply Handle(IncomingCall& call) {
    const InFlight::Scope running(*requests_, call.method());
    NetworkReply reply = Dispatch(call);
    if (!reply.ok()) return ByPeer(reply.status());
    return reply;
  }

  NetworkReply Dispatch(IncomingCall& call) {
    if (call.method().starts_with(kWorkerServicePrefix)) return worker->Handle(call);
    if (call.method().starts_with(kMasterServicePrefix)) return master->Handle(call);
    return MakeStatus(Code::kUnimplemented, fmt::format("Method not found: {}", call.method()));
  }

  const Env env_;
  std::unique_ptr<Listener> listener_;
  const std::shared_ptr<InFlight> requests_;
};

Server::Server(const Env& env, std::shared_ptr<Impl> impl) : env_(env), impl_(std::move(impl)) {}

Server::~Server() {
  if (stopped_) return;
  impl_->Close();
  constexpr std::string_view kWas = "destroyed without Stop(), and";
  // Where no thread can be made, here and now: a destructor does not wait.
  if (!TrySpawn(*env_.tasks, "stop server", [impl = impl_, kWas] { impl->End(kLongStop, kWas); }).ok()) {
    impl_->End(Duration::zero(), kWas);
  }
}

absl::StatusOr<std::unique_ptr<Server>> Server::Create(const Env& env, ServerOptions options) {
  VIGIL_RETURN_IF_ERROR(CheckOptions(options));
  if (env.network == nullptr) return UsageError("A server needs an Env with a network.");
  VIGIL_ASSIGN_OR_RETURN(TaskAddresses cluster,
                         TaskAddresses::Create(options.cluster, *options.job_name, *options.task_index));
  const bool start = options.start;
  std::unique_ptr<Server> server(new Server(env, std::make_shared<Impl>(env, std::move(options), std::move(cluster))));
  if (start) VIGIL_RETURN_IF_ERROR(server->Start());
  return server;
}

absl::StatusOr<std::unique_ptr<Server>> Server::CreateLocal(const Env& env, SessionConfig config, bool start) {
  VIGIL_ASSIGN_OR_RETURN(ClusterSpec cluster,
                         ClusterSpec::Create({{"localhost", std::vector<std::string>{"localhost:0"}}}));
  return Create(env, {.cluster = std::move(cluster), .config = std::move(config), .start = start});
}

absl::Status Server::Start() {
  if (stopped_) return UsageError(fmt::format("The server {} was stopped: make another one.", impl_->target));
  return impl_->started() ? absl::OkStatus() : impl_->Listen();
}

void Server::Join() { env_.tasks->SleepUntil(kNever); }

void Server::Stop() {
  stopped_ = true;
  impl_->Close();
  if (!impl_->End(kLongStop, "stopped and goes on waiting, but")) impl_->WaitForRequests(kNever);
}

const std::string& Server::target() const { return impl_->target; }
const std::string& Server::job_name() const { return *impl_->options.job_name; }
int Server::task_index() const { return *impl_->options.task_index; }
const ClusterSpec& Server::cluster() const { return impl_->options.cluster; }
Server::Load Server::load() const {
  return {.steps = impl_->worker->steps(),
          .graphs = impl_->worker->graphs(),
          .sessions = impl_->master->sessions(),
          .calls = impl_->master->calls(),
          .with_own = impl_->worker->sessions_with_own(),
          .under_way = impl_->Names(),
          .incarnation = impl_->worker->device().incarnation(),
          .running = impl_->master->RunningSteps(),
          .registered_by = impl_->worker->GraphSessions(),
          .steps_of = impl_->worker->StepMasters()};
}
std::size_t Server::InLine() const { return impl_->worker->InLine(); }
WorkerService& Server::worker() { return *impl_->worker; }

bool Answers(const Env& env, const std::string& address, Duration patience) {
  return CallAndWait(env,
                     {.to = address, .method = methods::kGetStatus.text(), .deadline = DeadlineAfter(env, patience)})
      .ok();
}

}  // namespace vigil
