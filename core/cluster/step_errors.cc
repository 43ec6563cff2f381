#include "vigil/core/cluster/step_errors.h"

#include <utility>

#include "vigil/core/base/code.h"

namespace vigil {
namespace {

constexpr char kDerivedUrl[] = "vigil/derived";
constexpr char kByPeerUrl[] = "vigil/by_peer";

}  // namespace

absl::Status Derived(absl::Status status) {
  if (!status.ok()) status.SetPayload(kDerivedUrl, absl::Cord());
  return status;
}

bool IsDerived(const absl::Status& status) { return status.GetPayload(kDerivedUrl).has_value(); }

absl::Status Underived(absl::Status status) {
  status.ErasePayload(kDerivedUrl);
  return NotByPeer(std::move(status));
}

absl::Status ByPeer(absl::Status status) {
  if (!status.ok()) status.SetPayload(kByPeerUrl, absl::Cord());
  return status;
}

bool IsByPeer(const absl::Status& status) { return status.GetPayload(kByPeerUrl).has_value(); }

absl::Status NotByPeer(absl::Status status) {
  status.ErasePayload(kByPeerUrl);
  return status;
}

bool IsLost(const absl::Status& outcome) {
  return !outcome.ok() && !IsByPeer(outcome) && CodeOf(outcome) != Code::kCancelled;
}

}  // namespace vigil
