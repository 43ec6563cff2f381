// tf.train.basic_train_loop: trains with a supervisor until somebody stops it, again after each preemption.
//
// Thread safety: as Supervisor::ManagedSession. Source: basic_loops.py.
#ifndef VIGIL_CORE_TRAIN_SUPERVISOR_BASIC_TRAIN_LOOP_H_
#define VIGIL_CORE_TRAIN_SUPERVISOR_BASIC_TRAIN_LOOP_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "vigil/core/train/supervisor/supervisor.h"

namespace vigil {

// Calls `train_step_fn` in a managed session until the supervisor should stop. ABORTED (and no other error) of the
// scope begins anew: with a new session, at once, without limit.
absl::Status BasicTrainLoop(Supervisor& supervisor, const std::function<absl::Status(Session&)>& train_step_fn,
                            const std::string& master = "");

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_SUPERVISOR_BASIC_TRAIN_LOOP_H_
