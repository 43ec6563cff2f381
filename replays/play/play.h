// Plays many records in several worker processes, and hands out the results in the order of the input.
//
// Reading, parsing and playing happen in processes of their own (crew.h); results are handed out on the caller's side.
// What crashes, does not end, or takes all memory is a result like others. The number of records and results in memory
// is bounded, whatever the input holds.
//
// Thread safety: none. REQUIRES: the process has one thread, or jobs is 0.
#ifndef VIGIL_REPLAYS_PLAY_PLAY_H_
#define VIGIL_REPLAYS_PLAY_PLAY_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "vigil/replays/crew/crash.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/judge/result.h"
#include "vigil/replays/stage/outcome.h"
#include "vigil/replays/traces/input.h"

namespace vigil::replays {

// Plays one scenario. It may look at recording.expect to decide what else to check, never to decide how to play. What
// it returns with the verdict kInterrupted, because it saw that it is to stop, is not handed out, and nothing after it.
using Player = std::function<PlainOutcome(const Recording&)>;

struct PlayOptions {
  int jobs = 1;  // 0: right here, without processes: a crash is one of the caller; the only way to get outcome.timeline
  int ahead = 32;                      // records for each job that wait, are being played or wait to be handed out
  std::vector<std::string> only = {};  // ids; empty = every record
  PlayLimits limits = {};              // of each record
};

struct PlayCallbacks {
  std::function<void(const OnRecord&)> read;  // hands out the records, see input.h; in a process of its own
  // Once in each worker. What it changes nobody else sees: what is to be counted goes into outcome.extra. Players end
  // early, with the verdict kInterrupted, once `interrupt` is set.
  std::function<Player(const std::atomic<bool>* interrupt)> new_player;
  std::function<void(const Result&)> on_result;
  std::function<void()> on_tick;  // may be null; a few times a second while there is something to wait for
};

struct PlaySummary {
  bool stopped = false;                  // before everything was played
  bool given_up = false;                 // the same, after too many crashes
  std::vector<std::string> unknown_ids;  // of `only`: no record has them
};

// `stop` may be set by anybody at any time: what is being played is finished and handed out, nothing new is begun.
PlaySummary PlayAll(const PlayOptions& options, const PlayCallbacks& callbacks, const std::atomic<bool>& stop);

// What is said of a record that crashed. It fails, and has violated a rule of the crash's name.
PlainOutcome CrashedOutcome(const Crash& crash);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_PLAY_H_
