// Restoring from a directory: the newest checkpoint that is whole.
//
// As TensorFlow does it (`fallback` off) that is the one that the state file names, or an error. With `fallback` a
// checkpoint whose files are missing or damaged is passed over with a warning, and the one before is restored; a state
// file that is empty or damaged is replaced by what is in the directory. A checkpoint that is whole but does not fit
// the graph is an error either way, and so is whatever keeps files from being read (no descriptors, an I/O error, no
// permission): going back to an older checkpoint for that would lose training.
// Thread safety: as the saver.
// Source: session_manager.py (_restore_checkpoint).
#ifndef VIGIL_CORE_CHECKPOINT_RESTORE_NEWEST_H_
#define VIGIL_CORE_CHECKPOINT_RESTORE_NEWEST_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/env/env.h"
#include "vigil/core/session/session.h"

namespace vigil {

// GetCheckpointState; but without `fallback` what keeps the file from being read is a warning, and there is none. With
// `fallback`, where that file is there but says nothing: the checkpoints in the directory
// ("<name>-<step>.index"), the newest last; nullopt if there are none. Those "<x>.ckpt-<step>" belong to the state file
// "checkpoint_<x>", where that is there (CheckpointInputPipelineHook), all others to the default one.
absl::StatusOr<std::optional<CheckpointState>> FindCheckpoints(const Env& env, const std::string& directory,
                                                               bool fallback,
                                                               std::string_view state_file = kDefaultStateFile);

// Restores state.model_checkpoint_path; with `fallback`, where that is not whole, the newest of the others that is. If
// none is, the error is that of the newest. The saver then knows all of the state's checkpoints; of a state that was
// only found, the one it has restored: it does not delete what may be another's, or kept for good. `missing`:
// Saver::RestoreMissingLast.
absl::Status RestoreNewest(const Env& env, Saver& saver, Session& session, const CheckpointState& state, bool fallback,
                           const std::vector<std::string>& missing = {});

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_RESTORE_NEWEST_H_
