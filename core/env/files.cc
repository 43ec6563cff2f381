#include "vigil/core/env/files.h"

#include "vigil/core/base/status_macros.h"

namespace vigil {

absl::StatusOr<std::string> ReadAll(Files& files, const std::string& path) {
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<File> file, files.Open(path, OpenMode::kRead));
  constexpr std::uint64_t kChunk = 1 << 20;
  std::string out;
  while (true) {
    VIGIL_ASSIGN_OR_RETURN(const std::string part, file->Read(out.size(), kChunk));
    if (part.empty()) return out;
    out += part;
  }
}

absl::Status WriteAtomically(Files& files, const std::string& path, std::string_view data, bool sync) {
  const std::string temporary = path + ".tmp";
  VIGIL_ASSIGN_OR_RETURN(std::unique_ptr<File> file, files.Open(temporary, OpenMode::kTruncate));
  VIGIL_RETURN_IF_ERROR(file->Append(data));
  if (sync) VIGIL_RETURN_IF_ERROR(file->Sync());
  VIGIL_RETURN_IF_ERROR(file->Close());
  return files.Rename(temporary, path);
}

bool Exists(Files& files, const std::string& path) { return files.Stat(path).ok(); }

std::string JoinPath(std::string_view directory, std::string_view name) {
  if (directory.empty() || (!name.empty() && name.front() == '/')) return std::string(name);
  std::string out(directory);
  if (out.back() != '/') out += '/';
  out += name;
  return out;
}

std::string Dirname(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return "";
  return std::string(slash == 0 ? path.substr(0, 1) : path.substr(0, slash));
}

std::string Basename(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace vigil
