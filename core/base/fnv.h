// FNV-1a, 64 bits: the same on every machine and in every version, which names that draw or count by it rely on.
// Thread safety: a pure function.
#ifndef VIGIL_CORE_BASE_FNV_H_
#define VIGIL_CORE_BASE_FNV_H_

#include <cstdint>
#include <string_view>

namespace vigil {

// `state`: what an earlier call has given, to go on behind that text.
constexpr std::uint64_t Fnv1a(std::string_view text, std::uint64_t state = 0xcbf29ce484222325u) {
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return state;
}

}  // namespace vigil

#endif  // VIGIL_CORE_BASE_FNV_H_
