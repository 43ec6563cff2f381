#include "vigil/core/io/record_reader.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "vigil/core/base/code.h"
#include "vigil/core/io/crc32c.h"

namespace vigil {
namespace {

constexpr std::size_t kFooter = sizeof(std::uint32_t);

template <typename Number>
Number NumberAt(std::string_view bytes, std::size_t offset) {
  Number value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

}  // namespace

absl::StatusOr<std::optional<std::string_view>> RecordReader::Next() {
  const std::string_view rest = bytes_.substr(offset_);
  if (rest.empty()) return std::nullopt;
  const auto loss = [this](std::string_view what) {
    return MakeStatus(Code::kDataLoss, fmt::format("{} record at {}", what, offset_));
  };
  cut_off_ = rest.size() < kHeaderBytes;
  if (cut_off_) return loss("truncated");
  const auto size = NumberAt<std::uint64_t>(rest, 0);
  if (UnmaskCrc(NumberAt<std::uint32_t>(rest, sizeof(size))) != Crc32c(rest.substr(0, sizeof(size)))) {
    return loss("corrupted");
  }
  cut_off_ = size > rest.size() - kHeaderBytes || rest.size() - kHeaderBytes - size < kFooter;
  if (cut_off_) return loss("truncated");
  const std::string_view record = rest.substr(kHeaderBytes, size);
  if (UnmaskCrc(NumberAt<std::uint32_t>(rest, kHeaderBytes + size)) != Crc32c(record)) return loss("corrupted");
  offset_ += kHeaderBytes + size + kFooter;
  return record;
}

}  // namespace vigil
