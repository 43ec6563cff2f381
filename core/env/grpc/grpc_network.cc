#include "vigil/core/env/grpc/grpc_network.h"

#include <fmt/format.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/support/slice.h>

#include <charconv>
#include <utility>
#include <vector>

#include "vigil/core/base/code.h"
#include "vigil/core/base/cord.h"
#include "vigil/core/base/status_macros.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/env/files.h"
#include "vigil/core/env/grpc/frames.h"
#include "vigil/core/env/grpc/grpc_parts.h"
#include "vigil/core/io/crc32c.h"

namespace vigil {
namespace {

absl::StatusOr<std::string> ReadPem(const Env& env, std::string_view what, const std::string& path) {
  if (path.empty()) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("TLS needs a file with the {}: TlsFiles names none.", what));
  }
  const absl::StatusOr<std::string> text = ReadAll(*env.files, path);
  if (!text.ok()) {
    return WithMessage(text.status(), fmt::format("The {} for TLS: {}", what, MessageOf(text.status())));
  }
  if (text->find("-----BEGIN ") == std::string::npos) {
    return MakeStatus(Code::kInvalidArgument, fmt::format("{} has no {}: it is not a PEM file.", path, what));
  }
  return *text;
}

absl::Status TakeCredentials(const Env& env, GrpcShared& shared) {
  if (!shared.options.tls.has_value()) {
    shared.channel_credentials = grpc::InsecureChannelCredentials();
    shared.server_credentials = grpc::InsecureServerCredentials();
    return absl::OkStatus();
  }
  const TlsFiles& files = *shared.options.tls;
  VIGIL_ASSIGN_OR_RETURN(const std::string authorities, ReadPem(env, "certificates of authorities", files.authorities));
  if (!files.mutual) shared.channel_credentials = grpc::SslCredentials({.pem_root_certs = authorities});
  if (!files.mutual && files.certificate.empty() && files.key.empty()) return absl::OkStatus();
  VIGIL_ASSIGN_OR_RETURN(const std::string certificate, ReadPem(env, "certificate", files.certificate));
  VIGIL_ASSIGN_OR_RETURN(const std::string key, ReadPem(env, "key", files.key));
  if (files.mutual) {
    shared.channel_credentials =
        grpc::SslCredentials({.pem_root_certs = authorities, .pem_private_key = key, .pem_cert_chain = certificate});
  }
  grpc::SslServerCredentialsOptions server(files.mutual ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                                        : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  server.pem_root_certs = authorities;
  server.pem_key_cert_pairs.push_back({.private_key = key, .cert_chain = certificate});
  shared.server_credentials = grpc::SslServerCredentials(server);
  return absl::OkStatus();
}

// Pieces smaller than this are copied: that is cheaper than to share them.
constexpr std::size_t kSharedPieceBytes = 512;

std::string TextOf(std::uint32_t checksum) { return fmt::format("{:08x}", checksum); }

// gRPC's callbacks run in threads that go with the last channel or server of the process. Where these come and go,
// version 1.51 gives up its queue once too often ("assertion failed: prior > 0", at some one of a thousand ends): so
// there is one that never goes. It connects to nobody; that it holds the threads is owed to its one call, which is late
// from the start. The only thing in core/ that belongs to the process, as those threads do.
class CallbackThreads {
 public:
  static void Keep() { [[maybe_unused]] static const auto* const kept = new CallbackThreads(); }

 private:
  CallbackThreads() : stub_(grpc::CreateChannel("127.0.0.1:1", grpc::InsecureChannelCredentials())) {
    context_.set_deadline(std::chrono::system_clock::time_point());
    stub_.UnaryCall(&context_, "/none/None", grpc::StubOptions(), &none_, &reply_, [](const grpc::Status&) {});
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer none_ = BytesToSend(absl::Cord());
  grpc::ByteBuffer reply_;
};

}  // namespace

grpc::ByteBuffer BytesToSend(const absl::Cord& bytes) {
  std::vector<grpc::Slice> slices;
  std::size_t at = 0;
  ForEachPiece(bytes, [&](std::string_view piece) {
    if (piece.size() < kSharedPieceBytes) {
      slices.emplace_back(piece.data(), piece.size());
    } else {
      auto* const kept = new absl::Cord(bytes.Subcord(at, piece.size()));
      slices.emplace_back(
          const_cast<char*>(piece.data()), piece.size(), [](void* owner) { delete static_cast<absl::Cord*>(owner); },
          kept);
    }
    at += piece.size();
  });
  if (slices.empty()) slices.emplace_back();
  return grpc::ByteBuffer(slices.data(), slices.size());
}

absl::StatusOr<absl::Cord> ReceivedBytes(const grpc::ByteBuffer& buffer, std::optional<std::string_view> checksum) {
  std::vector<grpc::Slice> slices;
  if (buffer.Valid() && !buffer.Dump(&slices).ok()) {
    return MakeStatus(Code::kInternal, "A message of gRPC could not be unpacked.");
  }
  absl::Cord bytes;
  std::string piece;  // of small messages: one
  const bool shared = buffer.Valid() && buffer.Length() >= kSharedMessageBytes;
  std::uint32_t crc = 0;
  for (const grpc::Slice& slice : slices) {
    const std::string_view received(reinterpret_cast<const char*>(slice.begin()), slice.size());
    if (checksum.has_value()) crc = ExtendCrc32c(crc, received);
    if (shared) {
      bytes.Append(SharedCord(received, slice));
    } else {
      piece.append(received);
    }
  }
  if (!shared) bytes = absl::Cord(std::move(piece));
  if (!checksum.has_value() || *checksum == TextOf(crc)) return bytes;
  return MakeStatus(Code::kUnavailable, fmt::format("A message of {} bytes arrived with another checksum: {}, not {}.",
                                                    bytes.size(), TextOf(crc), *checksum));
}

std::string ChecksumOf(const absl::Cord& bytes) { return TextOf(Crc32c(bytes)); }

std::optional<std::string_view> FindMetadata(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata,
                                             const char* key) {
  const auto it = metadata.find(key);
  if (it == metadata.end()) return std::nullopt;
  return std::string_view(it->second.data(), it->second.size());
}

std::int64_t FramedBytes(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata) {
  const std::optional<std::string_view> value = FindMetadata(metadata, kFramesKey);
  if (!value.has_value()) return 0;
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(value->begin(), value->end(), bytes);
  return error == std::errc() && end == value->end() && bytes >= 0 ? bytes : -1;
}

absl::StatusOr<std::unique_ptr<GrpcNetwork>> GrpcNetwork::Create(const Env& env, const GrpcNetworkOptions& options) {
  auto shared = std::make_shared<GrpcShared>(GrpcShared{.env = env, .options = options});
  shared->memory = std::make_shared<MessageMemory>(static_cast<std::size_t>(options.max_memory_kept));
  VIGIL_RETURN_IF_ERROR(TakeCredentials(env, *shared));
  CallbackThreads::Keep();
  return std::unique_ptr<GrpcNetwork>(new GrpcNetwork(std::move(shared)));
}

GrpcNetwork::GrpcNetwork(std::shared_ptr<const GrpcShared> shared)
    : shared_(std::move(shared)), calls_(std::make_shared<GrpcCalls>(shared_)) {}
GrpcNetwork::~GrpcNetwork() {
  calls_->Orphan();
  if (calls_->idle()) return;
  const auto wait = [calls = calls_] { calls->WaitUntilIdle(); };
  // Where no thread can be made, here and now.
  if (!TrySpawn(*shared_->env.tasks, "the last calls of a network", wait).ok()) wait();
}

absl::StatusOr<std::unique_ptr<Listener>> GrpcNetwork::Listen(const std::string& address, RequestHandler handler) {
  return ListenByGrpc(shared_, address, std::move(handler));
}

std::uint64_t GrpcNetwork::Start(NetworkRequest request, std::function<void(NetworkReply)> done) {
  return calls_->Start(std::move(request), std::move(done));
}

void GrpcNetwork::Cancel(std::uint64_t call) { calls_->Cancel(call); }

GrpcNetwork::Load GrpcNetwork::load(const std::string& to) const { return calls_->load(to); }

NetworkLimits GrpcNetwork::limits() const { return LimitsOf(*shared_); }

}  // namespace vigil
