// Words of the command line that mean more than a word. Numbers are digits alone, without a zero in front. False or
// nullopt for what is none of them.
//
// Thread safety: pure functions.
#ifndef VIGIL_CLI_WORDS_H_
#define VIGIL_CLI_WORDS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "vigil/core/base/time.h"

namespace vigil::cli {

// "3..17", both from 0 on, in order.
bool ParseSeeds(const std::string& text, std::uint64_t& first, std::uint64_t& last);
// A validator of CLI11: "" for a seed ("17", up to 2^64 - 1), else what is wrong with it.
std::string CheckSeed(const std::string& text);
// The same for a number of these, both included. For every option that is a number: by itself CLI11 takes 010 for 8.
std::function<std::string(const std::string& text)> CheckNumber(std::uint64_t least, std::uint64_t most);
// "2/8", from 1 on.
bool ParseShard(const std::string& text, std::uint64_t& shard, std::uint64_t& shards);
// "90s", "10m", "1h"; more than nothing, and not more than a year.
std::optional<Duration> ParseTime(const std::string& text);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_WORDS_H_
