#include "vigil/core/io/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

#include "vigil/core/base/cord.h"

namespace vigil {

std::uint32_t ExtendCrc32c(std::uint32_t crc, std::string_view data) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // isa-l counts in int
  std::uint32_t inverted = ~crc;
  while (!data.empty()) {
    const std::size_t size = std::min(data.size(), kMost);
    // isa-l reads only, but its pointer is not const.
    auto* const bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(data.data()));
    inverted = crc32_iscsi(bytes, static_cast<int>(size), inverted);
    data.remove_prefix(size);
  }
  return ~inverted;
}

std::uint32_t Crc32c(const absl::Cord& data) {
  std::uint32_t crc = 0;
  ForEachPiece(data, [&crc](std::string_view piece) { crc = ExtendCrc32c(crc, piece); });
  return crc;
}

}  // namespace vigil
