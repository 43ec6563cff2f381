// The campaign behind `vigil check`: plays recorded and random scenarios and holds every rule against each of them.
//
// Suite saved: plays what failed before and was saved: it passes once it has been mended.
// Suite recorded: plays the recordings, compares the events with what was recorded and with what the reference model
// says, checks the rules; what real clusters did is held against several plays, as `vigil replay` does, and no rule
// against it. What cannot even be set up has failed.
// Suite regressions: compares the pairs of scenarios, one for each behaviour, that show the switches of Behaviour. No
// rule is held against them: many rules say what TensorFlow does.
// Suite random: plays one scenario for each seed under a random schedule, then once more by the choices that were made:
// both must have the same hash, and the events must be what the reference model says (what it does not model is
// counted). Fails also if no scenario ever armed some rule, or met a fault at some seam. Suite explore: every scenario
// of a small scope, as `vigil explore` does (explore.h).
// Suite cluster: plays one job for each seed (generators/jobs.h) under a random schedule and network, then by its
// choices, as the suite random does, and holds the invariants of sim/checkers against it, and the rules against the
// sessions of its tasks (node_rules.h). Fails also if some kind of fault never fired.
// What violates a rule is shrunk (the first of each rule) and saved as a scenario file, with its choices and the rule:
// `vigil replay` of it fails until it is mended.
//
// Thread safety: a Campaign belongs to one thread; it plays on others.
#ifndef VIGIL_PROPERTIES_CAMPAIGN_CHECK_H_
#define VIGIL_PROPERTIES_CAMPAIGN_CHECK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vigil/core/base/time.h"
#include "vigil/core/env/files.h"
#include "vigil/properties/campaign/cluster_tally.h"
#include "vigil/properties/explore/explore.h"
#include "vigil/properties/judge/tally.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/player/player_client.h"

namespace vigil::properties {

struct CheckOptions {
  bool saved = false;                    // first of all, what failed before and lies in `failures`
  std::vector<std::string> recordings;   // files and folders of the suite recorded; none = it is left out
  std::vector<std::string> regressions;  // as recordings, of the suite regressions
  bool random = true;
  std::optional<ExploreScope> explore = std::nullopt;
  bool cluster = false;
  bool real_cluster = false;  // by player.task_program
  std::int64_t kills = 0;     // in each of its jobs (real_jobs.h); 0 = what the seed says
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 1;
  std::uint64_t first_job = 1;  // seeds of the suites cluster and real-cluster
  std::uint64_t last_job = 1;
  // Each drawn suite goes on with further seeds, after its last, until it has gone on for so long.
  Duration time{0};
  std::uint64_t shard = 1;  // of each suite but saved, every shards-th scenario
  std::uint64_t shards = 1;
  int jobs = 1;                       // 0: no processes, a crash is one of the caller (replays/crew/crew.h)
  replays::PlayLimits limits = {};    // of each scenario; what takes more is a finding
  std::string failures = "failures";  // folder, made when there is something to save
  std::string plant = {};             // the planted bug that is on: lines that replay a failure name it
  // Who plays. What it cannot play is counted by reason; that some rule was never armed is then no failure.
  replays::PlayerOptions player = {};
};

// Enough to see, save and replay it.
struct CheckFailure {
  std::string suite;  // its name, see suites.h
  std::string id;     // of the scenario
  std::string rule;   // the first that it violates; "" = none: `text` says what is wrong
  std::string text;   // lines, each with its newline; the last is the line that replays it
  std::string file;   // where it was saved; "" = nowhere
  // What led to the violation: JSON (ChainJson of replays/show/causes.h); "" = nothing is known.
  std::string why = {};
  std::string story = {};       // the scenario that was saved, in one line (scenario_summary.h); "" = nothing was
  std::string record = {};      // ... as the file has it, a line of JSON without its newline; "" = nothing was
  std::string line = {};        // the last of `text`, if that is the line that replays it; else ""
  std::string play_limit = {};  // what that line says of it (ReplayHow::play_limit)
};

struct SuiteCount {
  std::uint64_t passed = 0;
  std::uint64_t failed = 0;
  std::uint64_t unreadable = 0;
  // Of those that failed, the ids of some that no failure tells of; how many there are.
  std::vector<std::string> untold;
  std::uint64_t untold_count = 0;
  std::map<std::string, std::uint64_t> not_played;  // by the player: why, and how many
  bool given_up = false;                            // after too many crashes: the rest was not played
  // Of a drawn suite, the first and the last seed that was played; none if nothing was.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> seeds;
  std::uint64_t played() const { return passed + failed; }
};

// Seeds or plays, and how many pairs (coverage.h) were reached by then: at each doubling, and at the end.
using ReachedCurve = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// What became of a corpus (corpus.h) in a campaign.
struct CorpusCount {
  std::uint64_t opened = 0;  // scenarios that had been kept before
  std::uint64_t kept = 0;    // in the end, the least that reach the same
  std::uint64_t pairs = 0;
  std::uint64_t first_failure = 0;  // the play that showed it, from 1; 0 = none
  ReachedCurve curve;               // over plays
};

struct CheckSummary {
  std::map<std::string, SuiteCount> suites;
  std::map<std::string, CorpusCount> corpora;  // by suite
  Tally tally;                                 // of all suites but cluster
  ClusterTally cluster;
  std::vector<std::string> incomplete;  // rules never armed, seams never met by a fault: each fails the check
  bool enough = true;                   // scenarios, for what is incomplete to fail the check
  bool stopped = false;
  std::uint64_t passed() const;
  std::uint64_t failed() const;  // scenarios and what is incomplete
  std::uint64_t unreadable() const;
  bool given_up() const;  // some suite: then no campaign has passed
};

struct CheckCallbacks {
  std::function<void(const CheckFailure&)> on_failure;                     // the first kFullFailures of each rule
  std::function<void(const std::string&)> on_error;                        // what cannot be read or written; one line
  std::function<void(std::string_view suite, const SuiteCount&)> on_tick;  // a few times a second
  std::function<Time()> now;  // REQUIRED with CheckOptions::time, a keeper, corpora; called on another thread
  // The corpus of that suite has got something new; not often. May be empty.
  std::function<void(std::string_view suite)> on_corpus;
};

// So many failures of one rule are explained and saved; the others are counted.
inline constexpr std::uint64_t kFullFailures = 5;
inline constexpr std::size_t kMostFullFailures = 25;  // of all rules together
inline constexpr std::size_t kMostUntold = 20;        // ids of others, of a suite
// With fewer random scenarios than this (without that suite: fewer recorded ones), what is incomplete is reported but
// fails nothing. The rarest rule is armed by one random scenario in two thousand.
inline constexpr std::uint64_t kEnoughRandom = 10'000;
inline constexpr std::uint64_t kEnoughRecorded = 2000;
// So many jobs must show every kind of fault and arm every invariant.
inline constexpr std::uint64_t kEnoughJobs = 2000;

// Where what has been found is kept, to go on from there: shard_keeper.h.
class ShardKeeper;
// Scenarios that are worth playing again, by suite: corpus.h.
class Corpus;
using Corpora = std::map<std::string, Corpus, std::less<>>;

// `stop` may be set at any time: what is being played is finished, nothing new is begun. With a keeper (borrowed; its
// suites are the drawn ones of the options) it goes on where that got to, and failures that are told are all shrunk, by
// a number of plays and not by time, so that every shard comes to the same. REQUIRES then: one shard, no time, no
// corpora. With corpora (borrowed) their suites play what these draw, in rounds, and add what is new: the same whatever
// the number of jobs.
CheckSummary RunCheck(const CheckOptions& options, Files& files, const CheckCallbacks& callbacks,
                      const std::atomic<bool>& stop, ShardKeeper* keeper = nullptr, Corpora* corpora = nullptr);

// What fails a campaign as a whole: fills in `incomplete` and `enough` by what was counted. `random`, `cluster`: which
// of the drawn suites were played.
void FindIncomplete(CheckSummary& summary, bool random, bool cluster);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_CAMPAIGN_CHECK_H_
