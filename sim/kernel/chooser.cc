#include "vigil/sim/kernel/chooser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/splitmix64.h"

namespace vigil::sim {

std::uint64_t Bounded(std::uint64_t bits, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(bits) * bound) >> 64);
}

std::uint64_t HashDraw(std::uint64_t seed, std::string_view text, std::uint64_t count) {
  // SplitMix64 from a starting point that the text decides.
  return SplitMixAt(XXH64(text.data(), text.size(), seed), count);
}

bool WithChance(std::uint64_t bits, double chance) {
  // 53 bits fill a double exactly.
  return static_cast<double>(bits >> 11) < chance * 9007199254740992.0;
}

bool IsChoiceOfTasks(std::string_view key) {
  return std::ranges::any_of(kChoicesOfTasks, [key](std::string_view end) { return key.ends_with(end); });
}

std::size_t RandomChooser::Choose(const ChoicePoint& point, std::span<const std::string_view> labels) {
  const std::uint64_t bits = HashDraw(seed_, point.key, point.count);
  return point.chance > 0 ? (WithChance(bits, point.chance) ? 1 : 0) : Bounded(bits, labels.size());
}

ReplayChooser::ReplayChooser(ChoiceMap recorded) {
  for (auto& [key, labels] : recorded) entries_[key].labels = std::move(labels);
}

std::size_t ReplayChooser::Choose(const ChoicePoint& point, std::span<const std::string_view> labels) {
  const auto found = entries_.find(point.key);
  if (found == entries_.end() || point.count >= found->second.labels.size()) return 0;
  Entry& entry = found->second;
  entry.used = std::max(entry.used, point.count + 1);
  const std::string& wanted = entry.labels[point.count];
  const auto label = std::find(labels.begin(), labels.end(), wanted);
  if (label != labels.end()) return static_cast<std::size_t>(label - labels.begin());
  refused_.push_back(fmt::format("{}[{}]: {} is none of {}", point.key, point.count, wanted, fmt::join(labels, ", ")));
  return 0;
}

std::vector<std::string> ReplayChooser::UnusedEntries() const {
  std::vector<std::string> unused;
  for (const auto& [key, entry] : entries_) {
    for (std::size_t i = entry.used; i < entry.labels.size(); ++i) {
      unused.push_back(fmt::format("{}[{}]: {}", key, i, entry.labels[i]));
    }
  }
  return unused;
}

}  // namespace vigil::sim
