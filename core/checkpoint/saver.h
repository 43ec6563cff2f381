// tf.train.Saver: writes variables to checkpoints, keeps the newest, restores.
//
//   auto saver = std::make_shared<Saver>(env, SaverOptions{.max_to_keep = 3});
//   VIGIL_RETURN_IF_ERROR(saver->Build(graph));
//   VIGIL_ASSIGN_OR_RETURN(const std::string prefix, saver->Save(session, "/dir/model.ckpt", step));
//
// At step 7 that prefix is "/dir/model.ckpt-7".
//
// Build() adds save and restore ops to the graph and notes them as well-known calls; Save and Restore run them through
// a raw session and look after the meta graph and the state file. A monitored session is not a Session: it cannot be
// passed (does not compile). How checkpoints are kept: keeper.h.
// SaveBeside() takes the values and lets a task write them while the training goes on (save_queue.h). Whatever else is
// asked of the saver waits for these saves first: the order of saves, what is kept and what is found to be restored are
// as if each had been waited for.
// Thread safety: one task at a time. Ownership: the graph must outlive the saver. Errors: USAGE in TensorFlow's words;
// FAILED_PRECONDITION for a variable without a value; DATA_LOSS for a damaged checkpoint; ABORTED if another process
// deletes the checkpoint while it is written; else what the session and the files give (RESOURCE_EXHAUSTED: no space).
// Source: saver.py (Saver), checkpoint_management.py.
#ifndef VIGIL_CORE_CHECKPOINT_SAVER_H_
#define VIGIL_CORE_CHECKPOINT_SAVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/behaviour.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/keeper.h"
#include "vigil/core/checkpoint/save_queue.h"
#include "vigil/core/checkpoint/saver_ops.h"
#include "vigil/core/env/env.h"
#include "vigil/core/graph/graph.h"
#include "vigil/core/ops/meta_graph.h"
#include "vigil/core/session/session.h"

namespace vigil {

namespace proto {
class MetaGraphDef;
}  // namespace proto

struct SaverOptions {
  // At most one of the two; neither: all global variables when it is built. Iterators (ops::kIterators) can be among
  // them.
  std::optional<std::vector<Output>> variables = {};
  std::optional<NamedVariables> variables_by_name = {};  // under other names than their own
  bool reshape = false;                                  // restore also what has another shape of the same size
  bool sharded = false;                                  // one file of data for each device
  bool allow_empty = false;
  std::optional<std::int64_t> max_to_keep = 5;   // nullopt or 0: all, and none is recorded
  double keep_checkpoint_every_n_hours = 10000;  // besides the newest
  std::string name = "save";                     // of the nodes
  bool pad_step_number = false;                  // "-00000007"
  bool save_relative_paths = false;              // in the state file: the directory can be moved
  std::string filename = "model";                // of a run of the save op that feeds none
  // How ".meta" files hold collections of objects of layers above (queue runners).
  std::vector<CollectionCodec> codecs = {};
  Behaviour behaviour = Behaviour::Default();  // durable_saves, meta_before_state, keep_limits
};

struct SaveOptions {
  std::string latest_filename = std::string(kDefaultStateFile);
  std::string meta_graph_suffix = std::string(kDefaultMetaGraphSuffix);
  bool write_meta_graph = true;
  bool write_state = true;  // false: the checkpoint is not recorded and nothing is deleted
  bool strip_default_attrs = false;
};

class Saver : public std::enable_shared_from_this<Saver> {
 public:
  explicit Saver(const Env& env, SaverOptions options = {});
  // What is virtual is what tests put a mock in the place of (fakes/mocks).
  virtual ~Saver() = default;
  // For a graph that has a saver's nodes already (import): `scope` goes before the names in `def`, which says how to
  // keep.
  // Errors as FindSaverOps.
  static absl::StatusOr<std::shared_ptr<Saver>> FromDef(const Env& env, Graph& graph, const proto::SaverDef& def,
                                                        const std::string& scope = "", SaverOptions options = {});

  // Adds the ops, once; later calls do nothing. USAGE "No variables to save" unless allow_empty; as NameVariables.
  virtual absl::Status Build(Graph& graph);
  bool built() const { return built_; }

  // Writes "<path>-<step>" (or path) and records it in the state file; returns that prefix; "" when there is nothing to
  // save. Then deletes what is too many; what goes wrong there is logged. USAGE if it was not built, or the path's
  // directory does not exist. Success: the checkpoint is whole under its name (with durable_saves also after a power
  // cut). Error: what stood under that name before still does, or the new one, whole; the state file never names one
  // that is not there. Blocks until saves made beside the training are written.
  virtual absl::StatusOr<std::string> Save(Session& session, const std::string& path,
                                           std::optional<std::int64_t> global_step, const SaveOptions& options = {});
  // The step is what the session has there: an integer.
  absl::StatusOr<std::string> Save(Session& session, const std::string& path, Output global_step,
                                   const SaveOptions& options = {});

  // The same beside the training. Waits for room (save_queue.h), takes the values and the graph as they are now, and
  // returns: a task writes them in this process, also when the session is closed meanwhile, and even if its servers are
  // gone. Errors: those of taking the values; USAGE if this saver is nobody's by shared_ptr; what goes wrong with
  // writing is the pending save's.
  absl::StatusOr<PendingSavePtr> SaveBeside(Session& session, const std::string& path,
                                            std::optional<std::int64_t> global_step, const SaveOptions& options = {});
  // Until all of those are written or have failed.
  void WaitForSaves() const;
  // Those of this saver as a task to be joined: done whenever all are written.
  std::shared_ptr<Task> SavesBeside(std::string name);

  // Gives every variable of the saver its value. Does nothing when there is nothing to restore. USAGE "The passed
  // save_path is not a valid checkpoint: ..." before the session is called. NOT_FOUND (no such key) and
  // INVALID_ARGUMENT (another shape or type) say what probably does not fit. After an error some of the variables may
  // be restored, others not.
  virtual absl::Status Restore(Session& session, const std::string& path);
  // The same into variables of which only some are `missing` (nodes' names: they hold nothing yet): the others first,
  // in a run of their own. Who waits until all are initialised thus sees none of them change any more.
  absl::Status RestoreMissingLast(Session& session, const std::string& path, const std::vector<std::string>& missing);

  // What exists already, oldest first: to be kept or deleted as if this saver had written it.
  // Those of `paths` that still exist, with their file times. The file seam's errors; then nothing has changed.
  absl::Status RecoverLastCheckpoints(const std::vector<std::string>& paths);
  // Never deleted (they count as written at the end of time):
  void SetLastCheckpoints(const std::vector<std::string>& paths);
  void SetLastCheckpointsWithTime(std::vector<KeptCheckpoint> checkpoints);
  std::vector<std::string> last_checkpoints() const;

  // Null if it has no ops: not built, or nothing to save.
  const proto::SaverDef* AsSaverDef() const { return ops_.has_value() ? &ops_->def : nullptr; }
  // The graph with this saver; savers and options_.codecs' objects with it.
  absl::StatusOr<proto::MetaGraphDef> ExportMetaGraph(const Graph& graph, ExportMetaGraphOptions options = {}) const;
  const SaverOptions& options() const { return options_; }
  // Built, and the graph had no variable for it: saving and restoring do nothing.
  bool has_nothing_to_save() const { return built_ && !ops_.has_value(); }

 private:
  struct Target {
    std::string file;  // with the step
    std::string path;
    std::string directory;
  };
  using MetaGraphSource = std::function<absl::StatusOr<proto::MetaGraphDef>()>;

  void TakeDef(SaverOps ops);
  absl::Status RunRestore(Session& session, const std::string& path, const RunSpec& restore);
  absl::StatusOr<Target> TargetOf(const std::string& path, std::optional<std::int64_t> global_step,
                                  const SaveOptions& options) const;
  absl::StatusOr<std::string> Write(Session& session, const Target& target, const SaveOptions& options,
                                    const MetaGraphSource& meta);
  absl::Status WriteAll(Session& session, const Target& target, const SaveOptions& options, const MetaGraphSource& meta,
                        std::string* written);
  absl::StatusOr<std::vector<Tensor>> RunSave(Session& session, const std::string& file);
  absl::Status WriteMeta(const MetaGraphSource& meta, const std::string& file, const SaveOptions& options) const;
  SaveQueue& Beside();

  const Env env_;
  SaverOptions options_;
  bool built_ = false;
  std::optional<SaverOps> ops_;  // once built, if there is something to save
  // Of the task that writes beside the training, while there is one:
  Keeper keeper_;
  std::set<std::string> synced_parents_;  // directories whose own names are on the disk

  std::shared_ptr<SaveQueue> beside_;  // null: never asked for
};

using SaverPtr = std::shared_ptr<Saver>;
inline constexpr CollectionKey<SaverPtr> kSavers{"savers"};

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_SAVER_H_
