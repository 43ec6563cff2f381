// Writes what a session does into a file, event by event, so that a run of a real program can be replayed (`vigil
// replay x.trace`).
//
// An EventSink that passes every event on to the sink of its env and appends it to the file at once: when the process
// is killed, all that was emitted before is in the file (what a power cut takes is another matter: nothing is synced).
// The file is that of trace.proto. A long trace keeps its beginning and its end: the first file, and the last few of
// the parts that follow it in files beside it ("run.trace.part2", ...); the parts between are removed as it goes on.
// Nothing that goes wrong with it ever disturbs the session: it is logged once, and the trace ends there. A steady
// state allocates nothing.
//
// Thread safety: safe from any task. Ownership: env's seams must outlive it.
#ifndef VIGIL_CORE_IO_TRACE_WRITER_H_
#define VIGIL_CORE_IO_TRACE_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/event.h"
#include "vigil/core/env/env.h"
#include "vigil/core/io/record_writer.h"
#include "vigil/core/io/trace_rest.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace vigil {

namespace proto {
class TraceEvent;
class TraceHeader;
}  // namespace proto

inline constexpr std::string_view kTraceMagic = "vigil trace";
inline constexpr std::int32_t kTraceVersion = 1;

// How much of a trace is kept.
struct TraceLimits {
  // A file is full then, and the next one begins as soon as the session is at rest (trace_rest.h)...
  std::uint64_t events_of_a_file = 200'000;
  // ... and if it never is, the trace ends there.
  std::uint64_t most_events_of_a_file = 400'000;
  // Besides the first file. The last of them is the one that is written.
  int parts = 4;
};
// The most that a trace holds: it should neither fill the disk nor be more than a replay can hold.
inline constexpr std::uint64_t kMostTraceEvents = TraceLimits().most_events_of_a_file * (TraceLimits().parts + 1);

inline constexpr std::string_view kTracePartInfix = ".part";
// Where the `number`-th part of a trace is; 1 is the trace itself.
std::string TracePartPath(const std::string& path, std::int64_t number);

class TraceWriter final : public EventSink {
 public:
  // Passes events on only, until Start.
  explicit TraceWriter(const Env& env, TraceLimits limits = {});
  ~TraceWriter() override;

  // Begins the file. An existing one is kept: "run.trace" becomes "run.2.trace", and so on. Missing folders are made.
  // Magic, version and start time of the header are filled in.
  void Start(const std::string& path, proto::TraceHeader header);
  void Emit(const Event& event) override;
  // The session was left in order: ends the file. Later events are passed on only.
  void End();

 private:
  absl::Status Open(const std::string& path);
  // A file is full and the session at rest: goes on in the next one.
  void BeginPart();
  bool PartIsDue() const;
  void Append(const google::protobuf::MessageLite& message);
  void Stop(const absl::Status& why);

  const Env env_;
  const TraceLimits limits_;
  const std::unique_ptr<Mutex> mutex_;
  // Guarded by *mutex_.
  std::optional<RecordWriter> file_;  // none: not started, or ended
  std::string path_;
  Time start_;
  std::int64_t start_ns_ = 0;
  std::uint64_t events_ = 0;          // of all parts
  std::uint64_t events_of_file_ = 0;  // of this one
  std::int64_t part_ = 1;
  TraceRest rest_;
  // The calls that the user was in when the second part began: all others begin in the same ones.
  std::vector<TraceRest::OpenCall> open_calls_;
  const std::unique_ptr<proto::TraceEvent> message_;  // reused, as is the next one
  std::string bytes_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_TRACE_WRITER_H_
