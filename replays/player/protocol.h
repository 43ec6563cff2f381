// The messages of the player protocol (docs/players.md): lines of JSON, written and read.
//
//   > {"type":"hello","protocols":[1]}
//   < {"type":"hello","protocol":1,"name":"tensorflow","version":"2.21.0","kinds":["monitored"],...}
//   > {"type":"play","id":1,"random":true,"scenario":{...}}
//   < {"type":"played","id":1,"verdict":"played","events":[...],"final":{...}}     or {"type":"cannot","id":1,...}
//
// Errors are INVALID_ARGUMENT: what is wrong and where, on one line. Thread safety: pure functions.
#ifndef VIGIL_REPLAYS_PLAYER_PROTOCOL_H_
#define VIGIL_REPLAYS_PLAYER_PROTOCOL_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "vigil/core/base/event.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/replays/stage/outcome.h"
#include "vigil/replays/stage/played.h"

namespace vigil::replays {

inline constexpr std::int64_t kPlayerProtocol = 1;

// What somebody who plays can play. What is not listed is never asked for.
struct Greeting {
  using Words = std::set<std::string, std::less<>>;
  std::string name;  // of the implementation
  std::string version;
  Words kinds;                 // of sessions, and "unit"
  std::optional<Words> hooks;  // none: all
  std::optional<Words> faults;
  Words behaviours;      // "tensorflow", "default", "switches"
  bool typed = false;    // all events come, not only the lines of a recording: rules can be held against them
  Words details;         // the kinds of details that come: "run_part", ...
  std::string hook;      // that "foreign" in a list of hooks stands for; "" = none
  bool choices = false;  // plays by chance, says which choices were made, and plays by given ones

  // "tensorflow 2.21.0"
  std::string Title() const;
};

std::string PrintHello();
std::string PrintGreeting(const Greeting& greeting);
absl::StatusOr<Greeting> ParseGreeting(std::string_view line);

// Why somebody who greets like that cannot play it: "no sessions of kind supervisor"; "" = can.
std::string WhyNotPlayed(const Greeting& greeting, const Scenario& scenario);
// The kinds of events that such a play never shows.
std::vector<EventKind> UnseenBy(const Greeting& greeting);

// What a player says of the hook under verification, which is its own (properties/verify/evidence.h has the words).
struct HookSaid {
  struct Decision {
    std::int64_t life = 0;
    std::int64_t step = 0;
    std::string what;
  };
  struct Offence {
    std::string promise;
    std::string actual;
  };
  // What it asked of the machine, which whoever asks is to judge.
  static constexpr std::string_view kChanges = "changes";
  struct Seen {
    std::string what;    // "clock", "files", "random", "sleep", "thread", "others"; "changes": a file
    std::string name;    // by which function; of "changes" the path
    std::string inside;  // the method that was being called; "" = none
    std::int64_t step = 0;
  };
  std::vector<Decision> decisions;
  std::vector<Offence> offences;
  std::vector<Seen> seen;
  bool may_use_outside = false;
  std::vector<std::string> may_write;
  bool stopped_last_run = false;
  std::string error;  // it could not be made
};

struct PlayRequest {
  std::int64_t id = 0;
  std::int64_t lives = 1;  // sessions one after the other, with the same hooks
  bool random = false;     // a schedule by chance, from the scenario's seed
  std::string scenario;    // one record (print.h)
};
std::string PrintRequest(const PlayRequest& request);
// Somebody asks: a hello (nothing), or a play. The scenario is still to be parsed (ParseRecording).
absl::StatusOr<std::optional<PlayRequest>> ParseRequest(std::string_view line);

std::string PrintAnswer(std::int64_t id, const Scenario& scenario, const PlainOutcome& outcome, const Played& played);
std::string PrintCannot(std::int64_t id, std::string_view reason);

// The answer to the play number `id`: into `outcome` and `played`. FAILED_PRECONDITION: it answers another question;
// INVALID_ARGUMENT: the line is no answer; OUT_OF_RANGE: it is one, and its events make no sense.
// `hook` (may be null): what it says of the hook under verification.
absl::Status ParseAnswer(std::string_view line, std::int64_t id, const Scenario& scenario, PlainOutcome& outcome,
                         Played& played, HookSaid* hook = nullptr);

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAYER_PROTOCOL_H_
