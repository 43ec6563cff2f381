#include "vigil/properties/explore/explore_state.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/properties/rules/rules.h"
#include "vigil/replays/format/escape.h"

namespace vigil::properties {
namespace {

constexpr std::string_view kStateEnd = "complete";

std::string StateHead(const ExploreOptions& options) {
  const ExploreScope& scope = options.scope;
  return fmt::format("vigil explore state 2: --hooks {} --runs {} --faults {} --shard {}/{}, {} rules, {}", scope.hooks,
                     scope.runs, scope.faults, options.shard, options.shards, AllRules().size(),
                     PlayedBy(options.version, options.plant, options.player.command));
}

// The last line: what stands before it is whole and as it was kept.
std::string StateEnd(std::string_view text) {
  return fmt::format("{} {:016x}\n", kStateEnd, XXH64(text.data(), text.size(), 0));
}

// The first word of `line`, which is taken off it.
std::string_view TakeWord(std::string_view& line) {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
  return word;
}

bool ParseNatural(std::string_view word, std::uint64_t& value, int base = 10) {
  const std::from_chars_result result = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return !word.empty() && result.ec == std::errc() && result.ptr == word.data() + word.size();
}

// "<name> <count> [<what>]"
bool ParseCount(std::string_view line, ExploreCounts& counts) {
  const std::string_view name = TakeWord(line);
  std::uint64_t count = 0;
  const std::string_view number = TakeWord(line);
  if (!ParseNatural(number, count, name == "trace" ? 16 : 10)) return false;
  if (name == "trace") return counts.traces.insert(counts.traces.end(), count) != counts.traces.end();
  if (name == "end") return counts.ends.emplace(line, count).second;
  if (name == "violated") return counts.violated.emplace(line, count).second;
  if (name == "armed") {
    counts.armed.push_back(count);
    return true;
  }
  for (const auto& [field, value] : {std::pair("played", &counts.played),
                                     {"begun", &counts.begun},
                                     {"all_fired", &counts.all_fired},
                                     {"disagreements", &counts.disagreements},
                                     {"violations", &counts.violations},
                                     {"failed", &counts.failed}}) {
    if (name == field) {
      *value = count;
      return true;
    }
  }
  return false;
}

}  // namespace

std::string PrintExploreState(const ExploreOptions& options, const ExploreCounts& counts) {
  return PrintExploreState(StateHead(options), counts);
}

absl::StatusOr<ExploreCounts> ParseExploreState(std::string_view text, const ExploreOptions& options) {
  return ParseExploreState(text, StateHead(options), AllRules().size());
}

std::string PrintExploreState(const std::string& head, const ExploreCounts& counts) {
  std::string text = head + "\n";
  if (counts.begun > 0) text += fmt::format("begun {}\n", counts.begun);
  text += fmt::format("played {}\nall_fired {}\ndisagreements {}\nviolations {}\nfailed {}\n", counts.played,
                      counts.all_fired, counts.disagreements, counts.violations, counts.failed);
  for (const std::uint64_t armed : counts.armed) text += fmt::format("armed {}\n", armed);
  for (const auto& [what, count] : counts.ends) text += fmt::format("end {} {}\n", count, what);
  for (const auto& [rule, count] : counts.violated) text += fmt::format("violated {} {}\n", count, rule);
  for (const std::uint64_t hash : counts.traces) text += fmt::format("trace {:x}\n", hash);
  return text + StateEnd(text);
}

absl::StatusOr<ExploreCounts> ParseExploreState(std::string_view text, const std::string& head, std::size_t rules) {
  ExploreCounts counts;
  std::size_t number = 0;
  const std::string_view whole = text;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (number == 1 && line != head)
      return UsageError(
          fmt::format("it was not kept by an exploration with these options and rules: expected '{}'", head));
    if (number == 1) continue;
    if (line.starts_with(kStateEnd) && text.empty()) {
      const std::size_t before = whole.size() - line.size() - 1;
      if (whole.substr(before) != StateEnd(whole.substr(0, before)))
        return UsageError("it was changed: its checksum is another; remove it to begin anew");
      if (counts.armed.size() == rules) return counts;
      break;
    }
    if (!ParseCount(line, counts)) return UsageError(fmt::format("line {} is not as it was kept", number));
  }
  return UsageError("it is not whole");
}

std::string PlayedBy(std::string_view version, std::string_view plant, std::string_view player) {
  std::string text = fmt::format("vigil {}", version);
  if (!plant.empty()) text += fmt::format(" --plant {}", replays::Escaped(plant));
  if (!player.empty()) text += fmt::format(" --player '{}'", replays::Escaped(player));
  return text;
}

void AddCounts(ExploreCounts& to, const ExploreCounts& from) {
  to.played += from.played;
  to.begun += from.begun;
  to.all_fired += from.all_fired;
  to.disagreements += from.disagreements;
  to.violations += from.violations;
  to.failed += from.failed;
  for (const auto& [what, count] : from.ends) to.ends[what] += count;
  for (const auto& [rule, count] : from.violated) to.violated[rule] += count;
  to.armed.resize(std::max(to.armed.size(), from.armed.size()));
  for (std::size_t i = 0; i < from.armed.size(); ++i) to.armed[i] += from.armed[i];
  to.traces.insert(from.traces.begin(), from.traces.end());
}

ExploreCounts CountsOfCrash(const replays::Crash& crash) {
  ExploreCounts counts;
  counts.played = counts.failed = counts.violations = 1;
  counts.ends["crashed"] = 1;
  counts.violated[crash.rule()] = 1;
  return counts;
}

}  // namespace vigil::properties
