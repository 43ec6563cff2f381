// Files that the user asked for.
// Thread safety: pure functions over the file seam.
#ifndef VIGIL_CLI_OUTPUT_H_
#define VIGIL_CLI_OUTPUT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "vigil/core/env/files.h"

namespace vigil::cli {

// All or nothing: written beside it and renamed, so that nobody reads half a file; a device or a pipe is written to directly.
// On an error nothing is left behind, and what was there before is still there.
absl::Status WriteOutput(Files& files, const std::string& path, std::string_view data);

// Whether WriteOutput could write it now; to be asked before the work that it is about. A pipe is not asked: who reads it may come later.
absl::Status CheckOutput(Files& files, const std::string& path);

// Whether files could be saved in that folder now, which need not exist yet. Nothing is left behind.
absl::Status CheckFolder(Files& files, const std::string& path);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_OUTPUT_H_
