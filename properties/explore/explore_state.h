// The state file of an exploration: how far it got, and what it counted until then.
//
// Lines of text; the hashes of the traces make up most of it. Thread safety: pure functions.
#ifndef VIGIL_PROPERTIES_EXPLORE_EXPLORE_STATE_H_
#define VIGIL_PROPERTIES_EXPLORE_EXPLORE_STATE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vigil/properties/explore/explore.h"

namespace vigil::properties {

std::string PrintExploreState(const ExploreOptions& options, const ExploreCounts& counts);

// `played` scenarios of the shard are done. USAGE: the file is not whole, of another scope or shard, or of a version
// with other rules.
absl::StatusOr<ExploreCounts> ParseExploreState(std::string_view text, const ExploreOptions& options);

// The same for other campaigns: `head`, one line, says which one it was, `rules` how many `armed` knows.
std::string PrintExploreState(const std::string& head, const ExploreCounts& counts);
absl::StatusOr<ExploreCounts> ParseExploreState(std::string_view text, const std::string& head, std::size_t rules);

// Adds up all of it.
void AddCounts(ExploreCounts& to, const ExploreCounts& from);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_EXPLORE_STATE_H_
