// A file system in memory, for tests and for the nodes of the simulator.
//
// Like a POSIX file system: an open file survives its removal and its being renamed over. Paths are compared after
// "//", "/./" and a trailing "/" are taken out; ".." means nothing; "" and "/" always exist. Nothing is ever lost: what
// a power cut would take away is modelled elsewhere.
//
// Thread safety: none of its own. Tasks of the fakes and of the simulator take turns.
#ifndef VIGIL_FAKES_MEMORY_FILES_H_
#define VIGIL_FAKES_MEMORY_FILES_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vigil/core/env/clock.h"
#include "vigil/core/env/files.h"

namespace vigil::fakes {

enum class FileOp { kOpen, kAppend, kRead, kSync, kClose, kRename, kRemove, kStat, kList, kMakeDirectory };

// "open", "append", ...
std::string_view FileOpName(FileOp op);

class MemoryFiles final : public Files {
 public:
  // Asked before each operation. What is not OK is the operation's result, and the operation has no effect. The path is
  // the caller's, of a rename its first one.
  using Fault = std::function<absl::Status(FileOp op, const std::string& path)>;

  // `clock` gives the times of modification; it must outlive the files.
  explicit MemoryFiles(Clock& clock);
  ~MemoryFiles() override;

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::Status MakeDirectory(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& directory) override;

  void set_fault(Fault fault) { fault_ = std::move(fault); }
  // Fails the `call`-th operation of that kind from now on (1 = the next), once. Replaces an earlier fault.
  void FailOnce(FileOp op, int call, absl::Status error);

  // One bit of a file that is there is another one, and nobody is told: its times stay. False: there is no such bit.
  bool FlipBit(const std::string& path, std::uint64_t bit);
  // Everything is gone; open files go on for themselves.
  void Clear();
  // Every file with its content, by path, for assertions.
  std::map<std::string, std::string> Contents() const;

 private:
  friend class MemoryFile;
  struct Node {
    bool is_directory = false;
    std::string data;
    Time modified;
  };

  absl::Status Ask(FileOp op, const std::string& path) const;
  Node* Find(const std::string& path);
  absl::Status CheckParent(std::string_view action, const std::string& path);
  bool HasChildren(const std::string& directory) const;
  void MoveTree(const std::string& from, const std::string& to);

  Clock& clock_;
  Fault fault_;
  std::map<std::string, std::shared_ptr<Node>> nodes_;  // by clean path, without "" and "/"
};

}  // namespace vigil::fakes

#endif  // VIGIL_FAKES_MEMORY_FILES_H_
