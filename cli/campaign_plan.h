// What a campaign is to play, and how it is cut into shards: the file campaign.json of its folder.
//
// Thread safety: pure functions.
#ifndef VIGIL_CLI_CAMPAIGN_PLAN_H_
#define VIGIL_CLI_CAMPAIGN_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace vigil::cli {

inline constexpr std::string_view kPlanName = "campaign.json";
inline constexpr std::uint64_t kMostShards = 100'000;

struct CampaignPlan {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> suites;  // first and last seed, by suite
  std::uint64_t shards = 1;
};

// Each seed is in one of them; they follow one another, and their sizes differ by one at most. Fewer than `shards` if
// there are fewer seeds.
std::vector<std::pair<std::uint64_t, std::uint64_t>> CutSeeds(std::uint64_t first, std::uint64_t last,
                                                              std::uint64_t shards);

std::string PrintPlan(const CampaignPlan& plan);
// USAGE, and what to do: no such file.
absl::StatusOr<CampaignPlan> ParsePlan(std::string_view text);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_CAMPAIGN_PLAN_H_
