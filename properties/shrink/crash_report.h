// Scenarios that end the process: found again, shrunk, told. Each is played in a process of its own.
//
// Two plays crash alike if kind and innermost frames are the same (replays/crew/crash.h): shrinking does not slip to
// another mistake.
// Thread safety: none. REQUIRES: the process has one thread.
#ifndef VIGIL_PROPERTIES_SHRINK_CRASH_REPORT_H_
#define VIGIL_PROPERTIES_SHRINK_CRASH_REPORT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "vigil/properties/shrink/choice_log.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/format/scenario.h"
#include "vigil/sim/kernel/chooser.h"
#include "vigil/sim/kernel/steps.h"

namespace vigil::properties {

// What one play may take once it is known that it crashes, or hangs: less than in a campaign, where a slow one is no
// finding.
replays::PlayLimits LimitsOfOnePlay();

// Whether `rule` is of a crash that takes too much: crash.timeout, crash.memory. It is one under some limits only, and
// the least such scenario would be one that hardly is.
bool TakesTooMuch(std::string_view rule);

// How the play by the choices of `chooser` crashes, which are written down; nothing if it does not.
std::optional<replays::Crash> CrashBy(const replays::Scenario& scenario, sim::Chooser& chooser, sim::Preempt preempt,
                                      ChoiceLog& log, const std::function<bool()>& on_tick,
                                      sim::StepObserver* steps = nullptr);

struct LeastCrash {
  replays::Scenario scenario;           // the least that crashes in the same way, or that which was given
  std::optional<replays::Crash> crash;  // of it, maybe of another rule; nothing: played alone it did not crash
  std::uint64_t plays = 0;
  std::size_t before = 0;  // elements
  bool shrunk = false;
  bool minimal = false;
};

struct CrashToShrink {
  std::string rule;     // of the crash that is looked into; of what crashes in another way nothing is left out
  bool drawn = false;   // it was played by chance, from its seed: its choices are put into the scenario
  bool shrink = false;  // else it is only found again
  replays::PlayLimits limits = LimitsOfOnePlay();
};
// Plays it with the judging of it. `stop` is asked before each play, and while one lasts.
LeastCrash ShrinkCrash(const replays::Scenario& crashing, const CrashToShrink& how, const std::function<bool()>& stop);

}  // namespace vigil::properties

#endif  // VIGIL_PROPERTIES_SHRINK_CRASH_REPORT_H_
