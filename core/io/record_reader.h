// Reads what RecordWriter wrote.
// Thread safety: none; one task at a time.
#ifndef VIGIL_CORE_IO_RECORD_READER_H_
#define VIGIL_CORE_IO_RECORD_READER_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"

namespace vigil {

class RecordReader {
 public:
  // Before the bytes of a record stand its length and the checksum of that.
  static constexpr std::size_t kHeaderBytes = 12;

  // The bytes of a whole file, borrowed.
  explicit RecordReader(std::string_view bytes) : bytes_(bytes) {}

  // The next record, part of the bytes; nullopt at the end. DATA_LOSS for a checksum that does not fit and for a record
  // that is cut off (what a crash leaves); the same again after that.
  absl::StatusOr<std::optional<std::string_view>> Next();
  // Whether the last error was a record that is cut off: everything before it is whole, and nothing comes after it.
  bool cut_off() const { return cut_off_; }
  // Whether it is cut off within its header: TensorFlow's readers take that for the end of the file.
  bool header_cut_off() const { return cut_off_ && bytes_.size() - offset_ < kHeaderBytes; }
  // Where the next record begins: behind the last one that is whole.
  std::size_t offset() const { return offset_; }

 private:
  std::string_view bytes_;
  std::size_t offset_ = 0;
  bool cut_off_ = false;
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_RECORD_READER_H_
