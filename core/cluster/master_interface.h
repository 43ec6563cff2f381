// What a session asks of a master: one in its own process (master.h) or one behind the network (remote_master.h).
//
// Errors of all methods that name a session: ABORTED for one that the master does not know (it was closed, or the
// master has restarted since): who gets it makes a new one. Over the network also UNAVAILABLE, and what else the
// connection gives.
// Thread safety: all methods from any task. Source: TensorFlow's master.proto, master_interface.h.
#ifndef VIGIL_CORE_CLUSTER_MASTER_INTERFACE_H_
#define VIGIL_CORE_CLUSTER_MASTER_INTERFACE_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/atomic.h"
#include "vigil/core/session/run_options.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

namespace proto {
class CreateSessionRequest;
class CreateSessionResponse;
class ExtendSessionRequest;
class ExtendSessionResponse;
class ListDevicesResponse;
}  // namespace proto

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

// All borrowed until RunStep returns.
struct StepCall {
  std::span<const Tensor> feeds = {};   // one for each name, in their order
  const RunOptions* options = nullptr;  // null: the defaults
  RunMetadata* metadata = nullptr;      // filled if not null and the options ask for a trace
  // Of the session, by who asks; null: never. A step that got lost is not sent again after it, or it would strike
  // whoever has followed: what it waits for, closes or cancels is of all sessions.
  const Atomic<bool>* session_closed = nullptr;
};

class MasterInterface {
 public:
  virtual ~MasterInterface() = default;
  // A session of this graph on the tasks that the filters allow: its handle and the graph's version. Waits until all of
  // them have answered. Errors: UNAVAILABLE, naming those that have not within the session's create_timeout; USAGE for
  // a filter that is no device string; what is wrong with the graph (ImportGraphDef).
  virtual absl::StatusOr<proto::CreateSessionResponse> CreateSession(const proto::CreateSessionRequest& request) = 0;
  // Adds nodes to the session's graph: the new version. Errors: ABORTED unless the graph has the version that the
  // request says; ImportGraphDef's. An error changes nothing.
  virtual absl::StatusOr<proto::ExtendSessionResponse> ExtendSession(const proto::ExtendSessionRequest& request) = 0;
  // Never null and never waits: what is wrong with session or names is said by RunStep.
  virtual std::shared_ptr<PreparedStep> Prepare(const std::string& session, StepNames names) = 0;
  // Runs it on all tasks that it needs, and waits. `step`: from Prepare() of this master. `fetched` gets one tensor for
  // each fetch, in their order; after an error it holds anything. Errors: the root cause, from whichever task;
  // CANCELLED if the session is closed meanwhile; DEADLINE_EXCEEDED; what is wrong with the names (PartitionGraph).
  virtual absl::Status RunStep(PreparedStep& step, const StepCall& call, std::vector<Tensor>* fetched) = 0;
  // Ends the session's steps with CANCELLED; does not wait for them. Variables and queues stay on their tasks.
  virtual absl::Status CloseSession(const std::string& session) = 0;
  // Closes the session as far as that is possible without waiting, and says nothing of what fails.
  virtual void AbandonSession(const std::string& session) = 0;
  // Closes all sessions of the master and forgets the resources of those containers (none: all) on the tasks that the
  // filters allow (none: all tasks). Waits for them; the first error of them, after all were asked.
  virtual absl::Status Reset(const std::vector<std::string>& containers,
                             const std::vector<std::string>& device_filters) = 0;
  // The devices that a session may use; "" = all of the cluster, which asks the tasks and waits for their answers.
  virtual absl::StatusOr<proto::ListDevicesResponse> ListDevices(const std::string& session) = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_MASTER_INTERFACE_H_
