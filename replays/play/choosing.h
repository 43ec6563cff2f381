// Who makes the choices of a play: whom the caller brought, chance, or what the scenario has recorded.
//
// Thread safety: none. Not part of the interface of replays/: used by what plays scenarios.
#ifndef VIGIL_REPLAYS_PLAY_CHOOSING_H_
#define VIGIL_REPLAYS_PLAY_CHOOSING_H_

#include <string>
#include <vector>

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/play/runner.h"
#include "vigil/sim/kernel/chooser.h"

namespace vigil::replays {

class Choosing {
 public:
  // Both need not outlive it, but for options.chooser.
  Choosing(const Scenario& scenario, const RunnerOptions& options);
  Choosing(const Choosing&) = delete;
  Choosing& operator=(const Choosing&) = delete;

  sim::Chooser* chooser() { return chooser_; }
  // Whether there are choices after an unlock, a notification and a spawn, too.
  bool preempt() const { return preempt_; }
  // Recorded choices that were never asked for, then those that were not on offer; of a play that has ended.
  std::vector<std::string> Unused() const;

 private:
  sim::RandomChooser random_;
  sim::ReplayChooser replay_;
  sim::Chooser* chooser_;
  bool preempt_;
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_CHOOSING_H_
