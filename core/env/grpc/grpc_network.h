// The network seam over gRPC: requests to other processes, on this machine or another. Contract: network.h.
//
//   absl::StatusOr<std::unique_ptr<GrpcNetwork>> network = GrpcNetwork::Create(real.env(), {});
//   Env env = real.env();
//   env.network = network->get();
//
// A request is one unary call of its method's name with its body as message, so that each end may be another
// implementation. A crc32c of the body goes along as metadata; a peer that sends none is not held to it. What is large
// goes in frames (frames.h) to a peer whose last answer said that it reads them. Nothing is sent twice: gRPC's own
// retries are off. Errors: wire_status.h.
//
// Bounds: what has been given to gRPC for one peer and is not sent yet, since the peer takes no more for now, is
// max_bytes_in_flight at most, or a single message; what comes after waits for its turn, in order (its deadline and
// Cancel hold all the same, its keepalive begins with its turn). A request that was sent counts no more: its answer may
// depend on one that comes after it.
// Thread safety: as network.h. `done` is called by a thread of gRPC. Handlers run in tasks of env.tasks.
// Ownership: what of `env` is used (clock, tasks, log) is borrowed and outlives the network, its listeners and calls.
// What is in flight when the network is destroyed still ends.
// fork(): only before the first use (gRPC's threads are not there in the child).
#ifndef VIGIL_CORE_ENV_GRPC_GRPC_NETWORK_H_
#define VIGIL_CORE_ENV_GRPC_GRPC_NETWORK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "vigil/core/env/env.h"
#include "vigil/core/env/network.h"

namespace vigil {

class GrpcCalls;
struct GrpcShared;

// PEM files. With them every connection is encrypted, and each end shows its certificate and demands the other's, which
// `authorities` must have signed.
struct TlsFiles {
  std::string authorities;
  std::string certificate;
  std::string key;
  // Whose certificate a server must show; "": that of the host in the address.
  std::string server_name;
  // False: only servers show certificates, and whoever reaches one may use it, as with a site of the web. Who only
  // calls then needs neither `certificate` nor `key`.
  bool mutual = true;
};

struct GrpcNetworkOptions {
  // Listen on addresses that other machines can reach, too. Whoever reaches a server can run any op in it: use TLS, or
  // a network of one's own.
  bool beyond_loopback = false;
  std::optional<TlsFiles> tls;
  // After a connection could not be made, calls to that address fail at once for so long; TensorFlow's channels wait as
  // long.
  Duration reconnect_after = std::chrono::seconds(1);
  std::int64_t max_message_bytes = kMostMessageBytes;     // gRPC can no more
  std::int64_t max_bytes_in_flight = kMostBytesInFlight;  // to one peer
  // Memory of large messages that is kept for the next ones when nobody uses it any more (message_memory.h).
  std::int64_t max_memory_kept = std::int64_t{128} << 20;
};

class GrpcNetwork final : public Network {
 public:
  // What the TLS files say wrong, with the code of reading them; the message names the file.
  static absl::StatusOr<std::unique_ptr<GrpcNetwork>> Create(const Env& env, const GrpcNetworkOptions& options);
  // Waits for nobody but callbacks that run. Calls under way go on: what fails of them from now on is answered with
  // CANCELLED, so that nobody tries it again with a network that is not there any more.
  ~GrpcNetwork() override;

  // "host:port"; port 0: one that is free (Listener::address says which). PERMISSION_DENIED: not a loopback address,
  // and the options do not say beyond_loopback. INVALID_ARGUMENT: no address, or TLS without a certificate. Destroying
  // the listener takes until gRPC's server has closed its connections: moments.
  absl::StatusOr<std::unique_ptr<Listener>> Listen(const std::string& address, RequestHandler handler) override;
  // RESOURCE_EXHAUSTED: the body is larger than max_message_bytes, and was not sent.
  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done) override;
  void Cancel(std::uint64_t call) override;
  NetworkLimits limits() const override;

  struct Load {
    std::int64_t bytes = 0;  // given to gRPC, and not sent
    int calls = 0;           // not answered
    int waiting = 0;         // of these, for their turn
    bool operator==(const Load&) const = default;
  };
  // Of requests to that address.
  Load load(const std::string& to) const;

 private:
  explicit GrpcNetwork(std::shared_ptr<const GrpcShared> shared);

  const std::shared_ptr<const GrpcShared> shared_;
  const std::shared_ptr<GrpcCalls> calls_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_GRPC_GRPC_NETWORK_H_
