// The file seam. Paths use '/'; errors are NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED (no space,
// no descriptors), FAILED_PRECONDITION (a directory where a file is needed, or the reverse), UNAVAILABLE never;
// anything else UNKNOWN. A message names the path and what was attempted. Only NOT_FOUND says that something is not
// there: no other error may be taken for it.
//
// What survives a power cut: a file's contents once File::Sync returned, if none has failed before; a name (made,
// replaced or removed) once the directory it is in was synced, by SyncDirectory or by the first Sync of the new file; a
// directory as any other name, so one that is new with all in it only once the one above was synced. Nothing else
// syncs: whoever does without durability pays nothing for it.
// Every call blocks until it is done; none takes a deadline. Sizes and offsets are bytes.
// Thread safety: Files is safe from any task; a File belongs to one task at a time. An open file does not need the
// Files that opened it to be idle: it may be renamed, replaced or removed meanwhile, and stays readable.
// The contract is tested for every implementation: properties/contracts/files_contract.h.
#ifndef VIGIL_CORE_ENV_FILES_H_
#define VIGIL_CORE_ENV_FILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/base/time.h"

namespace vigil {

class File {
 public:
  // Closes without reporting errors: call Close() where they matter.
  virtual ~File() = default;
  // Success: `data` stands at the end of the file, and whoever reads sees it; a power cut may still take it (Sync).
  // Error: any part of `data` may have been written. RESOURCE_EXHAUSTED: no space. FAILED_PRECONDITION: opened for
  // reading, or closed.
  virtual absl::Status Append(std::string_view data) = 0;
  // Up to `size` bytes from `offset`; fewer (or none) only at the end of the file. Whatever the mode of opening.
  // FAILED_PRECONDITION: closed.
  virtual absl::StatusOr<std::string> Read(std::uint64_t offset, std::uint64_t size) = 0;
  // The same into `out`: how many bytes there were. (Without memory of its own, where the machine's files are read.)
  virtual absl::StatusOr<std::size_t> ReadInto(std::uint64_t offset, std::span<char> out);
  // Success: what was appended, by whomever, survives a power cut; so does the file's name, but for kTemporary and
  // kRead. Error: nothing is promised of anything appended since the last success, and another Sync does not make it
  // good. FAILED_PRECONDITION: closed.
  virtual absl::Status Sync() = 0;
  // The file is closed, also if this fails; an error says that something appended may be lost. Does not sync.
  // FAILED_PRECONDITION: closed before.
  virtual absl::Status Close() = 0;
};

enum class OpenMode {
  kRead,      // must exist
  kTruncate,  // created, or emptied
  kAppend,    // created, or continued
  kNew,       // ALREADY_EXISTS if there is one
  kTemporary  // as kNew; it gets another name before it matters, so Sync does not look after this one
};

struct FileInfo {
  std::uint64_t size = 0;
  Time modified;  // wall time
  bool is_directory = false;
  // Which file it is, whatever the path that led to it: equal for links to one file. {0, 0}: not known.
  std::pair<std::uint64_t, std::uint64_t> identity;
};

class Files {
 public:
  virtual ~Files() = default;
  // NOT_FOUND: no such file (kRead), or no such directory to make it in. ALREADY_EXISTS: kNew and kTemporary only.
  // FAILED_PRECONDITION: `path` is a directory, or goes through something that is none. RESOURCE_EXHAUSTED: no
  // descriptor left. An error has changed nothing.
  virtual absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) = 0;
  // Replaces `to` atomically: whoever opens it gets the old or the new, never neither. Moves directories too, also over
  // an empty one. NOT_FOUND: `from`, or the directory of `to`. FAILED_PRECONDITION: a directory over a file, a file
  // over a directory, or over a directory with something in it. An error has changed nothing.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  // A file or an empty directory. NOT_FOUND: it is not there (any more). FAILED_PRECONDITION: a directory with
  // something in it.
  virtual absl::Status Remove(const std::string& path) = 0;
  // NOT_FOUND: it is not there. FAILED_PRECONDITION: the path goes through a file. Follows links.
  virtual absl::StatusOr<FileInfo> Stat(const std::string& path) = 0;
  // Names (not paths) in a directory, sorted by their bytes, without "." and "..". NOT_FOUND: no such directory.
  // FAILED_PRECONDITION: it is a file. What is made or removed meanwhile may be in the list or not.
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& directory) = 0;
  // With all its parents; fine if it exists. FAILED_PRECONDITION: there is a file in the way. An error may leave some
  // of the parents made.
  virtual absl::Status MakeDirectory(const std::string& path) = 0;
  // Success: the names in it are on the disk as they are now. "" = the working directory. NOT_FOUND,
  // FAILED_PRECONDITION (a file) and PERMISSION_DENIED (it may not be read) as above.
  virtual absl::Status SyncDirectory(const std::string& directory) = 0;
};

// Helpers over the seam. Their errors are those of the calls that they make.
// The whole file, in memory: NOT_FOUND if there is none.
absl::StatusOr<std::string> ReadAll(Files& files, const std::string& path);
// Writes a file of its own ("<path>.tmp", ".tmp1", ...: the first that nobody has), then renames it over `path`: of
// several who write at once one wins, whole. With `sync` it then survives a power cut. What fails leaves no temporary
// file (a crash may). With `sync`, an error after the rename says that the new contents are there but may not survive.
// ALREADY_EXISTS: a thousand temporary files are in the way.
absl::Status WriteAtomically(Files& files, const std::string& path, std::string_view data, bool sync = false);
// False only for what is not there (NOT_FOUND); whatever else keeps Stat from answering is the error.
absl::StatusOr<bool> Exists(Files& files, const std::string& path);
// The directories above are synced, as far as they may be read (PERMISSION_DENIED is passed by): then `directory`'s own
// name survives a power cut.
absl::Status SyncParents(Files& files, const std::string& directory);
// Texts only: they look at no file.
std::string JoinPath(std::string_view directory, std::string_view name);  // an absolute `name` stays as it is
std::string Dirname(std::string_view path);                               // "" if there is none
std::string Basename(std::string_view path);
// Without "//", "/./", a leading "./" and a trailing "/": equal for equal files. ".." stays as it is.
std::string CleanPath(std::string_view path);

}  // namespace vigil

#endif  // VIGIL_CORE_ENV_FILES_H_
