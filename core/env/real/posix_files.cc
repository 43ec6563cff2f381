#include "vigil/core/env/real/posix_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include "vigil/core/base/code.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

constexpr mode_t kFileMode = 0666;  // less the process's umask
constexpr mode_t kDirectoryMode = 0777;

const char* NonEmpty(const std::string& path) { return path.empty() ? "." : path.c_str(); }

Code CodeOfErrno(int error) {
  switch (error) {
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
      return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
      return Code::kResourceExhausted;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EBADF:
      return Code::kFailedPrecondition;
    default:
      return Code::kUnknown;
  }
}

// Retries what a signal interrupted.
template <typename Call>
auto Retry(Call call) {
  while (true) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

// The entries of a directory survive a power cut.
absl::Status SyncNames(const std::string& directory) {
  const int fd = Retry([&] { return ::open(NonEmpty(directory), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) return PosixError(errno, "open directory", directory);
  const int result = Retry([&] { return ::fsync(fd); });
  const int error = errno;
  ::close(fd);
  // Some file systems cannot sync a directory; nothing more can be done about it.
  if (result < 0 && error != EINVAL && error != EROFS) return PosixError(error, "sync directory", directory);
  return absl::OkStatus();
}

class PosixFile final : public File {
 public:
  PosixFile(std::string path, int fd, OpenMode mode)
      : path_(std::move(path)),
        fd_(fd),
        writable_(mode != OpenMode::kRead),
        entry_unsynced_(writable_ && mode != OpenMode::kTemporary) {}
  ~PosixFile() override {
    if (fd_ >= 0) ::close(fd_);
  }

  absl::Status Append(std::string_view data) override {
    if (!writable_) {
      return MakeStatus(Code::kFailedPrecondition, fmt::format("append to {}: opened for reading", path_));
    }
    while (!data.empty()) {
      const ssize_t written = Retry([&] { return ::write(fd_, data.data(), data.size()); });
      if (written < 0) return PosixError(errno, "append to", path_);
      data.remove_prefix(static_cast<std::size_t>(written));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) override {
    struct stat info {};
    if (::fstat(fd_, &info) < 0) return PosixError(errno, "read", path_);
    const auto end = static_cast<std::uint64_t>(info.st_size);
    std::string out(offset < end ? std::min(size, end - offset) : 0, '\0');
    VIGIL_ASSIGN_OR_RETURN(const std::size_t used, ReadInto(offset, out));
    out.resize(used);
    return out;
  }

  absl::StatusOr<std::size_t> ReadInto(std::uint64_t offset, std::span<char> out) override {
    constexpr auto kFarthest = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
    if (offset > kFarthest || out.size() > kFarthest - offset) return std::size_t{0};  // no file is so long
    std::size_t used = 0;
    while (used < out.size()) {
      const ssize_t got =
          Retry([&] { return ::pread(fd_, out.data() + used, out.size() - used, static_cast<off_t>(offset + used)); });
      if (got < 0) return PosixError(errno, "read", path_);
      if (got == 0) break;
      used += static_cast<std::size_t>(got);
    }
    return used;
  }

  absl::Status Sync() override {
    if (Retry([&] { return ::fdatasync(fd_); }) < 0) return PosixError(errno, "sync", path_);
    if (!entry_unsynced_) return absl::OkStatus();
    VIGIL_RETURN_IF_ERROR(SyncNames(Dirname(path_)));
    entry_unsynced_ = false;
    return absl::OkStatus();
  }

  absl::Status Close() override {
    const int fd = std::exchange(fd_, -1);
    // After EINTR the descriptor is gone on Linux: no second try.
    if (::close(fd) < 0 && errno != EINTR) return PosixError(errno, "close", path_);
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  int fd_;  // -1: closed
  const bool writable_;
  bool entry_unsynced_;  // the directory may not know the file yet
};

int FlagsOf(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead:
      return O_RDONLY | O_NONBLOCK;  // a pipe without a writer would not even open; files do not care
    case OpenMode::kTruncate:
      return O_RDWR | O_CREAT | O_TRUNC;
    case OpenMode::kAppend:
      return O_RDWR | O_CREAT | O_APPEND;
    case OpenMode::kNew:
    case OpenMode::kTemporary:
      return O_RDWR | O_CREAT | O_EXCL;
  }
  return O_RDONLY;
}

}  // namespace

absl::Status PosixError(int error, std::string_view action, const std::string& path) {
  return MakeStatus(CodeOfErrno(error), fmt::format("{} {}: {}", action, path, std::generic_category().message(error)));
}

absl::StatusOr<std::unique_ptr<File>> PosixFiles::Open(const std::string& path, OpenMode mode) {
  const int fd = Retry([&] { return ::open(NonEmpty(path), FlagsOf(mode) | O_CLOEXEC, kFileMode); });
  if (fd < 0) return PosixError(errno, "open", path);
  auto file = std::make_unique<PosixFile>(path, fd, mode);
  struct stat info {};
  if (::fstat(fd, &info) < 0) return PosixError(errno, "open", path);
  if (S_ISDIR(info.st_mode)) return PosixError(EISDIR, "open", path);
  if (mode == OpenMode::kRead && S_ISFIFO(info.st_mode)) {
    return MakeStatus(Code::kFailedPrecondition, fmt::format("open {}: a pipe, which has no offsets to read at", path));
  }
  return file;
}

absl::Status PosixFiles::Rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) < 0) {
    // Both say that the target is a directory with something in it.
    return PosixError(errno == EEXIST ? ENOTEMPTY : errno, fmt::format("rename {} to", from), to);
  }
  return absl::OkStatus();
}

absl::Status PosixFiles::Remove(const std::string& path) {
  if (std::remove(path.c_str()) < 0) return PosixError(errno, "remove", path);
  return absl::OkStatus();
}

absl::StatusOr<FileInfo> PosixFiles::Stat(const std::string& path) {
  struct stat info {};
  if (::stat(NonEmpty(path), &info) < 0) return PosixError(errno, "stat", path);
  return FileInfo{.size = static_cast<std::uint64_t>(info.st_size),
                  .modified = {std::chrono::seconds(info.st_mtim.tv_sec) + Duration(info.st_mtim.tv_nsec)},
                  .is_directory = S_ISDIR(info.st_mode),
                  .identity = {info.st_dev, info.st_ino}};
}

absl::StatusOr<std::vector<std::string>> PosixFiles::List(const std::string& directory) {
  DIR* const stream = ::opendir(NonEmpty(directory));
  if (stream == nullptr) return PosixError(errno, "list", directory);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* const entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int error = errno;
  ::closedir(stream);
  if (error != 0) return PosixError(error, "list", directory);
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status PosixFiles::MakeDirectory(const std::string& path) {
  for (std::size_t end = 0; end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), kDirectoryMode) == 0) continue;
    const int error = errno;
    struct stat info {};
    if (::stat(part.c_str(), &info) < 0) return PosixError(error, "make directory", path);
    if (!S_ISDIR(info.st_mode)) return PosixError(ENOTDIR, "make directory", path);
  }
  return absl::OkStatus();
}

absl::Status PosixFiles::SyncDirectory(const std::string& directory) { return SyncNames(directory); }

}  // namespace vigil
