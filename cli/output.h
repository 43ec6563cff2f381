// Files that the user asked for.
// Thread safety: pure functions over the file seam.
#ifndef VIGIL_CLI_OUTPUT_H_
#define VIGIL_CLI_OUTPUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "vigil/core/env/files.h"

namespace vigil::cli {

// All or nothing: written beside it and renamed, so that nobody reads half a file; a device or a pipe is written to
// directly. On an error nothing is left behind, and what was there before is still there.
absl::Status WriteOutput(Files& files, const std::string& path, std::string_view data);

// Whether WriteOutput could write it now; to be asked before the work that it is about. A pipe is not asked: who reads
// it may come later.
absl::Status CheckOutput(Files& files, const std::string& path);

// A file that an option names.
struct OutputFile {
  std::string option;  // "--json"
  std::string path;
};

// USAGE, naming both, if two outputs are one file, or if one would overwrite an input, or be read with it: that file,
// or by its name a scenario file of that folder, there or not. Special files may be named as often as one likes.
absl::Status CheckNothingIsLost(const std::vector<OutputFile>& outputs, const std::vector<std::string>& inputs);

// Whether files could be saved in that folder now, which need not exist yet. Nothing is left behind.
absl::Status CheckFolder(Files& files, const std::string& path);

}  // namespace vigil::cli

#endif  // VIGIL_CLI_OUTPUT_H_
