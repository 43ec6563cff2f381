#include "vigil/core/io/record_writer.h"

#include <bit>
#include <cstdint>

#include "vigil/core/base/status_macros.h"
#include "vigil/core/io/crc32c.h"

namespace vigil {
namespace {

static_assert(std::endian::native == std::endian::little, "AppendNumber() must swap bytes here");

template <typename Number>
void AppendNumber(Number value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

void AppendRecord(std::string_view record, std::string* out) {
  const std::uint64_t size = record.size();
  AppendNumber(size, out);
  AppendNumber(MaskCrc(Crc32c({reinterpret_cast<const char*>(&size), sizeof(size)})), out);
  out->append(record);
  AppendNumber(MaskCrc(Crc32c(record)), out);
}

absl::Status RecordWriter::Write(std::string_view record) {
  VIGIL_RETURN_IF_ERROR(error_);
  AppendRecord(record, &buffer_);
  return buffer_.size() < kBuffer ? absl::OkStatus() : Flush();
}

absl::Status RecordWriter::Flush() {
  VIGIL_RETURN_IF_ERROR(error_);
  if (buffer_.empty()) return absl::OkStatus();
  absl::Status status = Keep(file_->Append(buffer_));
  buffer_.clear();
  return status;
}

absl::Status RecordWriter::Sync() {
  VIGIL_RETURN_IF_ERROR(Flush());
  return Keep(file_->Sync());
}

absl::Status RecordWriter::Close() {
  const absl::Status flushed = Flush();
  const absl::Status closed = file_->Close();
  return flushed.ok() ? Keep(closed) : flushed;
}

absl::Status RecordWriter::Keep(absl::Status status) {
  if (error_.ok()) error_ = status;
  return status;
}

}  // namespace vigil
