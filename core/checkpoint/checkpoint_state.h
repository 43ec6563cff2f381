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
  std::vector<double> all_model_checkpoint_timestamps;  // seconds since the Unix epoch, as many as paths, or none
  std::optional<double> last_preserved_timestamp;       // seconds likewise
  // No file says this: it is what lies in the directory (FindCheckpoints). Nobody knows which of it a saver may delete.
  bool found = false;
};

inline constexpr std::string_view kDefaultStateFile = "checkpoint";

// A timestamp of a state file, whatever number stands there: what is no time (negative, NaN) is 1970, what is too late
// is the latest.
Time TimeOfTimestamp(double seconds);

// Warns that the file at `path` says nothing, and why.
void WarnOfIgnoredState(const Env& env, const std::string& path, const absl::Status& why);

// nullopt: no file, or one whose bytes are no state (a warning is logged). USAGE "Invalid checkpoint state loaded from
// ..." for one without a model path (an empty file). What keeps it from being read is the error. Relative paths come
// back with the directory prepended.
absl::StatusOr<std::optional<CheckpointState>> GetCheckpointState(const Env& env, const std::string& directory,
                                                                  std::string_view state_file = kDefaultStateFile);

// What the state file of `directory` is to say: model_checkpoint_path appended to all_... if it is not the last, paths
// relative to the directory where `relative_paths` asks for it or the directory itself is relative. USAGE "Checkpoint
// timestamps, if provided, must match checkpoint paths ...".
absl::StatusOr<CheckpointState> GenerateCheckpointState(const std::string& directory, CheckpointState state,
                                                        bool relative_paths = false);

struct UpdateStateOptions {
  bool relative_paths = false;
  std::string_view state_file = kDefaultStateFile;
  bool synced = false;  // before it gets its name: then it survives a power cut whole
};
// Replaces the state file by that, atomically. USAGE "Save path ... conflicts with path used for checkpoint state. ..."
absl::Status UpdateCheckpointState(const Env& env, const std::string& directory, CheckpointState state,
                                   const UpdateStateOptions& options = {});

// The newest checkpoint by the state file, if its files are there (else an error is logged); nullopt: none. Errors as
// GetCheckpointState.
absl::StatusOr<std::optional<std::string>> LatestCheckpoint(const Env& env, const std::string& directory,
                                                            std::string_view state_file = kDefaultStateFile);

// Whether a checkpoint of that prefix exists: its .index; or of TensorFlow's first format a file of that very name, or
// one that "model-7-?????-of-00002" stands for. Errors as Exists.
absl::StatusOr<bool> CheckpointExists(const Env& env, const std::string& prefix);

// When each was written. Those that are gone are left out: there may be fewer times than prefixes. The file seam's
// errors.
absl::StatusOr<std::vector<Time>> GetCheckpointMtimes(const Env& env, const std::vector<std::string>& prefixes);

inline constexpr std::string_view kDefaultMetaGraphSuffix = "meta";
// "<prefix>.meta"; of "<prefix>-?????-of-00003" and the like (a sharded checkpoint's other name) too.
std::string MetaGraphFileName(std::string_view prefix, std::string_view suffix = kDefaultMetaGraphSuffix);

// Removes a checkpoint's files, as far as they are there: meta graph, index, data, in this order (without its index it
// is no checkpoint any more). With `synced` no power cut brings the index back without its data. The file seam's
// errors; what comes after the failure is then still there.
absl::Status RemoveCheckpoint(Files& files, const std::string& prefix, bool synced = false,
                              std::string_view meta_graph_suffix = kDefaultMetaGraphSuffix);

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_CHECKPOINT_STATE_H_
