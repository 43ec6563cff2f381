// What one shard of a campaign has found so far: the file of `vigil check --state`, from which the shard goes on, and
// which `vigil merge` reads.
//
// A shard plays ranges of seeds, one for each drawn suite. What it counts adds up; of the rest (distinct traces, what
// was reached, failures that are told) it keeps sets, so that the whole does not depend on how it was cut.
// The file: lines of JSON. The first says which shard it is, by which version; the last is a checksum.
// Thread safety: data; pure functions.
#ifndef VIGIL_PROPERTIES_CAMPAIGN_SHARD_STATE_H_
#define VIGIL_PROPERTIES_CAMPAIGN_SHARD_STATE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "vigil/properties/campaign/check.h"

namespace vigil::properties {

using SeedRange = std::pair<std::uint64_t, std::uint64_t>;  // first and last

// What must be the same for two shards to be parts of one campaign.
struct CampaignKey {
  std::string version;  // of vigil
  std::string plant;    // the planted bug that is on; "" = none
  std::string player;   // the command that plays; "" = our core
  bool operator==(const CampaignKey&) const = default;
};

// A failure that is told, by the seed of its scenario.
struct ToldFailure {
  CheckFailure failure;  // without its file
  std::uint64_t seed = 0;
};

struct SuiteState {
  SeedRange asked;
  // Of what was played: the seeds from asked.first on to count.seeds. No list of those that are not told.
  SuiteCount count;
  Tally tally;
  ClusterTally cluster;
  std::map<std::uint64_t, std::string> first_failed;  // seeds and ids of the first kMostFirstFailed
  std::map<std::uint64_t, ToldFailure> told;          // by seed
  std::set<std::uint64_t> traces;                     // hashes
  std::map<std::uint64_t, std::uint64_t> reached;     // coverage.h: the first seed that did

  bool complete() const { return count.seeds.has_value() && count.seeds->second >= asked.second; }
  // The first seed that is still to be played, if it is not complete. After 2^64 - 1 comes 0.
  std::uint64_t next() const { return count.seeds.has_value() ? count.seeds->second + 1 : asked.first; }
};
// More than are told and named of one campaign together.
inline constexpr std::size_t kMostFirstFailed = 64;

struct ShardState {
  CampaignKey key;
  std::map<std::string, SuiteState> suites;  // by name
};

std::string PrintShardState(const ShardState& state);
// USAGE, and what to do: no state of a shard, not whole, changed, of another version than `version` or of other rules.
absl::StatusOr<ShardState> ParseShardState(std::string_view text, std::string_view version);

// Adds what adds up, and widens the seeds.
void AddSuiteCount(SuiteCount& to, const SuiteCount& from);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_CAMPAIGN_SHARD_STATE_H_
