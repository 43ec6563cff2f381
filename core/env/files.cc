#include "vigil/core/env/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {

absl::StatusOr<std::size_t> File::ReadInto(std::uint64_t offset, std::span<char> out) {
  VIGIL_ASSIGN_OR_RETURN(const std::string bytes, Read(offset, out.size()));
  std::ranges::copy(bytes, out.begin());
  return bytes.size();
}

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
  // What a crash left, or what somebody is writing now, is passed by; so many are neither.
  constexpr int kAttempts = 1000;
  std::string temporary = path + ".tmp";
  absl::StatusOr<std::unique_ptr<File>> file = files.Open(temporary, OpenMode::kTemporary);
  for (int i = 1; i < kAttempts && CodeOf(file.status()) == Code::kAlreadyExists; ++i) {
    temporary = fmt::format("{}.tmp{}", path, i);
    file = files.Open(temporary, OpenMode::kTemporary);
  }
  VIGIL_RETURN_IF_ERROR(file.status());
  absl::Status status = (*file)->Append(data);
  if (status.ok() && sync) status = (*file)->Sync();
  if (status.ok()) status = (*file)->Close();
  if (status.ok()) status = files.Rename(temporary, path);
  if (!status.ok()) {
    files.Remove(temporary).IgnoreError();  // why it could not be written is the error to tell
    return status;
  }
  return sync ? files.SyncDirectory(Dirname(path)) : absl::OkStatus();
}

absl::StatusOr<bool> Exists(Files& files, const std::string& path) {
  const absl::Status status = files.Stat(path).status();
  if (CodeOf(status) == Code::kNotFound) return false;
  VIGIL_RETURN_IF_ERROR(status);
  return true;
}

absl::Status SyncParents(Files& files, const std::string& directory) {
  std::string below = directory;
  while (!below.empty() && below != "/") {
    std::string above = Dirname(below);
    const absl::Status status = files.SyncDirectory(above);
    // One that may be passed through but not read was not made by us.
    if (!status.ok() && CodeOf(status) != Code::kPermissionDenied) return status;
    below = std::move(above);
  }
  return absl::OkStatus();
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  if (directory.empty() || (!name.empty() && name.front() == '/')) return std::string(name);
  std::string out(directory);
  if (out.back() != '/') out += '/';
  out += name;
  return out;
}

std::string CleanPath(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, slash - at);
    if (!part.empty() && part != ".") {
      if (!out.empty() || path.front() == '/') out += '/';
      out += part;
    }
    at = slash + 1;
  }
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
