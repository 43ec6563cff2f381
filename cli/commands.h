// The commands of the program `vigil`: each gets its arguments, does its work and returns the exit code.
//
// Exit codes: 0 everything passed, 1 something failed, 2 misuse, input that cannot be read or output that cannot be
// written (whatever else passed or failed), 130 Ctrl-C, 143 SIGTERM, 141 a pipe whose reader went away (the shell's
// name for SIGPIPE).
// Thread safety: called once, on the main thread.
#ifndef VIGIL_CLI_COMMANDS_H_
#define VIGIL_CLI_COMMANDS_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vigil/cli/crew_options.h"
#include "vigil/replays/play/play.h"
#include "vigil/replays/player/player_client.h"

namespace vigil::cli {

inline constexpr int kMostJobs = 1024;

inline constexpr int kPassed = 0;
inline constexpr int kFailed = 1;
inline constexpr int kMisuse = 2;
inline constexpr int kSignalled = 128;  // + the signal

struct ReplayArguments {
  std::vector<std::string> paths;  // FILE or FILE#ID
  std::vector<std::string> only;
  bool trace = false;
  std::optional<double> until_s = std::nullopt;      // of the trace of a cluster: nothing later
  std::vector<std::string> only_nodes = {};          // ... columns of these alone; none = all
  bool numbers = false;                              // ... with the numbers of its events
  std::optional<std::uint64_t> why = std::nullopt;   // what is in the past of the event with this number
  CrewArguments crew = {};                           // of each play by our core
  std::optional<std::uint64_t> seed = std::nullopt;  // of the one play of what a real cluster did; none = see seeds
  int seeds = 0;                                     // plays of what a real cluster did; 0 = the default
  std::string player = {};                           // a command that plays; "" = our core
  std::string player_limit = {};                     // of each play
  bool real = false;                                 // clusters are played by processes, in real time
  std::string keep = {};                             // a folder for what these processes leave; "" = none
  replays::PlayerOptions player_options = {};        // what comes of these four
  std::string plant = {};                            // a planted bug that is on; "" = none
  std::string json;                                  // a file, or "-"; "" = none
  std::string hashes;                                // a file; "" = none
  std::string timeline;                              // a page to look at, of one scenario; "" = none
  std::string perfetto;                              // a Chrome trace of it; "" = none
};
// Whether one scenario is to be shown: then there must be no other.
inline bool LooksAtOne(const ReplayArguments& arguments) {
  return !arguments.timeline.empty() || !arguments.perfetto.empty();
}
int Replay(const ReplayArguments& arguments);

// Their arguments are parsed by themselves.
int Check(const std::vector<std::string>& arguments);

struct PlantedArguments {
  std::vector<std::string> ids;  // all, list, or ids, which commas may join
  int jobs = -1;                 // -1 = one for each core; 0 = in this process
  std::string json;              // a file, or "-"; "" = none
  bool shrink = false;           // the first finding of each
  std::string suite;             // "random" or "cluster": instead of each bug's own
  std::uint64_t most = 0;        // scenarios or jobs that are played for each; 0 = 10,000 or 4,000
};
// Of `vigil check --planted`. Exit code 1 = some bug was missed, or found by another rule than the one that must find
// it; of all bugs also: a rule is needed by none of them and does not say why it stays; with `shrink` also: too large
// in the median, or too slow.
int CheckPlanted(const PlantedArguments& arguments);

int Rules(const std::vector<std::string>& arguments);
int Bench(const std::vector<std::string>& arguments);
int Diff(const std::vector<std::string>& arguments);
int Explore(const std::vector<std::string>& arguments);
// Rules held against what was observed of a program.
int Judge(const std::vector<std::string>& arguments);
int Verify(const std::vector<std::string>& arguments);
int Merge(const std::vector<std::string>& arguments);
int Campaign(const std::vector<std::string>& arguments);
// Our core plays for others, over standard input and output (docs/players.md).
int PlayForOthers(const std::vector<std::string>& arguments);

// What plays the scenarios of `vigil replay`; called once in each worker. Once `interrupt` is set, a play ends early
// (play.h).
replays::Player NewPlayer(const ReplayArguments& arguments, const std::atomic<bool>* interrupt);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_COMMANDS_H_
