// tf.train.CheckpointSaverListener: acts before and after each checkpoint that a CheckpointSaverHook saves.
//
// Thread safety: called from the task that uses the session only, also where saves are written beside the training. An
// error fails the phase of the hook; an exception counts as an error of code OTHER. Source: basic_session_run_hooks.py.
#ifndef VIGIL_CORE_TRAIN_HOOKS_CHECKPOINT_SAVER_LISTENER_H_
#define VIGIL_CORE_TRAIN_HOOKS_CHECKPOINT_SAVER_LISTENER_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/session/session.h"
#include "vigil/core/train/session_run_hook.h"

namespace vigil {

class CheckpointSaverListener {
 public:
  virtual ~CheckpointSaverListener() = default;
  // For events and reports; "" is fine.
  virtual std::string_view name() const { return ""; }

  // Once, while the graph may still change.
  virtual absl::Status Begin(BeginContext&) { return absl::OkStatus(); }
  virtual absl::Status BeforeSave(Session&, std::int64_t global_step) {
    static_cast<void>(global_step);
    return absl::OkStatus();
  }
  // The checkpoint is there, whole. (With async_saves some runs later, in AfterRun, at the end, or in the next
  // session.) True: training should stop. Heeded for the saves that a run triggers only, not for the first one nor the
  // last.
  virtual absl::StatusOr<bool> AfterSave(Session&, std::int64_t global_step) {
    static_cast<void>(global_step);
    return false;
  }
  // When the session is left cleanly, after the last save; also if there was none to make.
  virtual absl::Status End(Session&, std::int64_t global_step) {
    static_cast<void>(global_step);
    return absl::OkStatus();
  }
};

using CheckpointSaverListenerPtr = std::shared_ptr<CheckpointSaverListener>;

}  // namespace vigil

#endif  // VIGIL_CORE_TRAIN_HOOKS_CHECKPOINT_SAVER_LISTENER_H_
