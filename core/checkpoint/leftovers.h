// What saves leave that were killed: folders and files of temporary names, which nobody would ever look at or delete.
//
//   "<save path>-<step>_temp"                        the parts of a sharded checkpoint before they are merged
//   "<save path>-<step>.<anything>.tempstate<number>", "<save path>-<step>.<anything>.tmp"    a file before it gets its name
// Those of a save path may be deleted by whoever saves to it, once it has saved a step at least as high: its own save is done, and there
// is no other, since of the processes that share a directory one alone saves to a path (the chief). What carries a higher step stays.
// Thread safety: pure functions over the file seam.
#ifndef VIGIL_CORE_CHECKPOINT_LEFTOVERS_H_
#define VIGIL_CORE_CHECKPOINT_LEFTOVERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/files.h"

namespace vigil {

struct Leftover {
  std::string path;
  std::int64_t step = 0;
  friend bool operator==(const Leftover&, const Leftover&) = default;
};

// Those of a save path ("/dir/model.ckpt"), by name. None if the directory cannot be read.
std::vector<Leftover> FindLeftovers(Files& files, const std::string& save_path);

// With the files in it, if it is a folder. Fine if it is gone.
absl::Status RemoveLeftover(Files& files, const Leftover& leftover);

}  // namespace vigil

#endif  // VIGIL_CORE_CHECKPOINT_LEFTOVERS_H_
