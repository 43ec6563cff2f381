// Who makes the choices of a play: whom the caller brought, chance, or what the scenario has recorded.
//
// Thread safety: none. Not part of the interface of replays/: used by what plays scenarios.
#ifndef VIGIL_REPLAYS_PLAY_PLAY_CHOOSER_H_
#define VIGIL_REPLAYS_PLAY_PLAY_CHOOSER_H_

#include <string>
#include <vector>

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/kernel/chooser.h"

namespace vigil::replays {

// Where the tasks of its schedule by chance also lose the processor: those of one job in eight do, at calls or, of
// every other one, at spins, too.
sim::Preempt PreemptsByChance(const Scenario& scenario);

class PlayChooser {
 public:
  // Both need not outlive it, but for options.chooser.
  PlayChooser(const Scenario& scenario, const RunnerOptions& options);
  PlayChooser(const PlayChooser&) = delete;
  PlayChooser& operator=(const PlayChooser&) = delete;

  sim::Chooser* chooser() { return chooser_; }
  sim::Preempt preempt() const { return preempt_; }
  // The chance that a task stands still for a while at such a call.
  double stalls() const { return stalls_; }
  // Recorded choices that were never asked for, then those that were not on offer; of a play that has ended.
  std::vector<std::string> Unused() const;

 private:
  sim::RandomChooser random_;
  sim::ReplayChooser replay_;
  sim::Chooser* chooser_;
  sim::Preempt preempt_;
  double stalls_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_PLAY_CHOOSER_H_
