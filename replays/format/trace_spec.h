// A trace of a production run (options.trace_path) as data: what the session layer did, what it was answered, and what
// is needed to make such a session again. trace_file.h reads it, trace_player.h plays it.
//
// Thread safety: data; immutable once it is read.
#ifndef VIGIL_REPLAYS_FORMAT_TRACE_SPEC_H_
#define VIGIL_REPLAYS_FORMAT_TRACE_SPEC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "vigil/core/base/behaviour.h"
#include "vigil/core/base/event.h"
#include "vigil/core/base/time.h"

namespace vigil::replays {

// An event of the task that used the session.
struct TracedEvent {
  Event event;    // its subject belongs to the TraceSpec
  Duration time;  // since the trace began, by the monotonic clock
};

// Another task (a queue runner's) asked the session's coordinator to stop.
struct TracedRequest {
  std::size_t before = 0;    // which event of the session's task came next
  std::int64_t session = 0;  // whose coordinator; 0 = a supervisor's
  Code code = Code::kOk;
  Duration time{0};
};

// What a traced supervisor works with.
struct SupervisorSpec {
  enum class Writer { kNone, kOwn, kGiven };
  enum class SaverKind { kNone, kSome, kEmpty };
  Duration recovery_wait{0};
  Writer writer = Writer::kNone;
  SaverKind saver = SaverKind::kNone;
  bool has_init_op = false;
  bool has_local_init_op = false;
  bool has_ready_op = false;
  bool has_ready_for_local_init_op = false;
  bool has_global_step = false;
};

struct TraceSpec {
  TraceSpec() = default;
  TraceSpec(const TraceSpec&) = delete;
  TraceSpec& operator=(const TraceSpec&) = delete;

  std::optional<SupervisorSpec> supervisor;  // then there are no hooks, and it does not matter what recovers
  bool recovers = true;                      // else a singular session
  bool is_chief = true;
  std::vector<std::string> hooks;  // names, in list order
  Behaviour behaviour;
  Duration stop_grace_period{0};
  std::optional<Duration> max_wait;
  bool has_checkpoint_dir = false;
  bool has_checkpoint_filename = false;
  bool has_init_fn = false;
  bool graph_is_finalized = false;
  Time start;             // wall time
  bool complete = false;  // else the process ended before the session did
  std::vector<TracedEvent> events;
  std::vector<TracedRequest> requests;          // in order
  std::set<std::string, std::less<>> subjects;  // of the events
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_FORMAT_TRACE_SPEC_H_
