// Marks beside the checkpoints of a model that lives on the servers of a cluster: why the next chief must not go on
// with it (Behaviour::join_live_model), nor save it beside the good checkpoints, but restores the newest of these, or
// initialises.
//
// * "diverged": its loss is NaN. A chief's CheckpointSaverHook makes it when a NanTensorHook of its session sees that,
//   if MonitoredTrainingSession has made the hook (CheckpointSaverHookOptions::in_cluster).
// * "initializing": its variables are initialised, and init_fn has yet to come to its end.
//
// What servers hold outlives the chief that knows of it, so the marks are files. SessionManager makes the second,
// heeds both, and clears them once a model is ready that it has made. LastOneSavesHook heeds both, too.
// Thread safety: pure functions over the file seam. Errors: the file seam's.
#ifndef VIGIL_CORE_CHECKPOINT_MODEL_MARK_H_
#define VIGIL_CORE_CHECKPOINT_MODEL_MARK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"

namespace vigil {

enum class ModelMark : std::uint8_t { kDiverged, kInitializing };

// Makes the directory if there is none. The mark survives a power cut.
absl::Status SetMark(Files& files, const std::string& directory, ModelMark mark);
absl::StatusOr<bool> HasMark(Files& files, const std::string& directory, ModelMark mark);
absl::Status ClearMark(Files& files, const std::string& directory, ModelMark mark);  // fine if there is none
// What the marks of that directory say of the model ("it has diverged", ...); "" if there is none.
absl::StatusOr<std::string> WhyNotToTrust(Files& files, const std::string& directory);

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_MODEL_MARK_H_
