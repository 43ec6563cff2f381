// The calling side. A call is in calls_ from Start until it is answered; meanwhile it waits for its turn with its peer
// (Peer::waiting) or gRPC has it. Whoever takes it out of calls_ answers it: so it is answered once.
#include <fmt/format.h>
#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/grpc/grpc_parts.h"
#include "vigil/core/env/grpc/wire_status.h"

namespace vigil {
namespace {

// Not before the deadline: gRPC counts milliseconds.
gpr_timespec TimeOfGrpc(Duration from_now) {
  const gpr_timespec wait = gpr_time_from_nanos(std::max<std::int64_t>(from_now.count(), 0), GPR_TIMESPAN);
  return gpr_time_add(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), wait), gpr_time_from_millis(1, GPR_TIMESPAN));
}

NetworkReply ReplyOf(const grpc::Status& status, const grpc::ClientContext& context, const grpc::ByteBuffer& reply) {
  if (status.ok()) return ReceivedBytes(reply, FindMetadata(context.GetServerTrailingMetadata(), kChecksumKey));
  return FromWire({.code = static_cast<int>(status.error_code()),
                   .message = status.error_message(),
                   .details = status.error_details()});
}

}  // namespace

struct GrpcCalls::Call {
  std::uint64_t number = 0;
  PeerKey peer;
  std::string method;
  Time deadline = kNever;
  std::int64_t bytes = 0;
  grpc::ByteBuffer body;
  grpc::ByteBuffer reply;
  std::function<void(NetworkReply)> done;
  grpc::ClientContext context;
  std::unique_ptr<grpc::Alarm> turn_missed;  // of one that waits for its turn and has a deadline
};

std::uint64_t GrpcCalls::Start(NetworkRequest request, std::function<void(NetworkReply)> done) {
  const auto call = std::make_shared<Call>();
  call->peer = {request.to, request.keepalive};
  call->method = std::move(request.method);
  call->deadline = request.deadline;
  call->bytes = static_cast<std::int64_t>(request.body.size());
  call->done = std::move(done);
  const bool too_large = call->bytes > shared_->options.max_message_bytes;
  call->context.AddMetadata(kChecksumKey, ChecksumOf(request.body));
  const std::size_t size = request.body.size();
  if (!too_large) call->body = BytesToSend(std::move(request.body));
  bool waits = false;
  {
    std::lock_guard lock(mutex_);
    call->number = ++last_;
    if (!too_large) {
      calls_.emplace(call->number, call);
      Peer& peer = peers_[call->peer];
      waits = !HasRoom(peer, *call);
      if (waits) {
        peer.waiting.push_back(call);
      } else {
        peer.bytes += call->bytes;
      }
      if (waits && call->deadline != kNever) {
        call->turn_missed = std::make_unique<grpc::Alarm>();
        ++callbacks_;
        call->turn_missed->Set(TimeOfGrpc(call->deadline - shared_->env.clock->Monotonic()),
                               [this, weak = std::weak_ptr(call)](bool expired) {
                                 if (const std::shared_ptr<Call> late = expired ? weak.lock() : nullptr) {
                                   GiveUpWaiting(late, MakeStatus(Code::kDeadlineExceeded, "Deadline Exceeded"));
                                 }
                                 Leave();
                               });
      }
    }
  }
  if (too_large) {
    call->done(TooLarge("A request", call->method, size, shared_->options.max_message_bytes));
  } else if (!waits) {
    Launch(call);
  }
  return call->number;
}

void GrpcCalls::Cancel(std::uint64_t number) {
  std::shared_ptr<Call> call;
  {
    std::lock_guard lock(mutex_);
    const auto it = calls_.find(number);
    if (it == calls_.end()) return;
    call = it->second;
  }
  if (!GiveUpWaiting(call, MakeStatus(Code::kCancelled, "CANCELLED"))) call->context.TryCancel();
}

bool GrpcCalls::HasRoom(const Peer& peer, const Call& call) const {
  if (!peer.waiting.empty()) return false;
  return peer.bytes == 0 || peer.bytes + call.bytes <= shared_->options.max_bytes_in_flight;
}

absl::Status GrpcCalls::Connect(const PeerKey& key, Peer& peer) const {
  const Time now = shared_->env.clock->Monotonic();
  if (peer.failed.has_value() && now - *peer.failed < shared_->options.reconnect_after) {
    return MakeStatus(Code::kUnavailable, peer.why);
  }
  if (peer.stub != nullptr) return absl::OkStatus();
  peer.failed.reset();
  peer.channel = NewChannel(key);
  peer.stub = std::make_shared<grpc::GenericStub>(peer.channel);
  return absl::OkStatus();
}

void GrpcCalls::Launch(const std::shared_ptr<Call>& call) {
  std::shared_ptr<grpc::GenericStub> stub;
  std::shared_ptr<grpc::Channel> channel;
  absl::Status connected;
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[call->peer];
    connected = Connect(call->peer, peer);
    stub = peer.stub;
    channel = peer.channel;
    if (connected.ok()) ++callbacks_;
  }
  if (!connected.ok()) return Finish(call, connected, false);
  if (call->deadline != kNever) {
    call->context.set_deadline(TimeOfGrpc(call->deadline - shared_->env.clock->Monotonic()));
  }
  stub->UnaryCall(&call->context, call->method, grpc::StubOptions(), &call->body, &call->reply,
                  [this, call, stub, channel](const grpc::Status& status) {
                    const bool unreachable = status.error_code() == grpc::StatusCode::UNAVAILABLE &&
                                             channel->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE;
                    Finish(call, ReplyOf(status, call->context, call->reply), unreachable);
                    Leave();
                  });
}

void GrpcCalls::Leave() {
  // Under the lock, or who waits might destroy what is notified.
  std::lock_guard lock(mutex_);
  if (--callbacks_ == 0) idle_.notify_all();
}

bool GrpcCalls::idle() {
  std::lock_guard lock(mutex_);
  return callbacks_ == 0;
}

void GrpcCalls::WaitUntilIdle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return callbacks_ == 0; });
}

GrpcCalls::~GrpcCalls() { VIGIL_CHECK(idle()); }

void GrpcCalls::Finish(const std::shared_ptr<Call>& call, NetworkReply reply, bool unreachable) {
  std::vector<std::shared_ptr<Call>> next;
  {
    std::lock_guard lock(mutex_);
    calls_.erase(call->number);
    Peer& peer = peers_[call->peer];
    peer.bytes -= call->bytes;
    // gRPC would go on by itself, at times of its own: what it waits for is not what the next call asks.
    if (unreachable && peer.stub != nullptr) {
      peer.failed = shared_->env.clock->Monotonic();
      peer.why = std::string(MessageOf(reply.status()));
      peer.stub = nullptr;
      peer.channel = nullptr;
    }
    while (!peer.waiting.empty()) {
      const std::shared_ptr<Call>& first = peer.waiting.front();
      if (peer.bytes > 0 && peer.bytes + first->bytes > shared_->options.max_bytes_in_flight) break;
      peer.bytes += first->bytes;
      next.push_back(first);
      peer.waiting.pop_front();
    }
  }
  call->done(std::move(reply));
  for (const std::shared_ptr<Call>& each : next) Launch(each);
}

bool GrpcCalls::GiveUpWaiting(const std::shared_ptr<Call>& call, const absl::Status& why) {
  {
    std::lock_guard lock(mutex_);
    std::deque<std::shared_ptr<Call>>& waiting = peers_[call->peer].waiting;
    const auto it = std::ranges::find(waiting, call);
    if (it == waiting.end()) return false;
    waiting.erase(it);
    calls_.erase(call->number);
  }
  call->done(why);
  return true;
}

std::shared_ptr<grpc::Channel> GrpcCalls::NewChannel(const PeerKey& key) const {
  const auto& [address, keepalive] = key;
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // or another network's connection would be this one's
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);             // a request arrives once at most
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // of the environment: it gets in the way of loopback
  args.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kMostMetadataBytes);
  args.SetMaxReceiveMessageSize(-1);
  args.SetMaxSendMessageSize(-1);
  if (keepalive > Duration::zero()) {
    // A ping after half of the time in which nothing came, and the other half for its answer.
    const auto half = std::chrono::duration_cast<std::chrono::milliseconds>(keepalive / 2).count();
    const int half_ms = static_cast<int>(std::clamp<std::int64_t>(half, 1, std::numeric_limits<int>::max()));
    args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, half_ms);
    args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, half_ms);
    args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  if (shared_->options.tls.has_value() && !shared_->options.tls->server_name.empty()) {
    args.SetSslTargetNameOverride(shared_->options.tls->server_name);
  }
  return grpc::CreateCustomChannel(address, shared_->channel_credentials, args);
}

}  // namespace vigil
