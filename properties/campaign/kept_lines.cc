#include "vigil/properties/campaign/kept_lines.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/properties/rules/rules.h"

namespace vigil::properties {
namespace {

std::string LastLine(std::string_view text) {
  return fmt::format("{{\"complete\":\"{:016x}\"}}\n", XXH64(text.data(), text.size(), 0));
}

}  // namespace

std::string RulesHash() {
  std::string ids;
  for (const RuleFactory rule : AllRules()) ids += fmt::format("{} ", rule()->info().id);
  return fmt::format("{:016x}", XXH64(ids.data(), ids.size(), 0));
}

std::string Sealed(std::string text) {
  const std::string last = LastLine(text);
  return std::move(text) + last;
}

absl::StatusOr<std::string_view> Unsealed(std::string_view text, const KeptKind& kind) {
  if (text.empty()) return UsageError(fmt::format("it is empty; remove it, and {}", kind.anew));
  if (text.size() > kind.most_bytes) return UsageError(fmt::format("it has {} bytes: {}", text.size(), kind.most_is));
  if (!text.starts_with(kind.head)) return UsageError(std::string(kind.wrong_head));
  const std::size_t last = text.substr(0, text.size() - 1).rfind('\n') + 1;
  if (last == 0 || text.substr(last) != LastLine(text.substr(0, last))) {
    return UsageError(fmt::format("it is damaged or not whole: its checksum is another; remove it, and {}", kind.anew));
  }
  return text.substr(0, last);
}

bool ReadHashes(std::string_view text, std::set<std::uint64_t>& hashes) {
  do {
    std::uint64_t hash = 0;
    if (!TakeNumber(text, hash, 16)) return false;
    hashes.insert(hashes.end(), hash);
  } while (TakeCharacter(text, ' '));
  return text.empty();
}

bool TakeNumber(std::string_view& text, std::uint64_t& value, int base) {
  const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const auto used = static_cast<std::size_t>(read.ptr - text.data());
  text.remove_prefix(used);
  return read.ec == std::errc() && used > 0;
}

bool TakeCharacter(std::string_view& text, char wanted) {
  const bool there = text.starts_with(wanted);
  if (there) text.remove_prefix(1);
  return there;
}

}  // namespace vigil::properties
