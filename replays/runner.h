// The one runner: plays a scenario in a simulated world, with the production session layer, and says what happened.
//
// It never sees what is expected. Thread safety: a Runner belongs to one thread; several may run at once.
#ifndef VIGIL_REPLAYS_RUNNER_H_
#define VIGIL_REPLAYS_RUNNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vigil/replays/scenario.h"
#include "vigil/sim/chooser.h"
#include "vigil/sim/trace.h"

namespace vigil::replays {

enum class Verdict {
  kPlayed,       // to its end, however the session fared
  kUnsupported,  // needs something that is not built yet: `reason` names it
  kRunaway,      // more events or virtual time than its limits
  kDeadlock,     // nobody can run: `reason` says who waits for what
};

struct Outcome {
  Verdict verdict = Verdict::kPlayed;
  std::string reason;
  std::vector<std::string> events;  // the text of the trace, as recordings have it (text.h)
  FinalState final;
  std::vector<std::string> messages;  // error texts of USAGE and NAN_LOSS, in order
  std::uint64_t hash = 0;             // over events, choices, switches and virtual times
  sim::Trace trace;                   // the typed events, all tasks
  std::map<std::string, std::vector<std::string>, std::less<>> choices;  // that were really made
  std::vector<std::string> unused_choices;                               // given, but never asked for
};

struct RunnerOptions {
  // Schedules by chance from scenario.seed; else by scenario.choices, calm where they are silent.
  bool random_schedule = false;
};

class Runner {
 public:
  Runner();
  ~Runner();
  Outcome Run(const Scenario& scenario, const RunnerOptions& options = {});

 private:
  struct Shared;  // what consecutive worlds reuse: fiber stacks
  std::unique_ptr<Shared> shared_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_RUNNER_H_
