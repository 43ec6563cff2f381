// One play of a hook under verification.
//
// Thread safety: a HookPlayer belongs to one thread; one plays at a time in a process.
#ifndef VIGIL_PROPERTIES_VERIFY_PLAY_HOOK_H_
#define VIGIL_PROPERTIES_VERIFY_PLAY_HOOK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vigil/properties/verify/cases.h"
#include "vigil/properties/verify/evidence.h"
#include "vigil/properties/verify/hook_world.h"
#include "vigil/properties/verify/options.h"
#include "vigil/replays/crew/crash.h"
#include "vigil/replays/play/runner.h"
#include "vigil/replays/player/player_client.h"

namespace vigil {

struct HookPlay {
  std::vector<HookDecision> decisions;
  std::vector<HookOffence> offences;
  bool stopped_last_run = false;        // by the hook
  bool endless = false;                 // a deadlock, or a limit was reached
  std::optional<replays::Crash> crash;  // the process died of it: there is nothing else
  std::string error;                    // the hook could not be made
  bool skipped = false;                 // a player cannot play it: there is nothing else
  std::uint64_t hash = 0;
  std::vector<std::string> events;
};

class HookPlayer {
 public:
  // Both must outlive it.
  HookPlayer(const HookMaker& maker, const VerifyOptions& options)
      : maker_(maker), options_(options), player_(options.player) {}
  HookPlay Play(const HookCase& c);

 private:
  HookPlay PlayElsewhere(const HookCase& c);

  const HookMaker& maker_;
  const VerifyOptions& options_;
  replays::Runner runner_;
  replays::PlayerClient player_;  // if it is a player's hook
};

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_PLAY_HOOK_H_
