// What the two sides of GrpcNetwork share, and each of them. Not for others: include grpc_network.h.
#ifndef VIGIL_CORE_ENV_GRPC_GRPC_PARTS_H_
#define VIGIL_CORE_ENV_GRPC_GRPC_PARTS_H_

#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/support/byte_buffer.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/env/grpc/grpc_network.h"
#include "vigil/core/env/grpc/message_memory.h"

namespace vigil {

// Metadata of requests and trailers of answers: the crc32c of the body, eight hexadecimal digits.
inline constexpr char kChecksumKey[] = "vigil-crc32c";
// From here on a message counts as large: what is received of it is not copied into one piece.
inline constexpr std::size_t kSharedMessageBytes = std::size_t{1} << 16;
// Of all metadata together; gRPC's default, 8 KiB, is what a percent-encoded message may just exceed.
inline constexpr int kMostMetadataBytes = 1 << 14;

struct GrpcShared {
  Env env;  // clock, tasks and log
  GrpcNetworkOptions options;
  std::shared_ptr<grpc::ChannelCredentials> channel_credentials;
  std::shared_ptr<grpc::ServerCredentials> server_credentials;
  std::shared_ptr<MessageMemory> memory;  // of what arrives in frames
};

inline NetworkLimits LimitsOf(const GrpcShared& shared) {
  return {.message_bytes = shared.options.max_message_bytes, .bytes_in_flight = shared.options.max_bytes_in_flight};
}

// Its pieces, shared.
grpc::ByteBuffer BytesToSend(const absl::Cord& bytes);
// The bytes: of a large message, the pieces in which they came, shared. UNAVAILABLE: `checksum` is there, and is not
// theirs.
absl::StatusOr<absl::Cord> ReceivedBytes(const grpc::ByteBuffer& buffer, std::optional<std::string_view> checksum);
std::string ChecksumOf(const absl::Cord& bytes);
// The value under that key; nullopt: there is none.
std::optional<std::string_view> FindMetadata(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata,
                                             const char* key);

// What they say of frames (frames.h): how many bytes come in them; 0: none do. -1: nonsense.
std::int64_t FramedBytes(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata);

// The calling side. Safe from any thread. What gRPC has of it does not keep it: it is destroyed when it is idle.
class GrpcCalls {
 public:
  explicit GrpcCalls(std::shared_ptr<const GrpcShared> shared) : shared_(std::move(shared)) {}
  ~GrpcCalls();

  std::uint64_t Start(NetworkRequest request, std::function<void(NetworkReply)> done);
  void Cancel(std::uint64_t number);
  GrpcNetwork::Load load(const std::string& to);
  bool idle();  // nothing is under way
  void WaitUntilIdle();
  // The network goes: what fails from now on is CANCELLED, so that nobody tries it again. Waits for callbacks that run.
  void Orphan();

 private:
  struct Call;
  // A peer, as calls with one keepalive see it.
  struct Peer {
    std::shared_ptr<grpc::GenericStub> stub;  // null: no channel yet, or the last one could not connect
    std::shared_ptr<grpc::Channel> channel;
    bool reads_frames = false;   // said so the last time
    std::optional<Time> failed;  // when that was
    std::string why;
    std::int64_t bytes = 0;  // given to gRPC, and not sent
    std::deque<std::shared_ptr<Call>> waiting;
  };
  using PeerKey = std::pair<std::string, Duration>;

  using Calls = std::vector<std::shared_ptr<Call>>;

  // REQUIRES (these): mutex_ is held.
  bool HasRoom(const Peer& peer, const Call& call) const;
  absl::Status Connect(const PeerKey& key, bool waits, Peer& peer) const;  // waits: for as long as it takes
  Calls TakeTurns(Peer& peer) const;                                       // those who waited, and have room now
  // How long it may wait for its turn.
  void WatchDeadline(const std::shared_ptr<Call>& call);

  // Gives each to gRPC, or answers it.
  void Launch(Calls calls);
  absl::Status Begin(const std::shared_ptr<Call>& call);
  // What follows has room where its bytes were. Only the first time counts.
  Calls Release(Call& call);
  void Finish(const std::shared_ptr<Call>& call, NetworkReply reply);
  void Leave();  // a callback ends
  void Answer(Call& call, NetworkReply reply);
  // One that still waits for its turn is answered so. False: it does not wait.
  bool GiveUpWaiting(const std::shared_ptr<Call>& call, const absl::Status& why);
  std::shared_ptr<grpc::Channel> NewChannel(const PeerKey& key) const;

  const std::shared_ptr<const GrpcShared> shared_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<PeerKey, Peer> peers_;
  std::map<std::uint64_t, std::shared_ptr<Call>> calls_;
  std::uint64_t last_ = 0;
  int callbacks_ = 0;  // that gRPC owes, or that run
  std::condition_variable idle_;
  int answering_ = 0;  // callbacks of callers that run
  bool orphaned_ = false;
  std::condition_variable answered_;
};

// The serving side.
absl::StatusOr<std::unique_ptr<Listener>> ListenByGrpc(std::shared_ptr<const GrpcShared> shared,
                                                       const std::string& address, RequestHandler handler);

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_GRPC_GRPC_PARTS_H_
