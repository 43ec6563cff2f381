// Where summaries, graphs and session logs go: an events file that TensorBoard reads, or a test's double.
//
// Thread safety: safe from any task. Errors: what the file seam gives when a former event could not be written surfaces
// on the next call; nothing ever waits for a writer that has failed.
// Source: summary/writer/writer.py, event_file_writer.py, writer_cache.py.
#ifndef VIGIL_CORE_SUMMARY_SUMMARY_WRITER_H_
#define VIGIL_CORE_SUMMARY_SUMMARY_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/run_options.h"

namespace vigil {

enum class SessionLogStatus { kStatusUnspecified = 0, kStart = 1, kStop = 2, kCheckpoint = 3 };

class SummaryWriter {
 public:
  virtual ~SummaryWriter() = default;
  virtual const std::string& logdir() const = 0;  // as it was given
  // All Add...: OK means that the event waits to be written, in the order of the calls; they block while too many wait.
  // An error is that of an earlier event, or says what is wrong with this one; on a closed writer they do nothing but
  // warn. A global step that is not given is 0 in the file.
  // One number under a tag, as tf.summary.scalar makes it of a tensor (a float).
  absl::Status AddScalar(std::string_view tag, double value, std::optional<std::int64_t> global_step);
  // `summary`: a serialized Summary; USAGE for bytes that are none.
  virtual absl::Status AddSummary(const std::string& summary, std::optional<std::int64_t> global_step) = 0;
  virtual absl::Status AddSessionLog(SessionLogStatus status, std::optional<std::int64_t> global_step,
                                     const std::string& checkpoint_path = "") = 0;
  virtual absl::Status AddGraph(const Graph& graph) = 0;
  virtual absl::Status AddMetaGraph(const Graph& graph, std::optional<std::int64_t> global_step = std::nullopt) = 0;
  // USAGE "The provided tag was already used for this event type" for a repeated tag.
  virtual absl::Status AddRunMetadata(const RunMetadata& metadata, const std::string& tag,
                                      std::optional<std::int64_t> global_step) = 0;
  // Waits until all that was added is in the file, where others can read it; a power cut may still take it.
  virtual absl::Status Flush() = 0;
  // Waits until all is written and survives a power cut. It is closed then, also if this fails; a second one does
  // nothing.
  virtual absl::Status Close() = 0;
  // After Close(): a new file. Otherwise nothing.
  virtual absl::Status Reopen() = 0;
};

}  // namespace vigil

#endif  // VIGIL_CORE_SUMMARY_SUMMARY_WRITER_H_
