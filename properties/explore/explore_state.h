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
#include "vigil/replays/crew/crash.h"

namespace vigil::properties {

std::string PrintExploreState(const ExploreOptions& options, const ExploreCounts& counts);

// `played` scenarios of the shard are done. USAGE: the file is not whole, of another scope or shard, or of a version
// with other rules.
absl::StatusOr<ExploreCounts> ParseExploreState(std::string_view text, const ExploreOptions& options);

// The same for other campaigns: `head`, one line, says which one it was, `rules` how many `armed` knows.
std::string PrintExploreState(const std::string& head, const ExploreCounts& counts);
absl::StatusOr<ExploreCounts> ParseExploreState(std::string_view text, const std::string& head, std::size_t rules);

// Who plays, for a head: no campaign goes on from what another version, planted bug or player (a command) has kept.
std::string PlayedBy(std::string_view version, std::string_view plant, std::string_view player);

// Adds up all of it.
void AddCounts(ExploreCounts& to, const ExploreCounts& from);
// Of one play that crashed.
ExploreCounts CountsOfCrash(const replays::Crash& crash);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_EXPLORE_EXPLORE_STATE_H_
