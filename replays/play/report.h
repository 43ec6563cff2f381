// The one reporter: what a person, a pipeline and a script get to see of a series of results.
//
// What is printed depends on the results and their order only: not on time, number of jobs or terminal. Text from files
// is escaped: it can neither move a cursor nor forge a line.
//
// Thread safety: belongs to one thread.
#ifndef VIGIL_REPLAYS_PLAY_REPORT_H_
#define VIGIL_REPLAYS_PLAY_REPORT_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "vigil/replays/format/json_writer.h"
#include "vigil/replays/judge/result.h"

namespace vigil::replays {

// After so many failures in full, each further one is a single line.
inline constexpr std::size_t kFullFailures = 20;

// What `vigil replay` needs besides a file, to play it as it was played.
struct ReplayHow {
  std::string plant = {};       // the planted bug that was on (only builds of the preset dev have them); "" = none
  std::string seeds = {};       // of what real clusters did: "--seed 7" or "--seeds 9"; "" = the default
  std::string player = {};      // the command that played; "" = our core
  bool real = false;            // processes did
  std::string play_limit = {};  // of each play, "5s"; "" = the default
};

// The shell line; `words` are quoted already.
std::string ReplayCommand(std::string_view words, const ReplayHow& how);
// ... that plays one scenario of a file again.
std::string ReplayLine(const Result& result, const ReplayHow& how = {});

// A failure in full, every line with its newline; the last one is the replay line.
//   FAILED <id>: <title>
//     <file>:<line>
//     <reason>
//     <difference>
//     ./vigil replay <file> --only <id>
std::string FailureText(const Result& result, const ReplayHow& how = {});

struct ReportOptions {
  bool trace = false;   // the events of every scenario
  bool json = false;    // collect Json()
  bool hashes = false;  // collect Hashes()
  ReplayHow how = {};   // all were played
};

class Reporter {
 public:
  using Print = std::function<void(std::string_view)>;

  // `out` gets traces, failures and the summary; `err` gets a line for everything that cannot be read, and notes.
  Reporter(ReportOptions options, Print out, Print err);

  void Add(const Result& result);
  // Prints what the counts need to be understood (of what was not played, the reasons), then "N passed, N failed" alone
  // on a line.
  void Finish(bool interrupted, bool given_up = false);

  std::size_t passed() const { return passed_; }
  std::size_t failed() const { return failed_; }
  std::size_t unreadable() const { return unreadable_; }
  std::size_t not_played() const { return not_played_; }

  // {"passed":..,"failed":..,"unreadable":..,"interrupted":..,"scenarios":[..]}, "given_up" if it was; a scenario
  // a line: {"id","file","record","status","verdict","hash","reason","first_difference","unused_choices"}. REQUIRES:
  // after Finish, once.
  std::string TakeJson();
  // A line "ID HASH" for each scenario that was played, in order. REQUIRES: once.
  std::string TakeHashes();

 private:
  void PrintFailure(const Result& result);
  void AddToJson(const Result& result);

  ReportOptions options_;
  Print out_;
  Print err_;
  std::size_t passed_ = 0;
  std::size_t failed_ = 0;
  std::size_t unreadable_ = 0;
  std::size_t not_played_ = 0;
  std::map<std::string, std::size_t> reasons_;  // why they were not played
  bool interrupted_ = false;
  bool given_up_ = false;
  JsonWriter scenarios_;
  std::string hashes_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_REPORT_H_
