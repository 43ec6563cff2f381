// The trace of a monitored session or a supervisor (options.trace_path): what its file begins with, and who owns its
// writer. This header is for core/train itself and the folders in it. Thread safety: as the process' slots; the writer
// is safe from any task.
#ifndef VIGIL_CORE_TRAIN_SESSION_TRACE_H_
#define VIGIL_CORE_TRAIN_SESSION_TRACE_H_

#include <string>
#include <vector>

#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/io/trace_writer.h"
#include "vigil/core/train/session_creator.h"
#include "vigil/core/train/session_life.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

namespace proto {
class TraceHeader;
}  // namespace proto

// Null if `path` is empty. It lives as long as the process: a task that a session left behind may emit long after the
// session.
TraceWriter* NewSessionTrace(const Env& env, const std::string& path);

// Every switch.
void AddBehaviour(const Behaviour& behaviour, proto::TraceHeader& header);

// What a replay needs to make such a session again. `creator`: what its traits() say.
proto::TraceHeader TraceHeaderOf(bool recovers, const CreatorTraits& creator, const std::vector<HookPtr>& hooks,
                                 const SessionLife& life, const Graph& graph);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SESSION_TRACE_H_
