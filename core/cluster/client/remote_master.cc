#include "vigil/core/cluster/client/remote_master.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/atomic.h"
#include "vigil/core/base/code.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/cluster/client/heartbeat.h"
#include "vigil/core/cluster/goodbye.h"
#include "vigil/core/cluster/local_masters.h"
#include "vigil/core/cluster/methods.h"
#include "vigil/core/cluster/step_errors.h"
#include "vigil/core/cluster/wire.h"
#include "vigil/core/session/run_metadata.h"
#include "vigil/core/tensor/tensor_wire.h"

namespace vigil {
namespace {

constexpr int kBeatsInAKeepalive = 4;  // of a session whose client is there
constexpr int kMostRetries = 10;
// A master that makes a session may say nothing for as long as it waits for its tasks.
constexpr Duration kSilentAfterTimeout = std::chrono::seconds(5);
constexpr Duration kAskMasterAgain = std::chrono::seconds(1);
constexpr Duration kFirstRetryAfter = std::chrono::milliseconds(1);

// What is the same in all steps. TensorFlow's servers refuse to fetch what is fed: it is not asked for.
class RemoteStep final : public PreparedStep {
 public:
  RemoteStep(const std::string& session, const StepNames& names) : feeds(names.feeds), fetches(names.fetches) {
    request.set_session_handle(session);
    for (const std::string& name : fetches) {
      if (IndexOf(name, feeds) < 0) request.add_fetch(name);
    }
    for (const std::string& name : names.targets) request.add_target(name);
    request.set_store_errors_in_response_body(true);
  }

  // Nothing is left to ask for.
  bool IsAllFed() const { return !fetches.empty() && request.fetch().empty() && request.target().empty(); }

  // Puts what has come and what was fed into the order of the fetches. What comes may be in another order, and what was
  // asked for twice may come once (TensorFlow's servers). False: something else came.
  bool Arrange(const proto::RunStepResponse& response, std::span<const Tensor> fed,
               std::vector<Tensor>* fetched) const {
    if (response.tensor_size() > request.fetch_size()) return false;
    if (std::ranges::equal(response.tensor(), fetches, {}, &proto::NamedTensorProto::name)) return true;
    std::vector<Tensor> arranged;
    for (const std::string& name : fetches) {
      const std::ptrdiff_t feed = IndexOf(name, feeds);
      const std::ptrdiff_t came = feed < 0 ? IndexOf(name, response.tensor(), &proto::NamedTensorProto::name) : -1;
      if (feed < 0 && came < 0) return false;
      arranged.push_back(feed < 0 ? (*fetched)[static_cast<std::size_t>(came)] : fed[static_cast<std::size_t>(feed)]);
    }
    fetched->swap(arranged);
    return true;
  }

  const std::vector<std::string> feeds;
  const std::vector<std::string> fetches;
  proto::RunStepRequest request;  // without feeds

 private:
  // -1: it is not there.
  template <typename Range, typename Projection = std::identity>
  static std::ptrdiff_t IndexOf(const std::string& name, const Range& range, Projection projection = {}) {
    const auto it = std::ranges::find(range, name, projection);
    return it == range.end() ? -1 : it - range.begin();
  }
};

// A server of ours says more of a trace than fits into what TensorFlow's say.
void TakeTrace(const proto::RunStepResponse& response, RunMetadata* metadata) {
  for (const auto& stats : response.node_stats()) metadata->step_stats.push_back(FromProto(stats));
  if (response.node_stats().empty()) metadata->step_stats = FromProto(response.metadata()).step_stats;
}

absl::Status Malformed() { return MakeStatus(Code::kInternal, "RunStep: malformed response"); }

// What is asked again if it gets lost. Each may be null.
struct Tries {
  bool* lost = nullptr;                    // the last one did not come through
  bool* answered = nullptr;                // the master has answered
  Time until = kNever;                     // then there is no further one
  Duration keepalive{0};                   // in place of the session's
  const Atomic<bool>* given_up = nullptr;  // once true there is no further one
};

class RemoteMaster final : public MasterInterface {
 public:
  RemoteMaster(const Env& env, std::string address, const SessionConfig& config)
      : env_(env),
        address_(std::move(address)),
        timeout_in_ms_(config.operation_timeout_in_ms),
        create_timeout_(config.create_timeout),
        keepalive_(config.keepalive),
        ids_(env, "a client") {}

  absl::StatusOr<proto::CreateSessionResponse> CreateSession(const proto::CreateSessionRequest& given) override {
    proto::CreateSessionRequest request = given;
    request.set_request_id(ids_.Next());  // whose answer is lost gets it when he asks again
    request.set_kept(keepalive_ > Duration::zero());
    if (const std::optional<TaskStart> own = LocalMastersOf(env_).OwnStart("grpc://" + address_); own.has_value()) {
      request.set_client_task(own->task);
      request.set_client_start(own->number);
    }
    absl::StatusOr<proto::CreateSessionResponse> response = CreateSessionOf(request);
    // The master may have made it all the same, or be about to.
    if (!response.ok()) AbandonCreation(request.request_id());
    if (response.ok() && request.kept()) VIGIL_RETURN_IF_ERROR(Keep(response->session_handle()));
    return response;
  }

  absl::StatusOr<proto::CreateSessionResponse> CreateSessionOf(const proto::CreateSessionRequest& request) {
    const Time deadline = DeadlineOf(timeout_in_ms_);
    const bool limited = create_timeout_ > Duration::zero();
    const Time give_up = limited ? DeadlineAfter(env_, create_timeout_) : kNever;
    const Duration keepalive =
        limited && keepalive_ == Duration::zero() ? create_timeout_ + kSilentAfterTimeout : Duration::zero();
    while (true) {
      bool lost = false;
      absl::StatusOr<proto::CreateSessionResponse> response =
          Ask(methods::kCreateSession, request, deadline, {.lost = &lost, .until = give_up, .keepalive = keepalive});
      if (!lost) return response;
      env_.tasks->SleepUntil(std::min({deadline, give_up, DeadlineAfter(env_, kAskMasterAgain)}));
      if (env_.clock->Monotonic() >= deadline) return MakeStatus(Code::kDeadlineExceeded, "Deadline Exceeded");
      if (env_.clock->Monotonic() < give_up) continue;
      return MakeStatus(Code::kUnavailable, fmt::format("CreateSession got no response within {} s from master: {}",
                                                        ToSeconds(create_timeout_), address_));
    }
  }

  absl::StatusOr<proto::ExtendSessionResponse> ExtendSession(const proto::ExtendSessionRequest& request) override {
    return Ask(methods::kExtendSession, request, DeadlineOf(timeout_in_ms_));
  }

  std::shared_ptr<PreparedStep> Prepare(const std::string& session, StepNames names) override {
    return std::make_shared<RemoteStep>(session, names);
  }

  absl::Status RunStep(PreparedStep& step, const StepCall& call, std::vector<Tensor>* fetched) override {
    const RemoteStep& remote = static_cast<RemoteStep&>(step);
    if (remote.IsAllFed()) return remote.Arrange({}, call.feeds, fetched) ? absl::OkStatus() : Malformed();
    proto::RunStepRequest request = remote.request;
    request.set_request_id(ids_.Next());
    std::int64_t timeout = timeout_in_ms_;
    if (call.options != nullptr) {
      if (call.options->timeout_in_ms > 0) timeout = call.options->timeout_in_ms;
      proto::RunOptionsProto& options = *request.mutable_options();
      options.set_trace_level(static_cast<int>(call.options->trace_level));
      options.set_timeout_in_ms(call.options->timeout_in_ms);
      options.set_report_tensor_allocations_upon_oom(call.options->report_tensor_allocations_upon_oom);
    }
    MessageWriter message(request.SerializeAsString());
    for (std::size_t i = 0; i < remote.feeds.size(); ++i) {
      VIGIL_RETURN_IF_ERROR(CheckFits(env_, methods::kRunStep.path, remote.feeds[i], call.feeds[i]));
      message.NamedTensor(proto::RunStepRequest::kFeedFieldNumber, remote.feeds[i], call.feeds[i]);
    }
    VIGIL_ASSIGN_OR_RETURN(const absl::Cord reply,
                           AskAgain(RequestFor(methods::kRunStep, std::move(message).Take(), DeadlineOf(timeout)),
                                    {.given_up = call.session_closed}));
    proto::RunStepResponse response;
    fetched->clear();
    const absl::Status parsed = ParseWithTensors(reply, proto::RunStepResponse::kTensorFieldNumber,
                                                 &proto::RunStepResponse::mutable_tensor, &response, fetched);
    if (parsed == NotParsed()) return Malformed();
    VIGIL_RETURN_IF_ERROR(GetStatusOf(response));
    VIGIL_RETURN_IF_ERROR(parsed);
    if (!remote.Arrange(response, call.feeds, fetched)) return Malformed();
    if (call.metadata != nullptr) TakeTrace(response, call.metadata);
    return absl::OkStatus();
  }

  absl::Status CloseSession(const std::string& session) override {
    if (const std::shared_ptr<Heartbeat> heart = TakeHeart(session)) heart->Join();
    proto::CloseSessionRequest request;
    request.set_session_handle(session);
    bool answered = false;
    const absl::Status status = AskAgain(RequestFor(methods::kCloseSession, absl::Cord(request.SerializeAsString()),
                                                    DeadlineOf(timeout_in_ms_)),
                                         {.answered = &answered})
                                    .status();
    if (!answered) Tell(request);
    return status;
  }

  void AbandonSession(const std::string& session) override {
    if (const std::shared_ptr<Heartbeat> heart = TakeHeart(session)) heart->Stop();
    proto::CloseSessionRequest request;
    request.set_session_handle(session);
    Tell(request);
  }

  absl::Status Reset(const std::vector<std::string>& containers,
                     const std::vector<std::string>& device_filters) override {
    proto::ResetRequest request;
    for (const std::string& container : containers) request.add_container(container);
    for (const std::string& filter : device_filters) request.add_device_filters(filter);
    return Ask(methods::kReset, request, DeadlineOf(timeout_in_ms_)).status();
  }

  absl::StatusOr<proto::ListDevicesResponse> ListDevices(const std::string& session) override {
    proto::ListDevicesRequest request;
    request.set_session_handle(session);
    return Ask(methods::kListDevices, request, DeadlineOf(timeout_in_ms_));
  }

 private:
  Time DeadlineOf(std::int64_t timeout_in_ms) const {
    return timeout_in_ms <= 0 ? kNever : DeadlineAfter(env_, Milliseconds(timeout_in_ms));
  }

  // As long as it is not closed, the master hears of it.
  absl::Status Keep(const std::string& session) {
    proto::KeepSessionRequest request;
    request.set_session_handle(session);
    absl::StatusOr<std::shared_ptr<Heartbeat>> heart =
        Heartbeat::Start(env_, RequestFor(methods::kKeepSession, absl::Cord(request.SerializeAsString()), kNever),
                         keepalive_ / kBeatsInAKeepalive);
    if (!heart.ok()) AbandonSession(session);
    VIGIL_RETURN_IF_ERROR(heart.status());
    SpinGuard lock(lock_);
    hearts_.emplace(session, *std::move(heart));
    return absl::OkStatus();
  }
  // Null: there is none.
  std::shared_ptr<Heartbeat> TakeHeart(const std::string& session) {
    SpinGuard lock(lock_);
    const auto it = hearts_.find(session);
    if (it == hearts_.end()) return nullptr;
    std::shared_ptr<Heartbeat> heart = std::move(it->second);
    hearts_.erase(it);
    return heart;
  }

  void AbandonCreation(std::int64_t request_id) {
    proto::CloseSessionRequest request;
    request.set_created_by(request_id);
    Tell(request);
  }
  void Tell(const proto::CloseSessionRequest& request) {
    SayGoodbye(env_, RequestFor(methods::kCloseSession, absl::Cord(request.SerializeAsString()), kNever));
  }

  template <typename Method>
  NetworkRequest RequestFor(const Method& method, absl::Cord body, Time deadline) const {
    return {.to = address_,
            .method = method.text(),
            .body = std::move(body),
            .deadline = deadline,
            .keepalive = keepalive_};
  }

  template <typename Method>
  absl::StatusOr<typename Method::Response> Ask(const Method& method, const typename Method::Request& request,
                                                Time deadline, const Tries& tries = {}) {
    VIGIL_ASSIGN_OR_RETURN(absl::Cord body, Serialize(method.path, request));
    NetworkRequest asked = RequestFor(method, std::move(body), deadline);
    if (tries.keepalive > Duration::zero()) asked.keepalive = tries.keepalive;
    VIGIL_ASSIGN_OR_RETURN(const absl::Cord reply, AskAgain(asked, tries));
    typename Method::Response response;
    if (ParseBody(reply, &response)) return response;
    return MakeStatus(Code::kInternal, fmt::format("{}: malformed response", method.name));
  }

  NetworkReply AskAgain(const NetworkRequest& request, const Tries& tries) {
    Duration pause = kFirstRetryAfter;
    // Each further try might take a keepalive, of a master that is silent.
    const Time until =
        keepalive_ > Duration::zero() ? std::min(tries.until, DeadlineAfter(env_, keepalive_)) : tries.until;
    const auto given_up = [&] {
      return (tries.given_up != nullptr && tries.given_up->load()) || env_.clock->Monotonic() >= until;
    };
    for (int retries = 0;; ++retries) {
      NetworkReply reply = CallAndWait(env_, request);
      const bool by_peer = reply.ok() || IsByPeer(reply.status());
      if (by_peer && tries.answered != nullptr) *tries.answered = true;
      const bool lost = !by_peer && CodeOf(reply.status()) == Code::kUnavailable;
      if (tries.lost != nullptr) *tries.lost = lost;
      if (reply.ok()) return reply;
      if (by_peer) return NotByPeer(reply.status());
      if (!lost) return reply.status();
      if (retries == kMostRetries || given_up()) return reply.status();
      env_.log->Write(Severity::kWarning, fmt::format("RPC failed with status = \"{}: {}\", maybe retrying the RPC",
                                                      CodeName(CodeOf(reply.status())), MessageOf(reply.status())));
      env_.tasks->SleepUntil(std::min(request.deadline, DeadlineAfter(env_, pause)));
      if (given_up()) return reply.status();
      pause = pause * 13 / 10;
    }
  }

  const Env env_;
  const std::string address_;
  const std::int64_t timeout_in_ms_;
  const Duration create_timeout_;
  const Duration keepalive_;
  RequestIds ids_;
  SpinLock lock_;
  std::map<std::string, std::shared_ptr<Heartbeat>> hearts_;  // of sessions, by handle; guarded by lock_
};

}  // namespace

std::shared_ptr<MasterInterface> NewRemoteMaster(const Env& env, std::string address, const SessionConfig& config) {
  return std::make_shared<RemoteMaster>(env, std::move(address), config);
}

}  // namespace vigil
