// The calling side. A call is in calls_ from Start until it is answered; meanwhile it waits for its turn with its peer
// (Peer::waiting) or gRPC has it. Whoever takes it out of calls_ answers it: so it is answered once.
#include <fmt/format.h>
#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/base/code.h"
#include "vigil/core/env/grpc/frames.h"
#include "vigil/core/env/grpc/grpc_parts.h"
#include "vigil/core/env/grpc/wire_status.h"

namespace vigil {
namespace {

// Not before the deadline: gRPC counts milliseconds.
gpr_timespec TimeOfGrpc(Duration from_now) {
  const gpr_timespec wait = gpr_time_from_nanos(std::max<std::int64_t>(from_now.count(), 0), GPR_TIMESPAN);
  return gpr_time_add(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), wait), gpr_time_from_millis(1, GPR_TIMESPAN));
}

absl::Status StatusOf(const grpc::Status& status) {
  return FromWire({.code = static_cast<int>(status.error_code()),
                   .message = status.error_message(),
                   .details = status.error_details()});
}

}  // namespace

// gRPC's side of a call, too: the generic interface of a stream, since it alone tells when a message has been sent. On
// the wire it is a unary call.
struct GrpcCalls::Call final : grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
  void OnWriteDone(bool ok) override {
    if (ok && frames.has_value() && !frames->done()) return Write();
    frames.reset();
    body.Clear();
    owner->Launch(owner->Release(*this));
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    damage = TakeRead();
    if (!damage.ok()) {
      context.TryCancel();
    } else if (answer.has_value()) {
      StartRead(&reply);  // beyond the last one, too: what nobody reads keeps gRPC from ending the call
    }
  }
  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<Call> kept = std::move(self);
    owner->Finish(kept, Reply(status));
    owner->Leave();
  }

  // Before it begins.
  void AddBody(bool in_frames) {
    if (in_frames) {
      context.AddMetadata(kFramesKey, fmt::format("{}", large.size()));
      context.AddMetadata(kChecksumKey, kChecksumsInFrames);
      frames.emplace(std::exchange(large, {}));
      return;
    }
    context.AddMetadata(kFramesKey, "0");
    context.AddMetadata(kChecksumKey, ChecksumOf(large));
    body = BytesToSend(std::exchange(large, {}));
  }
  void Write() {
    if (frames.has_value()) body = frames->Next();
    if (!frames.has_value() || frames->done()) {
      StartWriteLast(&body, grpc::WriteOptions());
    } else {
      StartWrite(&body);
    }
  }

  NetworkReply Reply(const grpc::Status& status) {
    if (cancelled) return MakeStatus(Code::kCancelled, "CANCELLED");
    if (!damage.ok()) return damage;
    if (!status.ok()) return StatusOf(status);
    if (answer.has_value() && answer->done()) return std::move(*answer).Take();
    if (!received || answer.has_value()) {
      return MakeStatus(Code::kInternal,
                        fmt::format("{}: an answer without {}body", method, received ? "its whole " : "a "));
    }
    return ReceivedBytes(reply, FindMetadata(context.GetServerTrailingMetadata(), kChecksumKey));
  }

  // The answer, or a frame of it, was read.
  absl::Status TakeRead() {
    if (!std::exchange(received, true)) {
      const std::int64_t told = FramedBytes(context.GetServerInitialMetadata());
      const std::int64_t most = owner->shared_->options.max_message_bytes;
      if (told == 0) return absl::OkStatus();
      if (told < 0) return MakeStatus(Code::kInternal, fmt::format("{}: the size of an answer is no number", method));
      if (told > most) return TooLarge("The answer", method, told, most);
      answer.emplace(static_cast<std::size_t>(told), owner->shared_->memory);
    }
    if (answer->done()) return MakeStatus(Code::kInternal, fmt::format("{}: more than an answer", method));
    const absl::Status added = answer->Add(reply);
    reply.Clear();
    return added;
  }

  GrpcCalls* owner = nullptr;
  std::uint64_t number = 0;
  PeerKey peer;
  std::string method;
  Time deadline = kNever;
  std::int64_t bytes = 0;
  absl::Cord large;                   // the body, until it begins
  std::optional<FrameWriter> frames;  // of it, if the peer reads them
  grpc::ByteBuffer body;              // or the frame that is sent
  grpc::ByteBuffer reply;             // or the frame that was read
  std::optional<FrameReader> answer;  // if it comes in frames
  absl::Status damage;                // to it
  std::function<void(NetworkReply)> done;
  grpc::ClientContext context;
  std::unique_ptr<grpc::Alarm> turn_missed;  // of one that waits for its turn and has a deadline
  std::atomic<bool> cancelled{false};
  bool waits = false;  // for a connection
  bool at_once = false;
  bool received = false;
  bool counted = false;  // among its peer's bytes; guarded by the owner's mutex_
  // While gRPC has it.
  std::shared_ptr<Call> self;
  std::shared_ptr<grpc::GenericStub> stub;
  std::shared_ptr<grpc::Channel> channel;
};

std::uint64_t GrpcCalls::Start(NetworkRequest request, std::function<void(NetworkReply)> done) {
  const auto call = std::make_shared<Call>();
  const absl::Status carried = CheckRequest(request, LimitsOf(*shared_));
  call->owner = this;
  call->peer = {request.to, request.keepalive};
  call->deadline = request.deadline;
  call->waits = request.wait_for_ready;
  call->at_once = request.at_once;
  call->context.set_wait_for_ready(request.wait_for_ready);
  call->bytes = static_cast<std::int64_t>(request.body.size());
  call->done = std::move(done);
  call->method = std::move(request.method);
  call->large = std::move(request.body);
  bool waits = false;
  {
    std::lock_guard lock(mutex_);
    call->number = ++last_;
    if (carried.ok()) {
      calls_.emplace(call->number, call);
      Peer& peer = peers_[call->peer];
      waits = !HasRoom(peer, *call);
      if (waits) {
        peer.waiting.push_back(call);
        WatchDeadline(call);
      } else {
        peer.bytes += call->bytes;
        call->counted = true;
      }
    }
  }
  if (!carried.ok()) {
    Answer(*call, carried);
  } else if (!waits) {
    Launch({call});
  }
  return call->number;
}

void GrpcCalls::WatchDeadline(const std::shared_ptr<Call>& call) {
  if (call->deadline == kNever) return;
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

void GrpcCalls::Cancel(std::uint64_t number) {
  std::shared_ptr<Call> call;
  {
    std::lock_guard lock(mutex_);
    const auto it = calls_.find(number);
    if (it == calls_.end()) return;
    call = it->second;
  }
  if (GiveUpWaiting(call, MakeStatus(Code::kCancelled, "CANCELLED"))) return;
  call->cancelled = true;
  call->context.TryCancel();
}

bool GrpcCalls::HasRoom(const Peer& peer, const Call& call) const {
  if (call.at_once) return true;
  if (!peer.waiting.empty()) return false;
  return peer.bytes == 0 || peer.bytes + call.bytes <= shared_->options.max_bytes_in_flight;
}

GrpcCalls::Calls GrpcCalls::TakeTurns(Peer& peer) const {
  Calls next;
  while (!peer.waiting.empty()) {
    const std::shared_ptr<Call>& first = peer.waiting.front();
    if (peer.bytes > 0 && peer.bytes + first->bytes > shared_->options.max_bytes_in_flight) break;
    peer.bytes += first->bytes;
    first->counted = true;
    next.push_back(first);
    peer.waiting.pop_front();
  }
  return next;
}

absl::Status GrpcCalls::Connect(const PeerKey& key, bool waits, Peer& peer) const {
  const Time now = shared_->env.clock->Monotonic();
  const bool too_soon = peer.failed.has_value() && now - *peer.failed < shared_->options.reconnect_after;
  if (too_soon && !waits) return MakeStatus(Code::kUnavailable, peer.why);
  if (!too_soon) peer.failed.reset();
  if (peer.stub != nullptr) return absl::OkStatus();
  peer.channel = NewChannel(key);
  peer.stub = std::make_shared<grpc::GenericStub>(peer.channel);
  return absl::OkStatus();
}

// Not by recursion: of a peer that cannot be reached, all who wait are answered here.
void GrpcCalls::Launch(Calls calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::shared_ptr<Call> call = calls[i];
    const absl::Status begun = Begin(call);
    if (begun.ok()) continue;
    for (std::shared_ptr<Call>& next : Release(*call)) calls.push_back(std::move(next));
    Answer(*call, begun);
  }
}

absl::Status GrpcCalls::Begin(const std::shared_ptr<Call>& call) {
  bool in_frames = false;
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[call->peer];
    if (absl::Status connected = Connect(call->peer, call->waits, peer); !connected.ok()) {
      calls_.erase(call->number);
      return connected;
    }
    call->stub = peer.stub;
    call->channel = peer.channel;
    in_frames = peer.reads_frames && call->large.size() >= kFramedBytes;
    ++callbacks_;
  }
  // Over the connection on which it was said: who answers the next one may be another.
  in_frames = in_frames && call->channel->GetState(false) == GRPC_CHANNEL_READY;
  if (call->deadline != kNever) {
    call->context.set_deadline(TimeOfGrpc(call->deadline - shared_->env.clock->Monotonic()));
  }
  call->context.set_initial_metadata_corked(true);  // in one packet with the body, if that is small
  call->self = call;
  call->AddBody(in_frames);
  call->stub->PrepareBidiStreamingCall(&call->context, call->method, grpc::StubOptions(), call.get());
  call->Write();
  call->StartRead(&call->reply);
  call->StartCall();
  return absl::OkStatus();
}

GrpcCalls::Calls GrpcCalls::Release(Call& call) {
  std::lock_guard lock(mutex_);
  if (!std::exchange(call.counted, false)) return {};
  Peer& peer = peers_[call.peer];
  peer.bytes -= call.bytes;
  return TakeTurns(peer);
}

void GrpcCalls::Leave() {
  // Under the lock, or who waits might destroy what is notified.
  std::lock_guard lock(mutex_);
  if (--callbacks_ == 0) idle_.notify_all();
}

GrpcNetwork::Load GrpcCalls::load(const std::string& to) {
  std::lock_guard lock(mutex_);
  GrpcNetwork::Load load;
  for (const auto& [key, peer] : peers_) {
    if (key.first != to) continue;
    load.bytes += peer.bytes;
    load.waiting += static_cast<int>(peer.waiting.size());
  }
  for (const auto& [number, call] : calls_) load.calls += call->peer.first == to ? 1 : 0;
  return load;
}

void GrpcCalls::Answer(Call& call, NetworkReply reply) {
  {
    std::lock_guard lock(mutex_);
    ++answering_;
    if (orphaned_ && !reply.ok()) reply = MakeStatus(Code::kCancelled, "Its network has gone.");
  }
  call.done(std::move(reply));
  std::lock_guard lock(mutex_);
  if (--answering_ == 0) answered_.notify_all();
}

void GrpcCalls::Orphan() {
  std::unique_lock lock(mutex_);
  orphaned_ = true;
  answered_.wait(lock, [this] { return answering_ == 0; });
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

void GrpcCalls::Finish(const std::shared_ptr<Call>& call, NetworkReply reply) {
  const bool unreachable =
      CodeOf(reply.status()) == Code::kUnavailable && call->channel->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE;
  const bool reads_frames = FindMetadata(call->context.GetServerTrailingMetadata(), kFramesKey).has_value();
  {
    std::lock_guard lock(mutex_);
    calls_.erase(call->number);
    Peer& peer = peers_[call->peer];
    // Also of errors: they may be those of somebody else who serves there now. What ends here says nothing.
    const Code code = CodeOf(reply.status());
    if (code != Code::kCancelled && code != Code::kDeadlineExceeded) peer.reads_frames = reads_frames;
    // gRPC would go on by itself, at times of its own: what it waits for is not what the next call asks. Not twice for
    // one channel: the next one may be a good one.
    if (unreachable && peer.channel == call->channel) {
      peer.failed = shared_->env.clock->Monotonic();
      peer.why = std::string(MessageOf(reply.status()));
      peer.stub = nullptr;
      peer.channel = nullptr;
    }
  }
  Calls next = Release(*call);
  Answer(*call, std::move(reply));
  Launch(std::move(next));
}

bool GrpcCalls::GiveUpWaiting(const std::shared_ptr<Call>& call, const absl::Status& why) {
  Calls next;
  {
    std::lock_guard lock(mutex_);
    Peer& peer = peers_[call->peer];
    const auto it = std::ranges::find(peer.waiting, call);
    if (it == peer.waiting.end()) return false;
    peer.waiting.erase(it);
    calls_.erase(call->number);
    next = TakeTurns(peer);  // what stood behind it may have room
  }
  Answer(*call, why);
  Launch(std::move(next));
  return true;
}

std::shared_ptr<grpc::Channel> GrpcCalls::NewChannel(const PeerKey& key) const {
  const auto& [address, keepalive] = key;
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // or another network's connection would be this one's
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);             // a request arrives once at most
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // of the environment: it gets in the way of loopback
  args.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kMostMetadataBytes);
  // For calls that wait for a connection; gRPC's own is two minutes.
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  args.SetMaxReceiveMessageSize(-1);
  args.SetMaxSendMessageSize(-1);
  if (keepalive > Duration::zero()) {
    // A ping after half of the time in which nothing came, and the other half for its answer.
    const auto half = std::chrono::duration_cast<std::chrono::milliseconds>(keepalive / 2).count();
    const int half_ms = static_cast<int>(std::clamp<std::int64_t>(half, 1, std::numeric_limits<int>::max()));
    args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, half_ms);
    args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, half_ms);
    args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    // So long, too, for a peer that accepts the connection, or not even that, and then says nothing.
    args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, static_cast<int>(std::min<std::int64_t>(2 * half, 1 << 30)));
  }
  if (shared_->options.tls.has_value() && !shared_->options.tls->server_name.empty()) {
    args.SetSslTargetNameOverride(shared_->options.tls->server_name);
  }
  return grpc::CreateCustomChannel(address, shared_->channel_credentials, args);
}

}  // namespace vigil
