// One scenario that a user names: FILE or FILE#ID.
//
// Thread safety: pure functions over the file seam.
#ifndef VIGIL_CLI_READ_RUN_H_
#define VIGIL_CLI_READ_RUN_H_

#include <string>

#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"
#include "vigil/replays/format/scenario.h"

namespace vigil::cli {

struct RunName {
  std::string path;
  std::string id;  // "" = the only one there is
};
// Of "FILE" or "FILE#ID". What is there under the whole name is a file.
RunName SplitRunName(Files& files, const std::string& name);

// USAGE with words if there is none, or if there are several and none is named; else the error of the file.
absl::StatusOr<replays::Recording> ReadRun(Files& files, const RunName& name);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_READ_RUN_H_
