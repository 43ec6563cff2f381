#include "vigil/core/env/grpc/wire_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/cord.h"
#include "vigil/core/base/check.h"
#include "vigil/core/env/grpc/rpc_status.pb.h"

namespace vigil {
namespace {

constexpr int kLastCanonicalCode = 16;

// Not in the middle of a character of UTF-8: gRPC's other ends read the message as such.
std::string Shortened(std::string message) {
  if (message.size() <= kMostMessageBytes) return message;
  constexpr std::size_t kNote = 48;
  std::size_t kept = kMostMessageBytes - kNote;
  while (kept > 0 && (static_cast<unsigned char>(message[kept]) & 0xC0) == 0x80) --kept;
  const std::size_t left = message.size() - kept;
  message.resize(kept);
  return fmt::format("{} [and {} bytes that were not sent]", message, left);
}

}  // namespace

WireStatus ToWire(const absl::Status& status) {
  VIGIL_CHECK(!status.ok());
  WireStatus out{
      .code = static_cast<int>(status.code()), .message = Shortened(std::string(status.message())), .details = {}};
  std::vector<std::pair<std::string, std::string>> payloads;
  status.ForEachPayload([&payloads](absl::string_view name, const absl::Cord& value) {
    payloads.emplace_back(std::string(name), std::string(value));
  });
  const auto size_of = [](const auto& payload) { return payload.first.size() + payload.second.size(); };
  std::ranges::sort(payloads,
                    [&](const auto& a, const auto& b) { return std::pair(size_of(a), a) < std::pair(size_of(b), b); });
  proto::RpcStatus details;
  std::size_t left = kMostPayloadBytes;
  for (auto& [name, value] : payloads) {
    const std::size_t size = name.size() + value.size();
    if (size > left) break;
    left -= size;
    proto::RpcStatus::Detail& detail = *details.add_details();
    detail.set_type_url(std::move(name));
    detail.set_value(std::move(value));
  }
  if (details.details_size() == 0) return out;
  details.set_code(out.code);
  out.details = details.SerializeAsString();
  return out;
}

absl::Status FromWire(const WireStatus& wire) {
  VIGIL_CHECK(wire.code != 0);
  const bool is_code = wire.code > 0 && wire.code <= kLastCanonicalCode;
  absl::Status status(is_code ? static_cast<absl::StatusCode>(wire.code) : absl::StatusCode::kUnknown, wire.message);
  proto::RpcStatus details;
  if (!details.ParseFromString(wire.details)) return status;
  for (const proto::RpcStatus::Detail& each : details.details()) {
    status.SetPayload(each.type_url(), absl::Cord(each.value()));
  }
  return status;
}

}  // namespace vigil
