// What the trace of a supervisor begins with, and how its methods say that they are called. For core/train/supervisor
// itself.
//
// Thread safety: functions without state.
#ifndef VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_TRACE_H_
#define VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_TRACE_H_

#include <cstdint>
#include <optional>

#include "vigil/core/base/event.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/train/session_manager.h"
#include "vigil/core/train/supervisor/supervisor_model.h"
#include "vigil/core/train/supervisor/supervisor_options.h"

namespace vigil {

namespace proto {
class TraceHeader;
}  // namespace proto

// What a replay needs to make such a supervisor again.
proto::TraceHeader TraceHeaderOf(const SupervisorOptions& options, const SupervisorModel& model,
                                 const SummaryWriterPtr& writer, const Graph& graph);

// The event of a call; to be completed with what the method says of its arguments.
Event CallOf(SupervisorMethod method, const SessionPtr& session = nullptr);
Event CallOf(const PrepareSessionOptions& options);
Event CallOf(const ManagedSessionOptions& options);
Event CallOf(const StopOptions& options);
// ... and of its return.
Event ReturnOf(SupervisorMethod method, const absl::Status& status);

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SUPERVISOR_SUPERVISOR_TRACE_H_
