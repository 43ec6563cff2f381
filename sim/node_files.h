// The Files seam of a node: its own disk and, at "/shared", the file system that all nodes of the world share; both as
// this node sees them, with the disk faults that are about it.
//
// A file that was opened belongs to the node, too. After a kill every operation fails and changes nothing.
// Thread safety: none.
#ifndef VIGIL_SIM_NODE_FILES_H_
#define VIGIL_SIM_NODE_FILES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"
#include "vigil/fakes/memory_files.h"
#include "vigil/sim/disk.h"
#include "vigil/sim/faults/fault_plan.h"

namespace vigil::sim {

class Node;

inline constexpr std::string_view kSharedMount = "/shared";

// Files that every node mounts, and what is not durable of them.
struct SharedDisk {
  explicit SharedDisk(Clock& clock);
  fakes::MemoryFiles files;
  DiskJournal journal;

  // What nodes did to names, in order.
  struct NameChange {
    Duration at;
    const Node* by = nullptr;
    std::string path;
    bool made = false;  // else removed
  };
  std::vector<NameChange> changes;
};

struct DiskStrike {
  Duration at{0};          // since the start of the world
  std::string task;        // whose operation it struck
  std::size_t events = 0;  // of the world's trace, until then
};

struct DiskFaultState {
  static constexpr std::size_t kMostStrikes = 10'000;  // the memory is bounded
  DiskFault fault;
  bool on = true;                        // it counts operations, and strikes
  std::int64_t matched = 0;              // operations that it is about
  std::int64_t fired = 0;                // of those, the ones that it struck
  std::int64_t effective = 0;            // of those, the ones that went otherwise than without it
  std::vector<DiskStrike> strikes = {};  // the first of those that it struck
};

// What a fault did to a file.
struct FileDamage {
  std::string content;                // what it says since
  std::optional<std::uint64_t> byte;  // which is another one; none: it was lost, and says nothing
};

// The disk faults of a world. Asked in this order; the first that strikes wins.
class DiskFaults {
 public:
  // Lives as long as the world. One that has a time is off until somebody sets it on then.
  DiskFaultState& Add(const DiskFault& fault);
  bool any() const { return !faults_.empty(); }
  // All that were added are off.
  void Clear() { live_ = faults_.size(); }
  void Rotten(const std::string& path, FileDamage damage) { rotten_[path].push_back(std::move(damage)); }
  // What was done to the file of one name is in that of the other now.
  void Renamed(const std::string& from, const std::string& to);
  // By their paths, of each time.
  const std::map<std::string, std::vector<FileDamage>>& rotten() const { return rotten_; }

  // A task has read that from there on, or found that no such file is there. It has met damage where that is what a
  // fault has left: files are known by what they say, as names come and go, and a power cut brings them back.
  void HasRead(std::string_view task, const std::string& path, std::uint64_t offset, std::string_view data);
  void HasMissed(std::string_view task, const std::string& path);
  struct Meeting {
    std::string task;
    std::string path;
  };
  const std::vector<Meeting>& meetings() const { return meetings_; }
  // What happens to this operation; null: nothing. `there`: there is such a file, or nothing could be lost.
  DiskFaultState* Next(std::string_view task, fakes::FileOp op, std::string_view path,
                       const std::function<bool()>& there);

 private:
  std::deque<DiskFaultState> faults_;
  std::size_t live_ = 0;  // those from here on count
  std::map<std::string, std::vector<FileDamage>> rotten_;
  std::vector<Meeting> meetings_;
};

class NodeFiles final : public Files {
 public:
  // `clock` is the node's. Both must outlive the files.
  NodeFiles(Node& node, Clock& clock);

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override;
  absl::Status MakeDirectory(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& directory) override;

  // How many are open now.
  std::int64_t open_files() const { return open_files_; }
  // The node's own files, without its faults.
  fakes::MemoryFiles& own() { return files_; }
  // What a crash does to them and to what this node wrote to the shared ones: how many files and names changed.
  std::int64_t Lose(DiskLoss loss);

 private:
  friend class NodeFile;

  // `stale`: set to the fault that makes this listing lag behind.
  absl::Status Ask(fakes::FileOp op, const std::string& path, std::uint64_t bytes = 0,
                   DiskFaultState** stale = nullptr);
  // What the operation takes by itself, drawn at "<node>/disk/time". A crash may fall into it: then it had no effect.
  void TakeTime(std::uint64_t bytes);
  // Of bytes whose append has failed, how many were written all the same, drawn at "<node>/disk/written".
  std::size_t WrittenPart(std::size_t bytes);
  void SyncHasFailed(const std::string& path, File& file);
  // How many of `size` bytes a read from there would bring.
  std::uint64_t BytesFrom(const std::string& path, std::uint64_t offset, std::uint64_t size);
  // For those whose listings lag behind.
  void NoteChange(const std::string& path, bool made);
  bool IsThere(const std::string& path);
  std::vector<std::string> AsBefore(Duration by, const std::string& directory, const std::vector<std::string>& now);
  // Whether there was a bit to flip.
  bool Rot(const std::string& path, std::int64_t draw);
  bool Lose(const std::string& path);
  void HasRead(const std::string& path, std::uint64_t offset, std::string_view data);
  static bool IsShared(std::string_view path);
  void TouchDisk(std::string_view path);  // for who looks for steps that commute
  Disk& DiskOf(std::string_view path);

  Node& node_;
  fakes::MemoryFiles files_;
  Disk disk_{files_};
  std::unique_ptr<Disk> shared_;  // made at the first use
  std::int64_t open_files_ = 0;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_NODE_FILES_H_
