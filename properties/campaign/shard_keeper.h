// Keeps what a shard has found in its state file, while it is found.
//
// The file is replaced as a whole, every few seconds and at the end: whoever is killed goes on from the last time.
// Thread safety: belongs to one thread.
#ifndef VIGIL_PROPERTIES_CAMPAIGN_SHARD_KEEPER_H_
#define VIGIL_PROPERTIES_CAMPAIGN_SHARD_KEEPER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/files.h"
#include "vigil/properties/campaign/shard_state.h"

namespace vigil::properties {

// coverage.h
struct ReachedByPlay {
  std::uint64_t trace = 0;
  std::set<std::uint64_t> pairs;
};

// From one process to another (replays/crew/packed.h).
template <typename Archive>
void PackFields(Archive& archive, ReachedByPlay& reached) {
  archive(reached.trace, reached.pairs);
}

class ShardKeeper {
 public:
  // Goes on from the file, if it is there. USAGE: it is not the state of such a shard: of other seeds, suites, or as
  // ParseShardState says. Borrows `files`.
  static absl::StatusOr<ShardKeeper> Open(Files& files, std::string path, ShardState asked);

  const ShardState& state() const { return state_; }
  // That was still to be played when it was opened, if any was. REQUIRES here and below: it has that suite.
  std::uint64_t FirstSeed(std::string_view suite) const;

  // What one scenario came to: in the order of the seeds.
  void Add(std::string_view suite, std::uint64_t seed, const std::string& id, const SuiteCount& one,
           const std::optional<Tally>& tally, const std::optional<ClusterTally>& cluster,
           const std::optional<ReachedByPlay>& reached);
  // Its failure is told.
  void Tell(std::string_view suite, std::uint64_t seed, CheckFailure failure);

  // Whether it is time to.
  bool IsDue(Time now);
  // The message of an error names the file.
  absl::Status Keep();

 private:
  ShardKeeper(Files& files, std::string path, ShardState state);

  Files* files_;
  std::string path_;
  ShardState state_;
  std::map<std::string, std::uint64_t, std::less<>> first_;
  std::optional<Time> kept_at_;
  Duration keep_every_;
};

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_CAMPAIGN_SHARD_KEEPER_H_
