// The supervisor of a trace, and what its user did with it.
//
// Its services and loops are not started: they are tasks of their own, whose stop requests are recorded and made again.
// Its writer, its checkpoints and the body of a managed session answer as recorded.
// Thread safety: none; one task of one world.
#ifndef VIGIL_REPLAYS_TRACES_TRACE_SUPERVISOR_H_
#define VIGIL_REPLAYS_TRACES_TRACE_SUPERVISOR_H_

#include <memory>

#include "absl/status/status.h"
#include "vigil/core/env/env.h"
#include "vigil/core/env/forwarding.h"
#include "vigil/core/train/supervisor/supervisor.h"
#include "vigil/replays/traces/trace_script.h"
#include "vigil/replays/traces/trace_user.h"

namespace vigil::replays {

// The files of a traced supervisor: the graph's can fail to be written.
class GraphFiles : public ForwardingFiles {
 public:
  GraphFiles(Files& inner, TraceScript& script) : ForwardingFiles(inner), script_(script) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;

 private:
  TraceScript& script_;
};

class TraceSupervisor {
 public:
  // All must outlive it. REQUIRES: trace.supervisor.
  TraceSupervisor(const TraceSpec& trace, const Env& env, TraceUser& user);

  // Builds the rest of the graph and makes the supervisor; an error is a failure of the set-up.
  absl::Status Construct(Graph& graph, std::shared_ptr<SessionFactory> factory);

 private:
  absl::StatusOr<SupervisorOptions> Pieces(Graph& graph);
  bool Act(const Event& next);
  absl::Status Body(const SessionPtr& session);
  // A task that is left behind, if the next stop is recorded to have left any.
  void LeaveBehind();

  const TraceSpec& trace_;
  TraceUser& user_;
  GraphFiles files_;
  const Env env_;
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TRACES_TRACE_SUPERVISOR_H_
