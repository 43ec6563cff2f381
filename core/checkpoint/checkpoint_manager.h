// tf.train.CheckpointManager: numbered checkpoints in one directory, with a memory that survives restarts.
//
// All that is too many goes at each save, but one for every keep_checkpoint_every_n_hours, which then is preserved for
// good. The state file holds when each checkpoint was written and when the last one was preserved; a new manager goes
// on from there. Checkpoints that another writer left are listed in no state file, or preserved: they are never
// deleted.
// Thread safety: one task at a time. Errors: USAGE in TensorFlow's words; as Saver.
// Source: checkpoint_management.py (CheckpointManager).
#ifndef VIGIL_CORE_CHECKPOINT_CHECKPOINT_MANAGER_H_
#define VIGIL_CORE_CHECKPOINT_CHECKPOINT_MANAGER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/checkpoint/keeper.h"
#include "vigil/core/checkpoint/saver.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/builder.h"

namespace vigil {

// TensorFlow's save_counter: a variable that counts the saves and is saved with the model.
struct SaveCounter {
  Output value;  // int64
  NodeId increment = kNoNode;
};
// Makes the variable "save_counter", which begins at 0, before the saver is built. Errors: those of the builder.
absl::StatusOr<SaveCounter> MakeSaveCounter(Builder& b);

struct CheckpointManagerOptions {
  std::string directory;
  std::optional<std::int64_t> max_to_keep = {};              // nullopt: all
  std::optional<double> keep_checkpoint_every_n_hours = {};  // nullopt and 0: none is preserved
  std::string checkpoint_name = "ckpt";
  // A save is made only when step_counter has gone on by as much since the last one.
  std::optional<std::int64_t> checkpoint_interval = {};
  std::optional<Output> step_counter = {};
  std::optional<std::int64_t> last_checkpoint_step = {};
  std::function<absl::Status(Session&)> init_fn = {};  // of RestoreOrInitialize, without a checkpoint
  // Numbers are those of this counter, as TensorFlow's are: a process that does not restore begins at 1 again and
  // writes over what is there. Without one they go on from the newest checkpoint in the directory.
  std::optional<SaveCounter> save_counter = {};
};

class CheckpointManager {
 public:
  // `saver` writes and reads; it is built, and what it keeps does not matter. USAGE "Expected a positive integer or
  // `None` for `max_to_keep`, got 0."; "`step_counter` should be passed if `checkpoint_interval` is not None."; as
  // GetCheckpointState.
  static absl::StatusOr<std::unique_ptr<CheckpointManager>> Create(const Env& env, SaverPtr saver,
                                                                   CheckpointManagerOptions options);

  // Writes "<directory>/<name>-<number>"; without a number the one after the last, or the counter's (which counts saves
  // with a number, too). Returns its prefix; nullopt if the step is the last save's, or `check_interval` and it has not
  // gone on by the interval.
  absl::StatusOr<std::optional<std::string>> Save(Session& session, std::optional<std::int64_t> number = {},
                                                  bool check_interval = true);
  // The prefix that was restored; nullopt: there was none, and init_fn was called. NOT_FOUND for one that is not there
  // any more.
  absl::StatusOr<std::optional<std::string>> RestoreOrInitialize(Session& session);

  const std::string& directory() const { return options_.directory; }
  const std::optional<std::int64_t>& checkpoint_interval() const { return options_.checkpoint_interval; }
  const std::optional<std::string>& latest_checkpoint() const { return latest_; }
  std::vector<std::string> checkpoints() const;  // oldest first, without the preserved ones

 private:
  CheckpointManager(const Env& env, SaverPtr saver, CheckpointManagerOptions options)
      : env_(env), saver_(std::move(saver)), options_(std::move(options)) {}
  absl::Status Recover();
  absl::StatusOr<std::int64_t> Step(Session& session) const;
  absl::StatusOr<std::int64_t> NextNumber(Session& session) const;
  absl::Status WriteState() const;
  void Sweep();

  const Env env_;
  const SaverPtr saver_;
  const CheckpointManagerOptions options_;
  std::optional<std::string> latest_;
  std::optional<std::int64_t> last_step_;
  std::int64_t last_number_ = 0;
  Time last_preserved_;
  std::vector<KeptCheckpoint> active_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_CHECKPOINT_MANAGER_H_
