// Which checkpoints of a saver are kept, and the state file that lists them.
//
// The newest max_to_keep are kept, and of those that are too many one for every `preserve_every`. As TensorFlow does
// it, one checkpoint a save is deleted at most, what an earlier process wrote is only known if it is Set(), and what
// could not be deleted stays. Where the limits hold (Behaviour::keep_limits) all that is too many is deleted; the first
// save in a directory takes over what the state file lists of the same save path; what could not be deleted is tried
// again at the next save; the state file lists a checkpoint until it is gone, and the time of the last preserved one,
// so that neither a crash nor a restart changes what is kept. What killed saves of earlier processes left
// (unfinished_saves.h) goes as well.
// Thread safety: one task at a time.
// Source: saver.py (_RecordLastCheckpoint, _MaybeDeleteOldCheckpoints).
#ifndef VIGIL_CORE_CHECKPOINT_KEEPER_H_
#define VIGIL_CORE_CHECKPOINT_KEEPER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/base/event.h"
#include "vigil/core/checkpoint/checkpoint_state.h"
#include "vigil/core/checkpoint/unfinished_saves.h"
#include "vigil/core/env/env.h"

namespace vigil {

// For who watches (core/base/event.h).
inline void EmitSaverDetail(EventSink* events, SaverDetail what, std::string_view subject,
                            Event detail = {.kind = EventKind::kSaverDetail}) {
  if (events == nullptr) return;
  detail.call = static_cast<std::uint8_t>(what);
  detail.subject = subject;
  events->Emit(detail);
}

struct KeptCheckpoint {
  std::string prefix;
  Time written;  // wall time; kNever: is never deleted
  friend bool operator==(const KeptCheckpoint&, const KeptCheckpoint&) = default;
};

struct KeeperOptions {
  std::int64_t max_to_keep = 5;  // 0: nothing is listed but the newest, nothing is deleted
  Duration preserve_every = std::chrono::hours(10000);
  bool relative_paths = false;
  bool limits_hold = true;
  bool synced = true;  // the state file, before it gets its name; and that an index is gone, before its data goes
};

// As SaverDef holds it: single precision. As long as a Time can say at most.
Duration PreserveEvery(double hours);

class Keeper {
 public:
  explicit Keeper(const Env& env) : env_(env) {}

  // From now on the time to the next preserved checkpoint runs.
  void Start(const KeeperOptions& options);
  // What is kept, oldest first, from now on; what it knew before is forgotten, and nothing is deleted for it.
  void Set(std::vector<KeptCheckpoint> checkpoints);
  std::vector<std::string> paths() const;  // oldest first

  // A save, in these three steps. `save_path`: without the step.
  struct Save {
    std::string directory;
    std::string save_path;
    std::string state_file;
    std::string written;  // the prefix
    std::string meta_graph_suffix;
  };
  // Before anything is written; `written` is not known yet. A state file that cannot be read is the error, and there is
  // no save: it would replace a list that nobody has seen.
  absl::Status Begin(const Save& save);
  // The checkpoint is written.
  void Add(const Save& save);
  // Writes the state file, then deletes what is too many. An error is that of the state file: then nothing was deleted.
  // What goes wrong with deleting is logged.
  absl::Status Commit(const Save& save);

 private:
  absl::Status TakeOver(const Save& save);
  absl::Status WriteState(const Save& save) const;
  void EmitLists() const;
  // True: it is done with, deleted or preserved.
  bool DeleteOrPreserve(const KeptCheckpoint& checkpoint, const Save& save);
  void DeleteOne(const Save& save);
  void DeleteAll(const Save& save);
  void DeleteUnfinishedSaves(const Save& save);

  const Env env_;
  KeeperOptions options_;
  Time preserve_after_{};             // what was written later than this is preserved when it becomes too many
  std::vector<KeptCheckpoint> last_;  // oldest first
  std::vector<KeptCheckpoint> too_many_;
  bool was_set_ = false;
  std::set<std::string> taken_over_;  // state files
  std::string saving_;                // the path of a save that has begun, and is not written
  // By save path: found at its first save, and at the next after one that has failed; not deleted yet.
  std::map<std::string, std::vector<UnfinishedSave>> unfinished_saves_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_KEEPER_H_
