// One scenario that a user names: FILE or FILE#ID.
//
// Thread safety: pure functions over the file seam.
#ifndef VIGIL_CLI_READ_RUN_H_
#define VIGIL_CLI_READ_RUN_H_

#include <string>

#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"
#include "vigil/replays/scenario.h"

namespace vigil::cli {

// "" for the only one there is. USAGE with words if there is none, or if there are several and none is named; else the error of the file.
absl::StatusOr<replays::Recording> ReadRun(Files& files, const std::string& path, const std::string& id);
// The same of "FILE" or "FILE#ID".
absl::StatusOr<replays::Recording> ReadRun(Files& files, const std::string& name);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_READ_RUN_H_
