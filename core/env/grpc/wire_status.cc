#include "vigil/core/env/grpc/wire_status.h"

#include <string>

#include "absl/strings/cord.h"
#include "vigil/core/base/check.h"
#include "vigil/core/env/grpc/rpc_status.pb.h"
#include "vigil/core/env/network.h"

namespace vigil {
namespace {

constexpr int kLastCanonicalCode = 16;

}  // namespace

WireStatus ToWire(const absl::Status& status) {
  VIGIL_CHECK(!status.ok());
  const absl::Status bounded = Bounded(status);
  WireStatus out{.code = static_cast<int>(bounded.code()), .message = std::string(bounded.message()), .details = {}};
  proto::RpcStatus details;
  bounded.ForEachPayload([&details](absl::string_view name, const absl::Cord& value) {
    proto::RpcStatus::Detail& detail = *details.add_details();
    detail.set_type_url(std::string(name));
    detail.set_value(std::string(value));
  });
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
