// What a hook under verification has leave to do. By default: fetch, look, ask for a stop.
#ifndef VIGIL_PROPERTIES_VERIFY_OPTIONS_H_
#define VIGIL_PROPERTIES_VERIFY_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "vigil/replays/player/player_client.h"

namespace vigil {

struct VerifyOptions {
  bool may_request_stop = true;
  bool may_run_train_op = false;
  bool may_feed = false;                    // what the caller feeds, too
  bool may_wait = false;                    // for minutes
  bool may_fail = false;                    // without a fault: a hook that looks for what is wrong with the model
  bool may_need_session = false;            // End fails without one
  bool may_use_outside = false;             // the machine's clock, files, random numbers, threads
  std::vector<std::string> may_write = {};  // folders, of Env's files

  // Names of tasks that live as long as the process (a writer's).
  std::vector<std::string> service_tasks = {};

  // Random scenarios, besides the enumerated ones; their seeds begin at `seed`.
  std::uint64_t scenarios = 200;
  std::uint64_t seed = 1;
  // Plays only this case: "calm.monitored.alone", "random_17". "" = all.
  std::string only = {};

  // Plays in a process of its own: a crash is a finding, and so is a play that takes more of the processor's time than
  // this, or too much memory. What a hook changes in its process, the test does not see. In a process that has other
  // threads, and with `in_process` (for a debugger), it plays right there, and a crash is one of the caller.
  std::chrono::milliseconds play_limit{5000};
  bool in_process = false;

  // The hook is this player's own (docs/players.md), who knows what it has leave to do.
  replays::PlayerOptions player = {};
};

}  // namespace vigil

#endif  // VIGIL_PROPERTIES_VERIFY_OPTIONS_H_
