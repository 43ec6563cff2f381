// The serving side. gRPC reads a request by threads of its own, which must not wait; its handler runs in a task. The
// two meet in a Request: whoever takes its reactor finishes it, the task with an answer, or the end of the listener,
// which does not wait for tasks.
#include <fmt/format.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <set>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/env/grpc/acceptor.h"
#include "vigil/core/env/grpc/frames.h"
#include "vigil/core/env/grpc/grpc_parts.h"
#include "vigil/core/env/grpc/wire_status.h"

namespace vigil {
namespace {

grpc::Status ToGrpc(const absl::Status& status) {
  const WireStatus wire = ToWire(status);
  return {static_cast<grpc::StatusCode>(wire.code), wire.message, wire.details};
}

class Reactor;
class Requests;

class Request final : public IncomingCall, public std::enable_shared_from_this<Request> {
 public:
  Request(std::shared_ptr<Requests> all, Reactor& reactor, std::string method)
      : all_(std::move(all)), method_(std::move(method)), reactor_(&reactor) {}

  const std::string& method() const override { return method_; }
  const absl::Cord& body() const override { return body_; }
  bool cancelled() const override {
    std::lock_guard lock(mutex_);
    return abandoned_;
  }
  void OnCancelled(std::function<void()> wake) override {
    {
      std::lock_guard lock(mutex_);
      if (!abandoned_) {
        if (reactor_ != nullptr) wake_ = std::move(wake);  // else it was answered
        return;
      }
    }
    wake();
  }

  std::function<void(NetworkReply)> AnswerLater() override;

  void set_body(absl::Cord body) { body_ = std::move(body); }  // before its handler runs
  bool put_off() const {
    std::lock_guard lock(mutex_);
    return put_off_;
  }
  // Nobody waits any more. Under the lock, so that the handler does not hear of it after it has returned. True: nobody
  // needs to answer, who still could.
  bool Abandon() {
    std::lock_guard lock(mutex_);
    abandoned_ = true;
    if (const std::function<void()> wake = std::exchange(wake_, nullptr); wake != nullptr) wake();
    return put_off_;
  }
  // Both; first, so that the handler, which hears of it, does not answer before.
  Reactor* AbandonAndTakeReactor() {
    std::lock_guard lock(mutex_);
    Reactor* const reactor = std::exchange(reactor_, nullptr);
    if (reactor == nullptr) return nullptr;  // it was answered
    abandoned_ = true;
    if (const std::function<void()> wake = std::exchange(wake_, nullptr); wake != nullptr) wake();
    return reactor;
  }
  // Null: somebody else has finished it. The handler hears nothing any more.
  Reactor* TakeReactor() {
    std::lock_guard lock(mutex_);
    wake_ = nullptr;
    return std::exchange(reactor_, nullptr);
  }

 private:
  const std::shared_ptr<Requests> all_;
  const std::string method_;
  absl::Cord body_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Reactor* reactor_;
  std::function<void()> wake_;
  bool abandoned_ = false;
  bool put_off_ = false;  // the answer comes later
};

// What the handlers' tasks share with the listener, and may outlive it.
class Requests : public std::enable_shared_from_this<Requests> {
 public:
  Requests(std::shared_ptr<const GrpcShared> shared, RequestHandler handler)
      : shared_(std::move(shared)), handler_(std::move(handler)) {}

  const GrpcShared& shared() const { return *shared_; }
  // The request has been read.
  void Serve(const std::shared_ptr<Request>& request);
  // The first answer counts.
  void Answer(const std::shared_ptr<Request>& request, NetworkReply reply);
  // What is under way is told, and ended; nothing begins any more.
  void Close();

 private:
  const std::shared_ptr<const GrpcShared> shared_;
  const RequestHandler handler_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::set<std::shared_ptr<Request>> running_;
  bool closed_ = false;
};

// gRPC's side of a request: reads it, writes the answer, and is gone when gRPC has done with it.
class Reactor final : public grpc::ServerGenericBidiReactor {
 public:
  Reactor(std::shared_ptr<Requests> requests, grpc::GenericCallbackServerContext& context)
      : requests_(std::move(requests)),
        context_(context),
        request_(std::make_shared<Request>(requests_, *this, context.method())) {
    context_.AddTrailingMetadata(kFramesKey, "0");
    StartRead(&read_);
  }

  // Once: then it may be gone.
  void Reply(NetworkReply reply) {
    reply = Carried(std::move(reply), request_->method(), LimitsOf(requests_->shared()));
    if (!reply.ok()) return Finish(ToGrpc(reply.status()));
    if (reply->size() >= kFramedBytes && FindMetadata(context_.client_metadata(), kFramesKey).has_value()) {
      context_.AddInitialMetadata(kFramesKey, fmt::format("{}", reply->size()));
      context_.AddTrailingMetadata(kChecksumKey, kChecksumsInFrames);
      frames_.emplace(*std::move(reply));
      return WriteFrame();
    }
    written_ = BytesToSend(*reply);
    if (reply->size() < kSharedMessageBytes) {
      context_.AddTrailingMetadata(kChecksumKey, ChecksumOf(*reply));
      return StartWriteAndFinish(&written_, grpc::WriteOptions(), grpc::Status::OK);
    }
    // The checksum of a large answer, which goes last, is made while the bytes are on their way.
    StartWrite(&written_);
    context_.AddTrailingMetadata(kChecksumKey, ChecksumOf(*reply));
    FinishHalf();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return ReplyUnlessTaken(MakeStatus(Code::kCancelled, "No request came."));
    absl::StatusOr<absl::Cord> body = Received();
    read_.Clear();
    if (!body.ok()) return ReplyUnlessTaken(body.status());
    if (in_frames_.has_value() && !in_frames_->done()) return StartRead(&read_);
    request_->set_body(*std::move(body));
    requests_->Serve(request_);
  }
  void OnWriteDone(bool ok) override {
    if (!frames_.has_value()) return FinishHalf();
    if (ok) return WriteFrame();
    Finish(grpc::Status::CANCELLED);  // nobody will read it
  }
  void OnCancel() override {
    if (request_->Abandon()) requests_->Answer(request_, MakeStatus(Code::kCancelled, "CANCELLED"));
  }
  void OnDone() override { delete this; }

 private:
  // What was read: the request, or, of one in frames, nothing before its last one.
  absl::StatusOr<absl::Cord> Received() {
    if (!in_frames_.has_value()) {
      const std::int64_t bytes = FramedBytes(context_.client_metadata());
      const std::int64_t most = requests_->shared().options.max_message_bytes;
      const auto whole = static_cast<std::int64_t>(read_.Length());
      if (bytes == 0 && whole > most) return TooLarge("The request", request_->method(), whole, most);
      if (bytes == 0) return ReceivedBytes(read_, FindMetadata(context_.client_metadata(), kChecksumKey));
      if (bytes < 0) return MakeStatus(Code::kInvalidArgument, "The size of a request in frames is no number.");
      if (bytes > most) return TooLarge("The request", request_->method(), bytes, most);
      in_frames_.emplace(static_cast<std::size_t>(bytes), requests_->shared().memory);
    }
    VIGIL_RETURN_IF_ERROR(in_frames_->Add(read_));
    return in_frames_->done() ? std::move(*in_frames_).Take() : absl::Cord();
  }
  void WriteFrame() {
    written_ = frames_->Next();
    if (frames_->done()) {
      StartWriteAndFinish(&written_, grpc::WriteOptions(), grpc::Status::OK);
    } else {
      StartWrite(&written_);
    }
  }
  // The answer has been written, or has its checksum: whichever comes last ends it.
  void FinishHalf() {
    if (--halves_ == 0) Finish(grpc::Status::OK);
  }
  void ReplyUnlessTaken(const absl::Status& status) {
    if (request_->TakeReactor() != nullptr) Reply(status);
  }

  const std::shared_ptr<Requests> requests_;
  grpc::GenericCallbackServerContext& context_;
  const std::shared_ptr<Request> request_;
  std::optional<FrameReader> in_frames_;  // the request, if it comes so
  std::optional<FrameWriter> frames_;     // of the answer, if it goes so
  grpc::ByteBuffer read_;                 // or the frame that was read
  grpc::ByteBuffer written_;              // or the frame that is sent
  std::atomic<int> halves_{2};
};

std::function<void(NetworkReply)> Request::AnswerLater() {
  const std::shared_ptr<Request> self = shared_from_this();
  bool abandoned = false;
  {
    std::lock_guard lock(mutex_);
    put_off_ = true;
    abandoned = abandoned_;
  }
  if (abandoned) all_->Answer(self, MakeStatus(Code::kCancelled, "CANCELLED"));
  return [self](NetworkReply reply) { self->all_->Answer(self, std::move(reply)); };
}

void Requests::Serve(const std::shared_ptr<Request>& request) {
  bool closed = false;
  {
    std::lock_guard lock(mutex_);
    closed = closed_;
    if (!closed) running_.insert(request);
  }
  if (closed) return Answer(request, MakeStatus(Code::kUnavailable, "Socket closed"));
  const absl::Status started = TrySpawn(*shared_->env.tasks, request->method(), [self = shared_from_this(), request] {
                                 NetworkReply reply = CallGuarded([&] { return self->handler_(*request); });
                                 if (!request->put_off()) self->Answer(request, std::move(reply));
                               }).status();
  if (!started.ok()) Answer(request, started);
}

void Requests::Answer(const std::shared_ptr<Request>& request, NetworkReply reply) {
  Reactor* const reactor = request->TakeReactor();
  {
    std::lock_guard lock(mutex_);
    running_.erase(request);
  }
  if (reactor != nullptr) reactor->Reply(std::move(reply));
}

void Requests::Close() {
  std::set<std::shared_ptr<Request>> running;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    running.swap(running_);
  }
  for (const std::shared_ptr<Request>& request : running) {
    Reactor* const reactor = request->AbandonAndTakeReactor();
    if (reactor != nullptr) reactor->Reply(MakeStatus(Code::kUnavailable, "Socket closed"));
  }
}

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(std::shared_ptr<Requests> requests) : requests_(std::move(requests)) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    return new Reactor(requests_, *context);
  }

 private:
  const std::shared_ptr<Requests> requests_;
};

using Connections = grpc::experimental::ExternalConnectionAcceptor;

class GrpcListener final : public Listener {
 public:
  GrpcListener(std::shared_ptr<Requests> requests, std::unique_ptr<Service> service)
      : requests_(std::move(requests)), service_(std::move(service)) {}
  ~GrpcListener() override {
    acceptor_ = nullptr;
    if (server_ == nullptr) return;
    requests_->Close();
    // What has been answered is still sent; what else is there is cut off.
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  }
  const std::string& address() const override { return address_; }

  Service& service() { return *service_; }
  absl::Status Start(std::unique_ptr<grpc::Server> server, std::unique_ptr<Connections> connections,
                     std::unique_ptr<Acceptor> acceptor) {
    server_ = std::move(server);
    connections_ = std::move(connections);
    acceptor_ = std::move(acceptor);
    address_ = acceptor_->address();
    return acceptor_->Start([this](int socket) {
      Connections::NewConnectionParameters connection;
      connection.fd = socket;
      connections_->HandleNewConnection(&connection);
    });
  }

 private:
  const std::shared_ptr<Requests> requests_;
  const std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Connections> connections_;
  std::unique_ptr<Acceptor> acceptor_;
  std::string address_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> ListenByGrpc(std::shared_ptr<const GrpcShared> shared,
                                                       const std::string& address, RequestHandler handler) {
  if (shared->server_credentials == nullptr) {
    return MakeStatus(Code::kInvalidArgument,
                      fmt::format("listen at {}: who serves by TLS needs a certificate and a key, and TlsFiles names "
                                  "none.",
                                  address));
  }
  const auto requests = std::make_shared<Requests>(shared, std::move(handler));
  auto listener = std::make_unique<GrpcListener>(requests, std::make_unique<Service>(requests));
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<Acceptor> acceptor,
                         Acceptor::Listen(shared->env, address, shared->options.beyond_loopback));
  grpc::ServerBuilder builder;
  std::unique_ptr<Connections> connections = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, shared->server_credentials);
  builder.RegisterCallbackGenericService(&listener->service());
  // Of a frame, too; what is one message is held to the limit when it is here.
  constexpr std::int64_t kMostOfGrpc = std::numeric_limits<int>::max();
  const std::int64_t most = shared->options.max_message_bytes + static_cast<std::int64_t>(kFrameHeadBytes);
  builder.SetMaxReceiveMessageSize(static_cast<int>(std::min(most, kMostOfGrpc)));
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMostMetadataBytes);
  // Who connects and then says nothing is given up.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 20'000);
  // Clients ping as often as their sessions' keepalive asks.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    return MakeStatus(Code::kUnknown,
                      fmt::format("{}: gRPC could not serve there{}.", address,
                                  shared->options.tls.has_value() ? ", or not with these certificates" : ""));
  }
  VIGIL_RETURN_IF_ERROR(listener->Start(std::move(server), std::move(connections), std::move(acceptor)));
  return listener;
}

}  // namespace vigil
