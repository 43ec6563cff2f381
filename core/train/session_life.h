// What a monitored session remembers across its raw sessions: stop requests, recoveries, what is left of the grace
// period. This header is for core/train itself. Thread safety: the task that uses the session only.
#ifndef VIGIL_CORE_TRAIN_SESSION_LIFE_H_
#define VIGIL_CORE_TRAIN_SESSION_LIFE_H_

#include <string>
#include <vector>

#include "vigil/core/base/behaviour.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/stop_request.h"
#include "vigil/core/train/recovery_policy.h"

namespace vigil {

struct SessionLife {
  Behaviour behaviour = Behaviour::Default();
  Duration stop_grace_period = std::chrono::seconds(120);
  Duration give_up_recovery_after = RecoveryPolicy::kGiveUpAfter;
  StopRequestPtr stop;  // from outside of the session; null: nobody can ask

  bool stop_requested = false;  // no further run
  bool stop_pending = false;    // requested in an attempt that failed: counts once the call is over
  std::string stopped_by;       // who asked, for messages

  int recoveries = 0;
  Duration grace_used{0};               // by tasks that did not end in time
  std::vector<std::string> stragglers;  // their names
  bool creating = false;                // a raw session is being made, hooks may be told of it

  // What was asked for in an attempt that failed counts from now on: the call as a whole is over.
  void SettleStop() {
    if (stop_pending) stop_requested = true;
    stop_pending = false;
  }
  void RequestStop(std::string who) {
    stop_requested = true;
    if (stopped_by.empty()) stopped_by = std::move(who);
  }
};

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SESSION_LIFE_H_
