// The text file "checkpoint" in a checkpoint directory: which checkpoints exist, which is the newest.
// Format: TensorFlow's CheckpointState in protocol-buffer text. Source: checkpoint_management.py.
// Thread safety: pure functions over the file seam.
#ifndef VIGIL_CORE_CHECKPOINT_CHECKPOINT_STATE_H_
#define VIGIL_CORE_CHECKPOINT_CHECKPOINT_STATE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"

namespace vigil {

struct CheckpointState {
  std::string model_checkpoint_path;                    // absolute, or relative to the directory in the file only
  std::vector<std::string> all_model_checkpoint_paths;  // last = newest
  std::vector<double> all_model_checkpoint_timestamps;
  std::optional<double> last_preserved_timestamp;
};

inline constexpr std::string_view kDefaultStateFile = "checkpoint";

// nullopt: no file, or an unreadable one (a warning is logged). USAGE "Invalid checkpoint state loaded from ..." for one
// without a model path (an empty file). Relative paths come back with the directory prepended.
absl::StatusOr<std::optional<CheckpointState>> GetCheckpointState(const Env& env, const std::string& directory,
                                                                  std::string_view state_file = kDefaultStateFile);

// Replaces the state file atomically. Appends model_checkpoint_path to all_... if it is not the last.
absl::Status UpdateCheckpointState(const Env& env, const std::string& directory, CheckpointState state,
                                   bool relative_paths, std::string_view state_file = kDefaultStateFile);

// Whether a checkpoint of that prefix exists (its .index, or a file of that very name).
bool CheckpointExists(const Env& env, const std::string& prefix);

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_CHECKPOINT_STATE_H_
