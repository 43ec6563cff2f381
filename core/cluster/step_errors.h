// Errors of a step that many tasks work on: which of them says what went wrong, and which only follow from it.
//
// A step that fails in one place is cancelled in all others; what these then report is derived. The mark is a payload,
// so it crosses the network.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_CLUSTER_STEP_ERRORS_H_
#define VIGIL_CORE_CLUSTER_STEP_ERRORS_H_

#include "absl/status/status.h"

namespace vigil {

// The same error, marked as following from one that is reported elsewhere.
absl::Status Derived(absl::Status status);
bool IsDerived(const absl::Status& status);
// Without the mark: for the user.
absl::Status Underived(absl::Status status);

// An error that the peer gave as its answer; one without this mark comes from the network between.
absl::Status ByPeer(absl::Status status);
bool IsByPeer(const absl::Status& status);
// Without the mark.
absl::Status NotByPeer(absl::Status status);
// What a request came to: the peer has not answered it, and nobody has cancelled it.
bool IsLost(const absl::Status& outcome);

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_STEP_ERRORS_H_
