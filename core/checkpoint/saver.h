// tf.train.Saver: writes variables to checkpoints, keeps the newest, restores.
//
// Build() adds save and restore ops to the graph and notes them as well-known calls; Save and Restore run them through a raw
// session and look after the state file. A monitored session is not a Session: it cannot be passed (does not compile).
// Not there yet: the ".meta" file (there is no GraphDef yet), further shards, keeping one checkpoint every few hours, padded
// step numbers, reshaping, a state file of another name.
// Thread safety: one task at a time. Ownership: the graph must outlive the saver.
// Source: saver.py (Saver, BaseSaverBuilder), checkpoint_management.py.
#ifndef VIGIL_CORE_CHECKPOINT_SAVER_H_
#define VIGIL_CORE_CHECKPOINT_SAVER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/session/session.h"

namespace vigil {

struct SaverOptions {
  std::optional<std::vector<Output>> variables = {};  // nullopt: all global variables when it is built
  bool sharded = false;                               // one shard for each device; there is one device so far
  bool allow_empty = false;
  std::optional<std::int64_t> max_to_keep = 5;  // nullopt or 0: all, and none is recorded
  bool save_relative_paths = false;
};

class Saver {
 public:
  explicit Saver(const Env& env, SaverOptions options = {});

  // Adds the ops, once; later calls do nothing. USAGE "No variables to save" unless allow_empty.
  absl::Status Build(Graph& graph);

  // Writes "<path>-<step>" (or path) and records it in the state file; returns that prefix; "" when there is nothing to save.
  // Then deletes at most one checkpoint that is too many; what goes wrong there is logged. USAGE if it was not built, or the
  // path's directory does not exist.
  absl::StatusOr<std::string> Save(Session& session, const std::string& path, std::optional<std::int64_t> global_step);

  // Does nothing when there is nothing to restore. USAGE "The passed save_path is not a valid checkpoint: ..." before the
  // session is called. NOT_FOUND and INVALID_ARGUMENT say what probably does not fit.
  absl::Status Restore(Session& session, const std::string& path);

  // Takes over those of `paths` that still exist, oldest first, with their file times.
  absl::Status RecoverLastCheckpoints(const std::vector<std::string>& paths);
  std::vector<std::string> last_checkpoints() const;  // oldest first
  // Built, and the graph had no variable for it: saving and restoring do nothing.
  bool has_nothing_to_save() const { return ops_.has_value() && ops_->variables.empty(); }

 private:
  struct Checkpoint {
    std::string prefix;
    Time written;
  };

  // The nodes that Build added.
  struct Ops {
    std::vector<Output> variables;  // none: nothing to save
    RunSpec save;                   // fed: the prefix
    RunSpec restore;
  };

  static absl::StatusOr<Ops> AddOps(Graph& graph, std::vector<Output> variables, bool sharded);
  absl::Status SaveAndRecord(Session& session, const std::string& prefix, const std::string& directory,
                             std::string* written);
  void Record(const std::string& prefix);
  void DeleteOne();
  absl::Status DeleteFiles(const std::string& prefix) const;

  const Env env_;
  const SaverOptions options_;
  std::optional<Ops> ops_;  // once built
  std::vector<Checkpoint> last_;
  std::deque<Checkpoint> to_be_deleted_;
};

using SaverPtr = std::shared_ptr<Saver>;
inline constexpr CollectionKey<SaverPtr> kSavers{"savers"};

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_SAVER_H_
