// How an error crosses gRPC: its canonical code and message as gRPC's own, its payloads as details, both bounded as
// network.h says: a peer may refuse trailers of over 8 KiB, and with them the answer.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_ENV_GRPC_WIRE_STATUS_H_
#define VIGIL_CORE_ENV_GRPC_WIRE_STATUS_H_

#include <string>

#include "absl/status/status.h"

namespace vigil {

struct WireStatus {
  int code = 0;  // canonical
  std::string message;
  std::string details;  // bytes of a google.rpc.Status; empty: the error has no payloads
};

// REQUIRES: !status.ok().
WireStatus ToWire(const absl::Status& status);
// Details that are none, of another implementation, are left out. A code that is none is UNKNOWN. REQUIRES: code != 0.
absl::Status FromWire(const WireStatus& wire);

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_GRPC_WIRE_STATUS_H_
