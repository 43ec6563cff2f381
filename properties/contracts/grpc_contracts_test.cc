// The contract of the network seam, over gRPC on loopback: the same bodies as contracts_test.cc, in bounded real time.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "vigil/core/base/check.h"
#include "vigil/core/env/grpc/grpc_network.h"
#include "vigil/core/env/real/real_env.h"
#include "vigil/properties/contracts/network_contract.h"

namespace vigil::contracts {

// A port that nobody listens at.
std::string UnusedAddress() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  VIGIL_CHECK(bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
  VIGIL_CHECK(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  close(socket);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

// The contract's address and methods are names; gRPC has ports and paths.
class NamedGrpc final : public Network {
 public:
  explicit NamedGrpc(const Env& env)
      : inner_(*GrpcNetwork::Create(env, {.reconnect_after = Duration::zero(),
                                          .max_message_bytes = kContractLimits.message_bytes,
                                          .max_bytes_in_flight = kContractLimits.bytes_in_flight})),
        address_(UnusedAddress()) {}

  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, RequestHandler handler) override {
    const bool named = address == kContractAddress;
    return inner_->Listen(named ? address_ : address, [named, handler = std::move(handler)](IncomingCall& call) {
      if (!named) return handler(call);
      Named call_by_name(call);
      return handler(call_by_name);
    });
  }
  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) override {
    if (request.to == kContractAddress) request.to = address_;
    if (!request.method.starts_with('/')) request.method = std::string(kPrefix) + request.method;
    return inner_->Start(std::move(request), std::move(done));
  }
  void Cancel(std::uint64_t call) override { inner_->Cancel(call); }
  NetworkLimits limits() const override { return inner_->limits(); }

 private:
  static constexpr std::string_view kPrefix = "/contract/";
  static std::string NameOf(const std::string& method) {
    return method.starts_with(kPrefix) ? method.substr(kPrefix.size()) : method;
  }

  class Named final : public IncomingCall {
   public:
    explicit Named(IncomingCall& inner) : inner_(inner), method_(NameOf(inner.method())) {}
    const std::string& method() const override { return method_; }
    const absl::Cord& body() const override { return inner_.body(); }
    bool cancelled() const override { return inner_.cancelled(); }
    void OnCancelled(std::function<void()> wake) override { inner_.OnCancelled(std::move(wake)); }
    std::function<void(NetworkReply)> AnswerLater() override { return inner_.AnswerLater(); }

   private:
    IncomingCall& inner_;
    const std::string method_;
  };

  const std::unique_ptr<GrpcNetwork> inner_;
  const std::string address_;
};

class GrpcPlace {
 public:
  static Duration Tick() { return std::chrono::milliseconds(20); }
  void Run(const std::function<void(const Env&)>& body) {
    Env env = real_.env();
    NamedGrpc network(env);
    env.network = &network;
    body(env);
  }

 private:
  RealEnv real_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(Grpc, NetworkContract, GrpcPlace);

}  // namespace vigil::contracts
