// What a call to another process costs, over loopback: round trips and bytes a second of GrpcNetwork, and of tensors
// that a session feeds to a server and fetches from it, beside a raw stream of gRPC that carries the same bytes (no
// call for each message, no checksum, no task that serves it, no tensor).
//
//   build/release/bench/vigil_network_bench
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/cluster/client/cluster_session.h"
#include "vigil/core/cluster/client/remote_master.h"
#include "vigil/core/cluster/server/server.h"
#include "vigil/core/env/grpc/grpc_network.h"
#include "vigil/core/env/notification.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/core/graph/builder.h"
#include "vigil/core/ops/ops.h"

namespace vigil::bench {
namespace {

constexpr std::size_t kMebi = std::size_t{1} << 20;

// A server that answers a body with as many bytes as the method says ("/bytes/100"), and who asks it.
class Pair {
 public:
  Pair() : server_(*GrpcNetwork::Create(real_.env(), {})), client_(*GrpcNetwork::Create(real_.env(), {})) {
    listener_ = *server_->Listen("127.0.0.1:0", [this](IncomingCall& call) -> NetworkReply {
      const std::size_t bytes = std::stoul(call.method().substr(call.method().rfind('/') + 1));
      return answer_.Subcord(0, bytes);
    });
  }
  Env env() {
    Env env = real_.env();
    env.network = client_.get();
    return env;
  }
  NetworkRequest Request(std::string body, std::size_t answered) const {
    return {
        .to = listener_->address(), .method = fmt::format("/bytes/{}", answered), .body = absl::Cord(std::move(body))};
  }
  void Ask(std::string body, std::size_t answered) {
    VIGIL_CHECK(CallAndWait(env(), Request(std::move(body), answered)).ok());
  }

 private:
  RealEnv real_{{.log_to_stderr = false}};
  const absl::Cord answer_{std::string(64 * kMebi, 'a')};
  std::unique_ptr<GrpcNetwork> server_, client_;
  std::unique_ptr<Listener> listener_;
};

// The other end of the raw stream: each message is answered with one byte.
class Acknowledge final : public grpc::CallbackGenericService {
 public:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override { return new Reactor(); }

 private:
  class Reactor final : public grpc::ServerGenericBidiReactor {
   public:
    Reactor() { StartRead(&read_); }
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      read_.Clear();
      StartWrite(&byte_);
    }
    void OnWriteDone(bool) override { StartRead(&read_); }
    void OnDone() override { delete this; }

   private:
    grpc::ByteBuffer read_;
    const grpc::Slice one_ = grpc::Slice("x");
    const grpc::ByteBuffer byte_{&one_, 1};
  };
};

// One stream, for all messages.
class RawStream final : grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  RawStream() : came_(*real_.env().tasks, "came"), done_(*real_.env().tasks, "done") {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterCallbackGenericService(&service_);
    builder.SetMaxReceiveMessageSize(-1);
    server_ = builder.BuildAndStart();
    grpc::ChannelArguments args;
    args.SetMaxReceiveMessageSize(-1);
    stub_ = std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel(fmt::format("127.0.0.1:{}", port), grpc::InsecureChannelCredentials(), args));
    stub_->PrepareBidiStreamingCall(&context_, "/raw/Stream", grpc::StubOptions(), this);
    StartCall();
  }
  ~RawStream() override {
    StartWritesDone();
    done_.Wait(kNever);
    server_->Shutdown();
  }
  void Send(const grpc::ByteBuffer& bytes) {
    left_ = 2;
    StartRead(&read_);
    StartWrite(&bytes);
    came_.Wait(kNever);
    came_.Clear();
  }

 private:
  // Both: the next message may begin only then.
  void OnReadDone(bool ok) override { Half(ok); }
  void OnWriteDone(bool ok) override { Half(ok); }
  void Half(bool ok) {
    VIGIL_CHECK(ok);
    if (--left_ == 0) came_.Notify();
  }
  void OnDone(const grpc::Status&) override { done_.Notify(); }

  RealEnv real_{{.log_to_stderr = false}};
  Notification came_, done_;
  std::atomic<int> left_{0};
  Acknowledge service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::GenericStub> stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer read_;
};

// A session and a server, and gRPC between them.
class Served {
 public:
  explicit Served(std::int64_t bytes)
      : server_network_(*GrpcNetwork::Create(real_.env(), {})), network_(*GrpcNetwork::Create(real_.env(), {})) {
    Env env = real_.env();
    env.network = server_network_.get();
    server_ = *Server::CreateLocal(env);
    fed_ = Tensor(DType::kFloat, Shape({bytes / std::int64_t{sizeof(float)}}));
    Builder b(graph_);
    in_ = ops::Placeholder(b, "in", DType::kFloat);
    shape_ = b.Op("Shape", {in_}, {.name = "shape"});
    kept_ = ops::MakeVariable(b, "kept", b.Const("initial", fed_));
    VIGIL_CHECK(b.status().ok());
    env.network = network_.get();
    const std::string address = server_->target().substr(std::string("grpc://").size());
    session_ = *NewClusterSession(env, graph_, NewRemoteMaster(env, address, {}), {});
    VIGIL_CHECK(RunTarget(*session_, kept_.initializer).ok());
  }
  void Feed() {
    const RunSpec spec{.feeds = {in_}, .fetches = {shape_}};
    VIGIL_CHECK(session_->Run({.spec = spec, .feed_values = {&fed_, 1}}, &fetched_).ok());
  }
  void Fetch() {
    const RunSpec spec{.fetches = {kept_.read}};
    VIGIL_CHECK(session_->Run({.spec = spec}, &fetched_).ok());
  }

 private:
  RealEnv real_{{.log_to_stderr = false}};
  std::unique_ptr<GrpcNetwork> server_network_, network_;
  std::unique_ptr<Server> server_;
  Graph graph_{BuiltinOps()};
  Output in_, shape_;
  ops::Variable kept_;
  Tensor fed_;
  std::unique_ptr<Session> session_;
  std::vector<Tensor> fetched_;
};

void RoundTrips(benchmark::State& state) {
  Pair pair;
  pair.Ask("", 0);
  for ([[maybe_unused]] auto _ : state) pair.Ask(std::string(100, 'b'), 100);
  state.SetItemsProcessed(state.iterations());
}

void RoundTripsOf64AtATime(benchmark::State& state) {
  Pair pair;
  pair.Ask("", 0);
  constexpr int kCalls = 64;
  const Env env = pair.env();
  for ([[maybe_unused]] auto _ : state) {
    Notification all(*env.tasks, "all");
    std::atomic<int> left{kCalls};
    for (int i = 0; i < kCalls; ++i) {
      env.network->Start(pair.Request(std::string(100, 'b'), 100), [&](const NetworkReply& reply) {
        VIGIL_CHECK(reply.ok());
        if (--left == 0) all.Notify();
      });
    }
    all.Wait(kNever);
  }
  state.SetItemsProcessed(state.iterations() * kCalls);
}

void RawStreamRoundTrips(benchmark::State& state) {
  RawStream stream;
  const grpc::Slice slice(std::string(100, 'b'));
  const grpc::ByteBuffer bytes(&slice, 1);
  for ([[maybe_unused]] auto _ : state) stream.Send(bytes);
  state.SetItemsProcessed(state.iterations());
}

std::int64_t BytesOf(const benchmark::State& state) {
  return state.iterations() * state.range(0) * static_cast<std::int64_t>(kMebi);
}

void MiBAsked(benchmark::State& state) {
  Pair pair;
  pair.Ask("", 0);
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    std::string body(static_cast<std::size_t>(state.range(0)) * kMebi, 'b');
    state.ResumeTiming();
    pair.Ask(std::move(body), 0);
  }
  state.SetBytesProcessed(BytesOf(state));
}

void MiBAnswered(benchmark::State& state) {
  Pair pair;
  pair.Ask("", 0);
  for ([[maybe_unused]] auto _ : state) pair.Ask("", static_cast<std::size_t>(state.range(0)) * kMebi);
  state.SetBytesProcessed(BytesOf(state));
}

void MiBFed(benchmark::State& state) {
  Served served(state.range(0) * static_cast<std::int64_t>(kMebi));
  served.Feed();
  for ([[maybe_unused]] auto _ : state) served.Feed();
  state.SetBytesProcessed(BytesOf(state));
}

void MiBFetched(benchmark::State& state) {
  Served served(state.range(0) * static_cast<std::int64_t>(kMebi));
  served.Fetch();
  for ([[maybe_unused]] auto _ : state) served.Fetch();
  state.SetBytesProcessed(BytesOf(state));
}

void MiBOnARawStream(benchmark::State& state) {
  RawStream stream;
  const grpc::Slice slice(std::string(static_cast<std::size_t>(state.range(0)) * kMebi, 'b'));
  const grpc::ByteBuffer bytes(&slice, 1);
  stream.Send(bytes);
  for ([[maybe_unused]] auto _ : state) stream.Send(bytes);
  state.SetBytesProcessed(BytesOf(state));
}

BENCHMARK(RoundTrips)->UseRealTime();
BENCHMARK(RoundTripsOf64AtATime)->UseRealTime();
BENCHMARK(RawStreamRoundTrips)->UseRealTime();
BENCHMARK(MiBAsked)->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK(MiBAnswered)->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK(MiBFed)->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK(MiBFetched)->Arg(1)->Arg(64)->UseRealTime();
BENCHMARK(MiBOnARawStream)->Arg(1)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace vigil::bench

BENCHMARK_MAIN();
