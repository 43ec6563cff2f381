#include "vigil/cli/output.h"

#include "vigil/cli/system.h"
#include "vigil/core/base/status_macros.h"

namespace vigil::cli {

absl::Status WriteOutput(Files& files, const std::string& path, std::string_view data) {
  if (IsSpecialFile(path)) {
    VIGIL_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, files.Open(path, OpenMode::kTruncate));
    VIGIL_RETURN_IF_ERROR(file->Append(data));
    return file->Close();
  }
  const std::string target = BehindLinks(path);
  absl::Status status = WriteAtomically(files, target, data);
  if (!status.ok()) files.Remove(target + ".tmp").IgnoreError();
  return status;
}

}  // namespace vigil::cli
