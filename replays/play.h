// Plays many records with several threads, and hands out the results in the order of the input.
//
// Reading runs on a thread of its own, parsing and playing on `jobs` more; results are handed out on the caller's thread. The
// number of records and results in memory is bounded, whatever the input holds.
//
// Thread safety: PlayAll may run on any thread; each Player belongs to the one worker thread that made it.
#ifndef VIGIL_REPLAYS_PLAY_H_
#define VIGIL_REPLAYS_PLAY_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "vigil/replays/input.h"
#include "vigil/replays/outcome.h"
#include "vigil/replays/result.h"
#include "vigil/replays/scenario.h"

namespace vigil::replays {

// Plays one scenario. It may look at recording.expect to decide what else to check, never to decide how to play. What it returns with the
// verdict kInterrupted, because it saw `stop`, is not handed out, and nothing after it.
using Player = std::function<PlainOutcome(const Recording&)>;

struct PlayOptions {
  int jobs = 1;
  int ahead = 32;                      // records for each job that wait, are being played or wait to be handed out
  std::vector<std::string> only = {};  // ids; empty = every record
};

struct PlayCallbacks {
  std::function<void(const OnRecord&)> read;  // hands out the records, see input.h; on the reading thread
  std::function<Player()> new_player;         // once on each worker thread
  std::function<void(const Result&)> on_result;
  std::function<void()> on_tick;  // may be null; a few times a second while there is something to wait for
};

struct PlaySummary {
  bool stopped = false;                  // before everything was played
  std::vector<std::string> unknown_ids;  // of `only`: no record has them
};

// `stop` may be set by anybody at any time: what is being played is finished and handed out, nothing new is begun. A `read`
// that waits for input must notice it by itself.
PlaySummary PlayAll(const PlayOptions& options, const PlayCallbacks& callbacks, const std::atomic<bool>& stop);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_H_
