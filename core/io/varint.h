// Numbers in as few bytes as they need, seven bits in each, and such of fixed size: little-endian, as files have them.
//
// Thread safety: pure functions.
#ifndef VIGIL_CORE_IO_VARINT_H_
#define VIGIL_CORE_IO_VARINT_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace vigil {

static_assert(std::endian::native == std::endian::little,
              "the files are little-endian; big-endian machines need swaps here");

inline void AppendVarint64(std::uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// Takes it from the front. False: it is cut off, or has more than 64 bits.
inline bool TakeVarint64(std::string_view* from, std::uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !from->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from->front());
    from->remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    *value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

template <typename T>
void AppendFixed(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// REQUIRES: from.size() >= sizeof(T).
template <typename T>
T FixedAt(std::string_view from) {
  T value = 0;
  std::memcpy(&value, from.data(), sizeof(value));
  return value;
}

}  // namespace vigil

#endif  // VIGIL_CORE_IO_VARINT_H_
