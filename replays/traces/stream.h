// Bytes of a file as a stream of chunks, unpacked on the way if they are .xz, cut into records.
//
// Memory stays bounded whatever the file holds: one chunk, one record (at most kMaxRecordBytes), the unpacker's window.
//
// Thread safety: a stream belongs to one thread.
#ifndef VIGIL_REPLAYS_TRACES_STREAM_H_
#define VIGIL_REPLAYS_TRACES_STREAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"

namespace vigil::replays {

// The next bytes; none = the end. After the end or an error it is not called again.
using ChunkSource = std::function<absl::StatusOr<std::string>()>;

ChunkSource FileChunks(std::unique_ptr<File> file);

// The same bytes; INVALID_ARGUMENT if they begin as .xz does, which would give an error for each "line" of it.
ChunkSource RefusePacked(ChunkSource source);

// Unpacks .xz (one or several streams behind each other). Errors: DATA_LOSS = damaged or cut short; INVALID_ARGUMENT =
// no .xz; RESOURCE_EXHAUSTED = needs more than kUnpackMemory. What comes before the damage is handed out first.
ChunkSource UnpackXz(ChunkSource packed);
// Reads all of it: OK if there is no such error.
absl::Status CheckXz(ChunkSource packed);
inline constexpr std::uint64_t kUnpackMemory = std::uint64_t{128} << 20;

// Cuts at newlines; empty lines (blanks only) are left out, but counted.
class LineReader {
 public:
  struct Line {
    std::int64_t number = 0;  // from 1
    std::string text;         // without its newline
  };

  explicit LineReader(ChunkSource source) : source_(std::move(source)) {}

  // Nothing = the end. INVALID_ARGUMENT = a line longer than a record may be; then, and after any error of the source,
  // there is no next line. line_number() names the line that could not be read.
  absl::StatusOr<std::optional<Line>> Next();
  std::int64_t line_number() const { return number_; }

  // What has not been read yet, as one text, put behind `text`. The same errors as Next().
  absl::Status TakeRest(std::string& text);

 private:
  absl::Status Refill();

  ChunkSource source_;
  std::string buffer_;  // read, not handed out: from at_ on
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
  bool ended_ = false;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_TRACES_STREAM_H_
