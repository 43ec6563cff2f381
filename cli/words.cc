#include "vigil/cli/words.h"

#include <charconv>
#include <limits>

#include "fmt/format.h"

namespace vigil::cli {
namespace {

bool ReadNumber(const char* from, const char* to, std::uint64_t& value) {
  if (to - from > 1 && *from == '0') return false;
  const std::from_chars_result result = std::from_chars(from, to, value);
  return result.ec == std::errc() && result.ptr == to && from != to;
}

}  // namespace

bool ParseSeeds(const std::string& text, std::uint64_t& first, std::uint64_t& last) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return false;
  const char* const data = text.data();
  return ReadNumber(data, data + dots, first) && ReadNumber(data + dots + 2, data + text.size(), last) && first <= last;
}

std::string CheckSeed(const std::string& text) {
  return CheckNumber(0, std::numeric_limits<std::uint64_t>::max())(text);
}

std::function<std::string(const std::string& text)> CheckNumber(std::uint64_t least, std::uint64_t most) {
  return [least, most](const std::string& text) {
    std::uint64_t number = 0;
    const bool is_one = ReadNumber(text.data(), text.data() + text.size(), number);
    return is_one && number >= least && number <= most
               ? ""
               : fmt::format("expected a whole number from {} to {}, got '{}'", least, most, text);
  };
}

std::optional<Duration> ParseTime(const std::string& text) {
  constexpr std::int64_t kYear = std::int64_t{366} * 24 * 3600;
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, count);
  if (result.ec != std::errc() || result.ptr + 1 != end) return std::nullopt;
  const std::int64_t unit = *result.ptr == 's' ? 1 : *result.ptr == 'm' ? 60 : *result.ptr == 'h' ? 3600 : 0;
  if (unit == 0 || count < 1 || count > kYear / unit) return std::nullopt;
  return std::chrono::seconds(count * unit);
}

bool ParseShard(const std::string& text, std::uint64_t& shard, std::uint64_t& shards) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  const char* const data = text.data();
  return ReadNumber(data, data + slash, shard) && ReadNumber(data + slash + 1, data + text.size(), shards) &&
         shard >= 1 && shard <= shards;
}

}  // namespace vigil::cli
