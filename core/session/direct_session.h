// The session that runs a graph in its own process: a sequential, deterministic executor in the caller's task.
//
// The idea: a plan (plan.h) is the list of nodes that a spec needs, in topological order (node ids), with a slot for
// every value; it is made at the first run of a spec and kept with the graph. A run walks the list in an ExecutorState:
// slots and pointers laid out once for a plan and a session, and reused. Fed values replace what would have been
// computed. A variable is read when what wants its value runs; a fetched one after everything else.
// Thread safety: several runs at once are fine (each has its own state). Close() cancels them: they end with CANCELLED.
// A session may be destroyed while runs are in flight, but only Close() wakes up what waits.
#ifndef VIGIL_CORE_SESSION_DIRECT_SESSION_H_
#define VIGIL_CORE_SESSION_DIRECT_SESSION_H_

#include <memory>
#include <string>

#include "vigil/core/env/env.h"
#include "vigil/core/graph/kernel.h"
#include "vigil/core/session/session.h"

namespace vigil {

struct DirectSessionOptions {
  SessionConfig config = {};
  // Variables shared with other sessions. Null: the session has its own and drops them when it is closed; queues and
  // iterators are its own in any case.
  std::shared_ptr<ResourceManager> shared_resources = nullptr;
  // It stands for a session on a server: traces the runs that such a one does.
  bool traces_as_on_server = false;
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
