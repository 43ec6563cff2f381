// Raw sessions that answer as recorded, the factory that makes them, and the checkpoint directory that they find.
//
// Thread safety: none; one task of one world.
#ifndef VIGIL_REPLAYS_TRACE_SESSIONS_H_
#define VIGIL_REPLAYS_TRACE_SESSIONS_H_

#include <memory>
#include <string>

#include "vigil/core/env/env.h"
#include "vigil/core/session/session.h"
#include "vigil/replays/trace_script.h"

namespace vigil::replays {

inline constexpr char kTraceDirectory[] = "/checkpoints";
// What a session that was given a file restores from.
std::string TraceCheckpoint(int number = 1);

// Before a session is handed out, the directory is made to hold what the recording says that was found there: as many
// checkpoints as it restored from, or none, or one that is missing. `env`, `trace` and `script` must outlive the factory.
std::shared_ptr<SessionFactory> NewRecordedFactory(const Env& env, const TraceSpec& trace, TraceScript& script);

// Whether the traced model had nothing to save: it was restored without a call.
bool HasNothingToSave(const TraceSpec& trace);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TRACE_SESSIONS_H_
