// What plays scenarios for `vigil replay`, and judges saved failures.
//
// Thread safety: a player belongs to one thread.
#ifndef VIGIL_PROPERTIES_CAMPAIGN_RECORDING_PLAYER_H_
#define VIGIL_PROPERTIES_CAMPAIGN_RECORDING_PLAYER_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "vigil/replays/play/play.h"
#include "vigil/replays/player/player_client.h"
#include "vigil/replays/show/job_text.h"

namespace vigil::properties {

// What real clusters did is held against that many plays, each with a seed of its own.
inline constexpr int kPlaysOfACluster = 50;
// ... and against so many where it is known how often each way was taken.
inline constexpr int kPlaysForFrequencies = 200;

// How outcome.extra begins if there is no such event.
inline constexpr std::string_view kNoSuchEvent = "--why:";

struct RecordingPlayerOptions {
  std::uint64_t first_seed = 1;
  // nullopt: kPlaysOfACluster, and kPlaysForFrequencies where each play of the real ones was kept.
  std::optional<int> seeds = std::nullopt;
  std::optional<replays::JobTextOptions> job_text =
      std::nullopt;  // what happened in a cluster; of real ones the first seed only
  // outcome.extra: what is in the past of the event with this number, from 1 (causes.h), or that there is none.
  std::optional<std::uint64_t> why = std::nullopt;
  bool timeline = false;                         // outcome.timeline, with what each play has broken; the same
  replays::PlayerOptions player = {};            // who plays
  const std::atomic<bool>* interrupt = nullptr;  // as replays::RunnerOptions::interrupt
};

// For `vigil replay`: plays a recording; of a saved failure, and where nothing is said of what comes of it, it also
// checks the rules.
replays::Player NewRecordingPlayer(const RecordingPlayerOptions& options = {});

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_CAMPAIGN_RECORDING_PLAYER_H_
