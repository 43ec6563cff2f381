// What a power cut leaves of files: a decorator that remembers what was synced and what was not, and can undo the
// latter.
//
//   Disk disk(files);            // and `disk` in the place of the files from then on
//   ...
//   disk.Cut();                  // the power goes and is back
//
// The rules are those of a journalling file system under core/env/real/posix_files.cc:
//   - what was appended survives once File::Sync has returned; without it, no byte since the last sync does. A file
//     that was emptied on opening has its old contents back until then;
//   - a name is as it was made, replaced or removed once its directory was synced, by Files::SyncDirectory or by the
//     first Sync of an open file that is no kTemporary; until then a removed or replaced file is back. That of a
//     directory likewise: a new one goes with all that is in it until the one above was synced. (Renamed directories
//     are durable at once.)
//   - what is there when the disk is made, and what is written past it, is durable.
// Torn: of each file an unsynced beginning may survive, of each name either may be true; a draw decides.
//
// Several disks may look at the same files (a shared file system, mounted by many nodes) through one DiskJournal: each
// undoes only what was written through itself.
// Thread safety: none; tasks of a world take turns.
#ifndef VIGIL_SIM_DISK_H_
#define VIGIL_SIM_DISK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"

namespace vigil::sim {

class Disk;

// What is not durable yet of some files. One for all the disks that look at the same files.
class DiskJournal {
 public:
  // How far a file's contents would survive.
  struct Contents {
    const Disk* writer = nullptr;
    std::uint64_t size = 0;
    std::uint64_t synced = 0;
    bool sync_failed = false;           // then it stays at that
    std::optional<std::string> before;  // what comes back instead, until the next sync
  };
  // What the disk still believes of a name that was made or removed.
  struct Name {
    const Disk* writer = nullptr;
    std::optional<std::string> removed;  // the file's durable contents; absent: there was no such name
    bool directory = false;              // of a removed name
  };

 private:
  friend class Disk;
  std::map<std::string, std::shared_ptr<Contents>> contents_;  // by the present clean path
  std::map<std::string, Name> names_;
};

class Disk final : public Files {
 public:
  // Both are borrowed; without a journal the disk has its own.
  explicit Disk(Files& inner, DiskJournal* journal = nullptr)
      : inner_(inner), journal_(journal == nullptr ? own_ : *journal) {}
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override { return inner_.Stat(path); }
  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) override {
    return inner_.List(directory);
  }
  absl::Status MakeDirectory(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& directory) override;

  // A Sync of that file of this disk was made to fail: what was appended since the last one is lost to the disk, as
  // nothing remembers that it has to be written. Further ones say OK and sync nothing more, until the file is emptied.
  void SyncHasFailed(File& file);

  // The index of one of the labels; the first = all that was not synced is lost.
  using Draw = std::function<std::size_t(std::span<const std::string_view> labels)>;
  // The power goes: how many files and names changed by that. Without `torn` all that was not synced is lost.
  absl::StatusOr<std::int64_t> Cut(const Draw& torn = nullptr);
  // All that was not synced is forgotten about: the files were thrown away.
  void Forget();

 private:
  friend class DiskFile;
  using Contents = DiskJournal::Contents;
  using Name = DiskJournal::Name;

  void MakeNew(const std::string& clean);
  void SyncNames(const std::string& clean);
  absl::StatusOr<std::int64_t> RemoveTree(const std::string& clean);
  absl::StatusOr<std::string> Durable(const std::string& clean);
  absl::StatusOr<std::string> Torn(const std::string& clean, const Contents& contents, const Draw& torn);
  absl::Status Put(const std::string& clean, std::string_view data);
  absl::StatusOr<std::int64_t> CutContents(const Draw& torn);
  absl::StatusOr<std::int64_t> CutNames(const Draw& torn);

  Files& inner_;
  DiskJournal own_;
  DiskJournal& journal_;
};

}  // namespace vigil::sim

#endif  // VIGIL_SIM_DISK_H_
