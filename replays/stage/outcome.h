// How a scenario went: the part of a runner's outcome that is text. What compares, prints and saves needs no more than
// this; runner.h adds the typed trace.
#ifndef VIGIL_REPLAYS_STAGE_OUTCOME_H_
#define VIGIL_REPLAYS_STAGE_OUTCOME_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vigil/replays/format/scenario.h"
#include "vigil/sim/cluster/job_facts.h"

namespace vigil::replays {

// Thread safety: data.
enum class Verdict {
  kPlayed,        // to its end, however the session fared
  kNotSetUp,      // what it is about could not even be made: `reason` says why. That is a failure like any other
  kRunaway,       // more events or virtual time than its limits
  kDeadlock,      // nobody can run: `reason` says who waits for what
  kCrashed,       // the process that played it died (crash.h); only the outcome that PlayAll makes of that has it
  kInterrupted,   // it was no longer wanted (RunnerOptions::interrupt): not to be judged
  kCannot,        // whoever plays instead of our core cannot play that: `reason` says why. Neither passed nor failed
  kPlayerFailed,  // ... has failed to: it died, answered late or wrongly. `violated` names it (player_client.h)
};

// A player has given no play: there are no events to judge, whatever else may be said of it.
constexpr bool IsWithoutPlay(Verdict verdict) {
  return verdict == Verdict::kCannot || verdict == Verdict::kPlayerFailed;
}

struct Timeline;  // timeline.h

struct PlainOutcome {
  Verdict verdict = Verdict::kPlayed;
  std::string reason;
  std::vector<std::string>
      events;  // the text of the trace, as recordings have it (text.h); of a cluster see job_text.h
  FinalState final;
  std::vector<std::string> messages;  // error texts of USAGE and NAN_LOSS, in order
  std::uint64_t hash = 0;             // over events, choices, switches and virtual times
  std::map<std::string, std::vector<std::string>, std::less<>> choices;  // that were really made
  std::vector<std::string> unused_choices;                               // given, but never asked for
  std::optional<std::vector<std::string>> violated;                      // ids of rules, if they were checked
  std::optional<sim::JobFacts> job;                                      // of a cluster
  std::vector<std::string> nodes;                                        // of a cluster whose text was asked for
  std::vector<std::string> misses;     // of a cluster: where it is not like the recording, a line each
  std::string plays;                   // ... what its plays had in common: JSON (PrintJobExpectation)
  std::string frequencies;             // ... and how often each way was taken, where that was recorded: JSON, a list
  std::shared_ptr<Timeline> timeline;  // if it was asked for
  std::string extra;                   // whatever a player has to tell whoever hears of its results
  std::string why;                     // what led to it, if that was asked for: JSON (ChainJson of show/causes.h)
  std::string explanation;             // of what was violated: indented lines, each ending in a newline
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_STAGE_OUTCOME_H_
