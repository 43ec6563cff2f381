// Writes what a session does into a file, event by event, so that a run of a real program can be replayed (`vigil replay x.trace`).
//
// An EventSink that passes every event on to the sink of its env and appends it to the file at once: when the process is killed,
// all that was emitted before is in the file (what a power cut takes is another matter: nothing is synced). The file is that of
// trace.proto. Nothing that goes wrong with it ever disturbs the session: it is logged once, and the trace ends there.
// A steady state allocates nothing.
//
// Thread safety: safe from any task. Ownership: env's seams must outlive it.
#ifndef VIGIL_CORE_IO_TRACE_WRITER_H_
#define VIGIL_CORE_IO_TRACE_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "vigil/core/base/event.h"
#include "vigil/core/env/env.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/io/trace.pb.h"

namespace vigil {

inline constexpr std::string_view kTraceMagic = "vigil trace";
inline constexpr std::int32_t kTraceVersion = 1;
// A trace ends there: it should neither fill the disk nor be more than a replay can hold.
inline constexpr std::uint64_t kMostTraceEvents = 2'000'000;

class TraceWriter final : public EventSink {
 public:
  // Passes events on only, until Start.
  explicit TraceWriter(const Env& env);

  // Begins the file. An existing one is kept: "run.trace" becomes "run.2.trace", and so on. Missing folders are made. Magic,
  // version and start time of the header are filled in.
  void Start(const std::string& path, proto::TraceHeader header);
  void Emit(const Event& event) override;
  // The session was left in order: ends the file. Later events are passed on only.
  void End();

 private:
  absl::Status Open(const std::string& path);
  void Append(const google::protobuf::MessageLite& message);
  void Stop(const absl::Status& why);

  const Env env_;
  const std::unique_ptr<Mutex> mutex_;
  // Guarded by *mutex_.
  std::optional<RecordWriter> file_;  // none: not started, or ended
  std::string path_;
  Time start_;
  std::uint64_t events_ = 0;
  proto::TraceEvent message_;  // reused, as is the next one
  std::string bytes_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_TRACE_WRITER_H_
