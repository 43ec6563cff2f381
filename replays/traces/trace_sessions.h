// Raw sessions that answer as recorded, the factory that makes them, and the checkpoint directory that they find.
//
// Thread safety: none; one task of one world.
#ifndef VIGIL_REPLAYS_TRACES_TRACE_SESSIONS_H_
#define VIGIL_REPLAYS_TRACES_TRACE_SESSIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "vigil/core/env/env.h"
#include "vigil/core/session/session.h"
#include "vigil/replays/traces/trace_script.h"

namespace vigil::replays {

inline constexpr char kTraceDirectory[] = "/checkpoints";
// What a session that was given a file restores from.
std::string TraceCheckpoint(int number = 1);

// Before a session is handed out, the directory is made to hold what the recording says that was found there: as many
// checkpoints as it restored from, or none, or one that is missing. `env`, `trace` and `script` must outlive the
// factory.
class RecordedFactory : public SessionFactory {
 public:
  RecordedFactory(const Env& env, const TraceSpec& trace, TraceScript& script)
      : env_(env), trace_(trace), script_(script) {}

  absl::StatusOr<std::unique_ptr<Session>> Create(const Graph& graph, const std::string& master,
                                                  const SessionConfig& config) override;
  // The layer has slept: a checkpoint that the last session waits for may be there now. Its own error is a failure of
  // the set-up.
  absl::Status Slept();

 private:
  absl::Status Prepare(std::size_t from);

  const Env env_;
  const TraceSpec& trace_;
  TraceScript& script_;
  std::int64_t last_ = 0;
  bool waits_for_checkpoint_ = false;
};

// Whether the traced model had nothing to save: it was restored without a call.
bool HasNothingToSave(const TraceSpec& trace);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TRACES_TRACE_SESSIONS_H_
