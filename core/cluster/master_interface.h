// What a session asks of a master: one in its own process (master.h) or one behind the network (remote_master.h).
//
// Thread safety: all methods from any task. Source: TensorFlow's master.proto, master_interface.h.
#ifndef VIGIL_CORE_CLUSTER_MASTER_INTERFACE_H_
#define VIGIL_CORE_CLUSTER_MASTER_INTERFACE_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/cluster/master.pb.h"
#include "vigil/core/session/run_options.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// What a step is about.
struct StepNames {
  std::vector<std::string> feeds;  // "node:index"
  std::vector<std::string> fetches;
  std::vector<std::string> targets;  // "node"
  friend auto operator<=>(const StepNames&, const StepNames&) = default;
};

// What a master knows of the steps of one session with the same names: it is made once. Safe from any task.
class PreparedStep {
 public:
  virtual ~PreparedStep() = default;
};

struct StepCall {
  std::span<const Tensor> feeds = {};  // as the names
  const RunOptions* options = nullptr;
  RunMetadata* metadata = nullptr;
};

class MasterInterface {
 public:
  virtual ~MasterInterface() = default;
  virtual absl::StatusOr<proto::CreateSessionResponse> CreateSession(const proto::CreateSessionRequest& request) = 0;
  virtual absl::StatusOr<proto::ExtendSessionResponse> ExtendSession(const proto::ExtendSessionRequest& request) = 0;
  virtual std::shared_ptr<PreparedStep> Prepare(const std::string& session, StepNames names) = 0;
  // `step`: from Prepare() of this master. `fetched` gets one tensor for each fetch.
  virtual absl::Status RunStep(PreparedStep& step, const StepCall& call, std::vector<Tensor>* fetched) = 0;
  virtual absl::Status CloseSession(const std::string& session) = 0;
  // Closes the session as far as that is possible without waiting.
  virtual void AbandonSession(const std::string& session) = 0;
  // Closes all sessions of the master and forgets the resources of those containers (none: all) on the tasks that the
  // filters allow.
  virtual absl::Status Reset(const std::vector<std::string>& containers,
                             const std::vector<std::string>& device_filters) = 0;
  virtual absl::StatusOr<proto::ListDevicesResponse> ListDevices(const std::string& session) = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_MASTER_INTERFACE_H_
