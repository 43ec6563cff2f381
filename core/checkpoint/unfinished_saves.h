// What saves leave that were killed: folders and files of temporary names, which nobody would ever look at or delete.
//
//   "<save path>-<step>_temp_<number>"                    the parts of a sharded checkpoint before they are merged
//                                                         ("_temp" of older versions)
//   "<save path>-<step>.<anything>.tempstate<number>",
//   "<save path>-<step>.<anything>.tmp<number>",
//   "<state file>.tmp<number>"                            a file before it gets its name
//   "<save path>-<step>.data-..."                         without an index: the checkpoint never came to be
//
// Those of a save path may be deleted by whoever saves to it, once it has saved a step at least as high and nobody has
// touched them for kAbandonedAfter: as a rule one process saves to a path (the chief), but there may be others (two
// chiefs, workers that were left alone), and what a living one is writing is not to be taken from it. What carries a
// higher step stays.
// Thread safety: pure functions over the file seam.
#ifndef VIGIL_CORE_CHECKPOINT_UNFINISHED_SAVES_H_
#define VIGIL_CORE_CHECKPOINT_UNFINISHED_SAVES_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"
#include "vigil/core/env/files.h"

namespace vigil {

struct UnfinishedSave {
  std::string path;
  std::int64_t step = 0;
  std::string unless = {};  // it is none once this is there
  friend bool operator==(const UnfinishedSave&, const UnfinishedSave&) = default;
};

// Those of a save path ("/dir/model.ckpt") and of a state file in its directory, by name. None if the directory cannot
// be read.
std::vector<UnfinishedSave> FindUnfinishedSaves(Files& files, const std::string& save_path,
                                                std::string_view state_file = "");

// Longer than a save is without a sign of life: the slowest sync of a file.
inline constexpr Duration kAbandonedAfter = std::chrono::minutes(10);
// Whether nothing has changed there for so long. `now`: as the file system tells the time (when something was just
// written there). Errors: the file seam's, but what is gone counts as abandoned.
absl::StatusOr<bool> IsAbandoned(Files& files, const UnfinishedSave& unfinished, Time now);

// With the files in it, if it is a folder. Fine if it is gone. Errors: the file seam's; some of it may be gone then.
absl::Status RemoveUnfinishedSave(Files& files, const UnfinishedSave& unfinished);

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_UNFINISHED_SAVES_H_
