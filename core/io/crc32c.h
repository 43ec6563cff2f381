// CRC-32C (Castagnoli), and the masking under which TensorFlow stores it in events files and checkpoints.
//
// Thread safety: pure functions. Errors: none. One thin layer around isa-l.
#ifndef VIGIL_CORE_IO_CRC32C_H_
#define VIGIL_CORE_IO_CRC32C_H_

#include <cstdint>
#include <string_view>

#include "absl/strings/cord.h"

namespace vigil {

// The checksum of what had checksum `crc`, followed by `data`.
std::uint32_t ExtendCrc32c(std::uint32_t crc, std::string_view data);
inline std::uint32_t Crc32c(std::string_view data) { return ExtendCrc32c(0, data); }
std::uint32_t Crc32c(const absl::Cord& data);

// A checksum of bytes that contain checksums is weak, so that stored ones are masked: rotated right by 15, plus a
// constant.
constexpr std::uint32_t kCrcMaskDelta = 0xa282ead8U;
constexpr std::uint32_t MaskCrc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kCrcMaskDelta; }
constexpr std::uint32_t UnmaskCrc(std::uint32_t masked) {
  const std::uint32_t rotated = masked - kCrcMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace vigil

#endif  // VIGIL_CORE_IO_CRC32C_H_
