// One report of a campaign from the states of its shards: the same however it was cut up, interrupted and played twice.
//
// Findings are failures that are told, put together by rule and by the shape of what was shrunk: its story without the
// numbers. As a single campaign does, it tells at most kFullFailures of each rule and kMostFullFailures of all, the
// first by suite and seed; every shard tells at least those of them that are its own.
// Thread safety: data; pure functions.
#ifndef VIGIL_PROPERTIES_CAMPAIGN_MERGE_STATES_H_
#define VIGIL_PROPERTIES_CAMPAIGN_MERGE_STATES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/properties/campaign/shard_state.h"

namespace vigil::properties {

struct NamedState {
  std::string path;
  ShardState state;
};

struct CampaignFinding {
  std::string rule;                 // "" = none was broken
  std::string shape;                // the story of the least scenario, numbers left out
  CheckFailure failure;             // of the first seed
  std::vector<std::string> others;  // ids of further scenarios that were told
};

// Seeds of a suite of which no result is there.
struct MissingSeeds {
  std::string suite;
  SeedRange seeds;
  std::string path;  // of the state that ends before them; "" = there is none
};

struct SuiteReach {
  std::uint64_t traces = 0;  // distinct
  std::uint64_t pairs = 0;   // coverage.h
  ReachedCurve curve;        // over seeds
  // Pairs that only seeds of the second half have reached: 0 = saturated.
  std::uint64_t new_in_second_half = 0;
};

struct CampaignReport {
  CampaignKey key;
  CheckSummary summary;
  std::map<std::string, SuiteReach> reach;  // by suite
  std::vector<CampaignFinding> findings;    // by rule and shape
  std::vector<MissingSeeds> missing;
  std::vector<std::string> unneeded;  // paths of states all of which others hold, too
};

// `planned`: the seeds of the whole campaign, by suite; may be empty: then those between the first and the last that
// any shard was asked for. USAGE, naming the files: none, states of different campaigns, seeds that are partly in
// both.
absl::StatusOr<CampaignReport> MergeStates(std::vector<NamedState> states,
                                           const std::map<std::string, SeedRange>& planned);

// Numbers become '#'.
std::string ShapeOf(const std::string& story);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_CAMPAIGN_MERGE_STATES_H_
