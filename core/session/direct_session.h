// The session that runs a graph in its own process: a sequential, deterministic executor in the caller's task.
//
// The idea: a plan is the list of nodes that a spec needs, in topological order (node ids), with a slot for every value; it is
// made at the first run of a spec and kept. A run walks the list. Fed values replace what would have been computed.
// Thread safety: several runs at once are fine (each has its own slots). Close() cancels them: they end with CANCELLED.
#ifndef VIGIL_CORE_SESSION_DIRECT_SESSION_H_
#define VIGIL_CORE_SESSION_DIRECT_SESSION_H_

#include <memory>
#include <string>

#include "vigil/core/env/env.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/session/session.h"

namespace vigil {

struct DirectSessionOptions {
  // Resources shared with other sessions (null = the session has its own and drops them when it is closed).
  std::shared_ptr<ResourceManager> shared_resources;
};

std::unique_ptr<Session> NewDirectSession(const Env& env, const Graph& graph, DirectSessionOptions options = {});

// Makes direct sessions; refuses any master but "" with UNIMPLEMENTED, by name.
class DirectSessionFactory : public SessionFactory {
 public:
  explicit DirectSessionFactory(const Env& env, DirectSessionOptions options = {});
  absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                  const SessionConfig& config) override;

 private:
  Env env_;
  DirectSessionOptions options_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_SESSION_DIRECT_SESSION_H_
