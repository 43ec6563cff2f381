// Lines as the tools of this folder read and write them: words, and bytes as hex digits ("-" is nothing).
// Thread safety: pure functions.
#ifndef VIGIL_INTEROP_WORDS_H_
#define VIGIL_INTEROP_WORDS_H_

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace vigil::interop {

inline std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) out.push_back(part);
  return out;
}

inline std::string ToHex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out.empty() ? "-" : out;
}

// REQUIRES: digits as ToHex() makes them.
inline std::string FromHex(std::string_view digits) {
  std::string out;
  if (digits == "-") return out;
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    out.push_back(static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1])));
  }
  return out;
}

}  // namespace vigil::interop

#endif  // VIGIL_INTEROP_WORDS_H_
