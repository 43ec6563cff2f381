// TensorFlow's framing of records in a file (TFRecord), as events files have it: length (8 bytes, little-endian),
// masked checksum of those, the bytes, masked checksum of the bytes.
//
// Thread safety: none; one task at a time. Errors: the file seam's. After an error the end of the file is unknown, so
// the first one is given again by every later call.
#ifndef VIGIL_CORE_IO_RECORD_WRITER_H_
#define VIGIL_CORE_IO_RECORD_WRITER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "vigil/core/env/files.h"

namespace vigil {

// Appends the framed record to `out`.
void AppendRecord(std::string_view record, std::string* out);

class RecordWriter {
 public:
  // Records are gathered until there are that many bytes of them.
  static constexpr std::size_t kBuffer = 64 << 10;

  // `file`: open for writing, at its end.
  explicit RecordWriter(std::unique_ptr<File> file) : file_(std::move(file)) {}

  // Success: it is gathered, or in the file.
  absl::Status Write(std::string_view record);
  // What was gathered goes to the file: other processes see it, a power cut may still take it.
  absl::Status Flush();
  // Flush, and it survives a power cut.
  absl::Status Sync();
  // Flush, and the file is closed. Nothing may follow. Without it (the destructor) what was gathered is lost.
  absl::Status Close();

 private:
  absl::Status Keep(absl::Status status);

  std::unique_ptr<File> file_;
  std::string buffer_;
  absl::Status error_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_RECORD_WRITER_H_
