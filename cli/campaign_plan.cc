#include "vigil/cli/campaign_plan.h"

#include <algorithm>

#include "vigil/core/base/code.h"
#include "vigil/replays/format/json.h"
#include "vigil/replays/format/json_writer.h"

namespace vigil::cli {
namespace {

using replays::JsonKind;

bool ReadSeeds(replays::Json json, std::pair<std::uint64_t, std::uint64_t>& seeds) {
  if (json.kind() != JsonKind::kArray) return false;
  std::vector<std::uint64_t> both;
  for (const replays::Json number : json) {
    if (!number.is_natural()) return false;
    both.push_back(number.natural());
  }
  if (both.size() != 2 || both[0] > both[1]) return false;
  seeds = {both[0], both[1]};
  return true;
}

}  // namespace

std::vector<std::pair<std::uint64_t, std::uint64_t>> CutSeeds(std::uint64_t first, std::uint64_t last,
                                                              std::uint64_t shards) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;
  // One less than there are, which always fits.
  const std::uint64_t behind = last - first;
  const std::uint64_t count = behind < shards ? behind + 1 : shards;
  const std::uint64_t size = behind / count;  // of (behind + 1) / count, of which the rest is given to the first
  const std::uint64_t rest = behind % count + 1;
  std::uint64_t next = first;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t of_this = size + (i < rest ? 1 : 0);
    parts.emplace_back(next, next + (of_this - 1));
    next += of_this;
  }
  return parts;
}

std::string PrintPlan(const CampaignPlan& plan) {
  replays::JsonWriter w;
  w.Open('{').Key("vigil campaign").Natural(1).Key("shards").Natural(plan.shards).Key("suites").Open('{');
  for (const auto& [suite, seeds] : plan.suites)
    w.Key(suite).Open('[').Natural(seeds.first).Natural(seeds.second).Close(']');
  w.Close('}').Close('}');
  return w.Take() + "\n";
}

absl::StatusOr<CampaignPlan> ParsePlan(std::string_view text) {
  const absl::Status wrong = UsageError("it is no plan of vigil campaign; write it anew with the same options");
  replays::JsonDocument document;
  if (!document.Parse(text).ok() || document.root().kind() != JsonKind::kObject) return wrong;
  CampaignPlan plan;
  bool known = false;
  for (const replays::Json member : document.root()) {
    if (member.key() == "vigil campaign") known = member.is_natural() && member.natural() == 1;
    if (member.key() == "shards") {
      if (!member.is_natural()) return wrong;
      plan.shards = member.natural();
    }
    if (member.key() != "suites") continue;
    if (member.kind() != JsonKind::kObject) return wrong;
    for (const replays::Json suite : member) {
      if (!ReadSeeds(suite, plan.suites[std::string(suite.key())])) return wrong;
    }
  }
  if (!known || plan.suites.empty()) return wrong;
  return plan;
}

}  // namespace vigil::cli
