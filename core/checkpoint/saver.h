// tf.train.Saver: writes variables to checkpoints, keeps the newest, restores.
//
// Build() adds save and restore ops to the graph and notes them as well-known calls; Save and Restore run them through a raw
// session and look after the state file. A monitored session is not a Session: it cannot be passed (does not compile).
// Thread safety: one task at a time. Ownership: the graph must outlive the saver.
// Source: saver.py (Saver, BaseSaverBuilder), checkpoint_management.py.
#ifndef VIGIL_CORE_CHECKPOINT_SAVER_H_
#define VIGIL_CORE_CHECKPOINT_SAVER_H_

#include <cstdint>
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
  std::optional<std::vector<Output>> variables;  // nullopt: all global variables when it is built
  bool sharded = false;
  bool allow_empty = false;
  std::optional<std::int64_t> max_to_keep = 5;  // nullopt or 0: all, and none is recorded
  bool save_relative_paths = false;
};

class Saver {
 public:
  explicit Saver(const Env& env, SaverOptions options = {});
  ~Saver();

  // Adds the ops, once; later calls do nothing. USAGE "No variables to save" unless allow_empty.
  absl::Status Build(Graph& graph);

  // Writes "<path>-<step>" (or path) and records it in the state file; returns that prefix; "" when there is nothing to save.
  absl::StatusOr<std::string> Save(Session& session, const std::string& path, std::optional<std::int64_t> global_step);

  // USAGE "The passed save_path is not a valid checkpoint: ..." before the session is called.
  absl::Status Restore(Session& session, const std::string& path);

  // Takes over those of `paths` that still exist, oldest first, with their file times.
  absl::Status RecoverLastCheckpoints(const std::vector<std::string>& paths);
  std::vector<std::string> last_checkpoints() const;

 private:
  struct State;
  Env env_;
  SaverOptions options_;
  std::unique_ptr<State> state_;
};

using SaverPtr = std::shared_ptr<Saver>;
inline constexpr CollectionKey<SaverPtr> kSavers{"savers"};

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_SAVER_H_
