// The file system of the operating system. Contract: files.h. "" is the working directory.
#ifndef VIGIL_CORE_ENV_REAL_POSIX_FILES_H_
#define VIGIL_CORE_ENV_REAL_POSIX_FILES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/files.h"

namespace vigil {

class PosixFiles final : public Files {
 public:
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::Status MakeDirectory(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& directory) override;
};

// The status for an errno: "<action> <path>: No space left on device", its code as files.h says. REQUIRES: error != 0.
absl::Status PosixError(int error, std::string_view action, const std::string& path);

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_REAL_POSIX_FILES_H_
