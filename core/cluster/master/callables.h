// What clients of a session want to run again and again, by handle: TensorFlow's MakeCallable. A callable holds names;
// what comes of them is the session's (MasterSession::Find).
//
// Thread safety: from any task. Source: TensorFlow's config.proto (CallableOptions), master_session.cc.
#ifndef VIGIL_CORE_CLUSTER_MASTER_CALLABLES_H_
#define VIGIL_CORE_CLUSTER_MASTER_CALLABLES_H_

#include <cstdint>
#include <map>
#include <memory>

#include "absl/status/statusor.h"
#include "vigil/core/base/spin_lock.h"
#include "vigil/core/cluster/master_interface.h"
#include "vigil/core/session/run_options.h"

namespace vigil {

namespace proto {
class CallableOptions;
}  // namespace proto

struct NamedCallable {
  StepNames names;
  RunOptions options;
};
// UNIMPLEMENTED, naming it, for what of the options is not done here: connections of tensors, feeds and fetches that
// stay on devices. INVALID_ARGUMENT: the run options are none.
absl::StatusOr<NamedCallable> CallableOf(const proto::CallableOptions& options);

class Callables {
 public:
  // Its handle.
  std::int64_t Add(NamedCallable callable);
  // INVALID_ARGUMENT: there is none.
  absl::StatusOr<std::shared_ptr<const NamedCallable>> Find(std::int64_t handle) const;
  absl::Status Release(std::int64_t handle);

 private:
  mutable SpinLock lock_;
  // Guarded by lock_.
  std::map<std::int64_t, std::shared_ptr<const NamedCallable>> callables_;
  std::int64_t last_ = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_MASTER_CALLABLES_H_
