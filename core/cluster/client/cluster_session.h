// A session on a cluster: its graph is at a master, which runs it on the tasks of the cluster.
//
// A repeated RunSpec is prepared once. The graph may grow as long as it is not finalized: what is new is sent before
// the next run.
// Thread safety and errors: as session.h; and those of the cluster: UNAVAILABLE for a lost connection, ABORTED for a
// restarted task, DEADLINE_EXCEEDED after RunOptions.timeout_in_ms or else operation_timeout_in_ms.
#ifndef VIGIL_CORE_CLUSTER_CLIENT_CLUSTER_SESSION_H_
#define VIGIL_CORE_CLUSTER_CLIENT_CLUSTER_SESSION_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/cluster/master_interface.h"
#include "vigil/core/env/env.h"
#include "vigil/core/session/direct_session.h"
#include "vigil/core/session/session.h"

namespace vigil {

// Blocks until all tasks that the device filters allow have answered (see SessionConfig::create_timeout).
absl::StatusOr<std::unique_ptr<Session>> NewClusterSession(const Env& env, const Graph& graph,
                                                           std::shared_ptr<MasterInterface> master,
                                                           const SessionConfig& config);

// Whether that is the target of a cluster, "grpc://host:port".
bool IsClusterTarget(std::string_view target);

// The master of that target: the one in this process if there is one, else over the network. Errors: as
// ClusterSessionFactory.
absl::StatusOr<std::shared_ptr<MasterInterface>> FindMaster(const Env& env, const std::string& target,
                                                            const SessionConfig& config);

// tf.Session.reset: closes all sessions of that master, and forgets the resources of those containers (none: all) on
// all tasks that the device filters allow.
absl::Status ResetCluster(const Env& env, const std::string& target, const std::vector<std::string>& containers = {},
                          const SessionConfig& config = {});

// What makes sessions by their master: "" and "local" = a direct session, "grpc://host:port" = one on a cluster.
// Errors: NOT_FOUND for anything else, UNIMPLEMENTED for a cluster without a network.
class ClusterSessionFactory : public SessionFactory {
 public:
  // `direct`: of direct sessions.
  explicit ClusterSessionFactory(const Env& env, DirectSessionOptions direct = {});
  absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                  const SessionConfig& config) override;

 private:
  const Env env_;
  DirectSessionFactory direct_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CLUSTER_CLIENT_CLUSTER_SESSION_H_
