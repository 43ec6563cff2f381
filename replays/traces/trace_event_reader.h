// The events of a trace, record by record, as the play needs them: those of the task that used the session, and what
// other tasks asked for. Where parts of the trace were removed, what comes behind is numbered and timed as if it
// followed directly.
//
// Thread safety: none.
#ifndef VIGIL_REPLAYS_TRACES_TRACE_EVENT_READER_H_
#define VIGIL_REPLAYS_TRACES_TRACE_EVENT_READER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/event.h"
#include "vigil/core/base/time.h"
#include "vigil/core/io/trace.pb.h"
#include "vigil/core/io/trace_rest.h"
#include "vigil/replays/format/trace_spec.h"

namespace vigil::replays {

// What a record says, whether it can be or not. Its subject is the record's own.
Event EventIn(const proto::TraceEvent& record);

class TraceEventReader {
 public:
  // Adds to `out`, whose header has been read.
  explicit TraceEventReader(TraceSpec& out) : out_(out) {}

  // DATA_LOSS: no writer writes such a record, or not in this place.
  absl::Status Add(const proto::TraceEvent& record);
  // How many events the parts held that were removed.
  std::uint64_t left_out() const { return left_out_; }

 private:
  absl::Status BeginPart(const proto::TraceEvent& record);
  std::int64_t SessionOf(std::int64_t recorded) const;
  absl::StatusOr<Event> CheckedEvent(const proto::TraceEvent& record) const;

  TraceSpec& out_;
  TraceRest rest_;
  std::int64_t part_ = 1;
  std::uint64_t events_ = 0;  // before the next one
  Duration last_{0};          // when the last one was
  std::uint64_t left_out_ = 0;
  Duration left_out_time_{0};
  std::int64_t first_session_ = 1;      // that this part knows
  std::int64_t left_out_sessions_ = 0;  // by how much its number is smaller here
  bool has_user_ = false;
  std::uint64_t user_ = 0;  // the task that used the session last
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TRACES_TRACE_EVENT_READER_H_
