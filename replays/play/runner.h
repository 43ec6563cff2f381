// The one runner: plays a scenario in a simulated world, with the production session layer, and says what happened; or
// has it played by somebody else (PlayerOptions), who says it in the same words.
//
// It never sees what is expected, judges nothing and draws nothing: stage/played.h.
// Thread safety: a Runner belongs to one thread; several may run at once.
#ifndef VIGIL_REPLAYS_PLAY_RUNNER_H_
#define VIGIL_REPLAYS_PLAY_RUNNER_H_

#include <atomic>
#include <memory>
#include <string>

#include "vigil/replays/format/scenario.h"
#include "vigil/replays/player/player_client.h"
#include "vigil/replays/stage/outcome.h"
#include "vigil/replays/stage/played.h"
#include "vigil/sim/kernel/chooser.h"
#include "vigil/sim/kernel/steps.h"
#include "vigil/sim/world.h"

namespace vigil::replays {

struct Outcome : PlainOutcome, Played {
  std::string written_trace;  // a file for ParseTrace
};

struct ForeignHook;  // builtin_hooks.h

struct RunnerOptions {
  // Schedules by chance from scenario.seed; else by scenario.choices, calm where they are silent.
  bool random_schedule = false;
  // Chooses instead of both. Borrowed.
  sim::Chooser* chooser = nullptr;
  // Is told what the tasks do (sim/kernel/steps.h). Borrowed; may be null.
  sim::StepObserver* steps = nullptr;
  // Choices of that kind among scenario.choices say the same: what was found so is played so again.
  sim::Preempt preempt = sim::Preempt::kNowhere;
  // Borrowed; may be null. Once it is set, the play ends with the verdict kInterrupted.
  const std::atomic<bool>* interrupt = nullptr;
  // Of a cluster under a schedule by chance, in one seed of eight: whoever may lose the processor may lose it for up to
  // a second. No machine on which something was recorded does that each few milliseconds.
  bool stalls = true;
  // The session writes its trace; it comes back in the outcome.
  bool write_trace = false;
  // Of a cluster: some jobs are played once more without their faults (outcome.quiet), for whoever judges them.
  bool quiet = true;
  // Of a cluster: its messages are written down (outcome.message_log), for whoever draws them.
  bool log_messages = false;
  // Of a cluster: the points of its course are written down (outcome.course), for whoever puts faults there.
  bool log_course = false;
  // The hook of the scenario's list that is not described there. Borrowed.
  const ForeignHook* foreign = nullptr;
};

Verdict VerdictOf(sim::WorldVerdict verdict);

class Runner {
 public:
  // `player`: plays instead of our core. Then no chooser, observer, foreign hook, trace or log of a cluster can be had,
  // and the REQUIRES of player_client.h hold.
  explicit Runner(const PlayerOptions& player = {});
  ~Runner();
  // Whether it is our core that plays.
  bool is_our_core() const { return player_ == nullptr; }
  // Whether what was played by chance can be played again by its choices. Starts a player, to ask it.
  bool PlaysChoices(const std::atomic<bool>* interrupt = nullptr);
  Outcome Run(const Scenario& scenario, const RunnerOptions& options = {});

 private:
  struct Shared;  // what consecutive worlds reuse: fiber stacks
  std::unique_ptr<Shared> shared_;
  const PlayerOptions options_;
  std::unique_ptr<PlayerClient> player_;  // null: our core
};

}  // namespace vigil::replays

#endif  // VIGIL_REPLAYS_PLAY_RUNNER_H_
