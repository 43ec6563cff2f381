// Lines as the tools of this folder read and write them: words, and bytes as hex digits ("-" is nothing).
// Thread safety: pure functions.
#ifndef VIGIL_INTEROP_WORDS_H_
#define VIGIL_INTEROP_WORDS_H_

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"

namespace vigil::interop {

inline std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(part);
  return out;
}

inline std::string ToHex(std::string_view bytes) {
  return bytes.empty() ? "-" : absl::BytesToHexString({bytes.data(), bytes.size()});
}

// REQUIRES: digits as ToHex() makes them.
inline std::string FromHex(std::string_view digits) {
  return digits == "-" ? "" : absl::HexStringToBytes({digits.data(), digits.size()});
}

}  // namespace vigil::interop

#endif  // VIGIL_INTEROP_WORDS_H_
