// How a destructor ends what was dropped while it still runs.
//
// This header is for core/train. Thread safety: as what is ended.
#ifndef VIGIL_CORE_TRAIN_END_DROPPED_H_
#define VIGIL_CORE_TRAIN_END_DROPPED_H_

#include <exception>
#include <functional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "vigil/core/env/call_guarded.h"
#include "vigil/core/env/env.h"

namespace vigil {

// Calls `here`; but while an exception passes nothing may wait, and unless it `may_wait` otherwise: a task of its own
// then calls `apart`, which keeps what it needs.
inline void EndDropped(const Env& env, std::string_view task, bool may_wait, const std::function<absl::Status()>& here,
                       std::function<absl::Status()> apart) {
  if (!may_wait || std::uncaught_exceptions() > 0) {
    TrySpawn(*env.tasks, task, [apart = std::move(apart)] { CallGuarded(apart).IgnoreError(); }).status().IgnoreError();
    return;
  }
  try {
    CallGuarded(here).IgnoreError();
  } catch (const TaskKilled&) {
    // The process ends (in a simulation): the next call of this task says so again.
  }
}

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_END_DROPPED_H_
