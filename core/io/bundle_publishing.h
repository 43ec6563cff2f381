// How a checkpoint comes to be under its name: whole or not at all, whoever else writes the same one and whenever the
// process is killed. Part of tensor_bundle; nothing else includes it.
//
// The index is what makes a checkpoint, and its name is given by one rename. The files of data that it speaks of are
// nobody else's: their names are claimed by a file beside each, and never used for other bytes while an index speaks of
// them. The usual names are those of TensorFlow ("data-00000-of-00002"). While they are taken (the step is saved again
// with other values; another process saves it too) those of the next shards are ("data-00002-of-00004"), which any
// reader of the format finds, since the index has the numbers. The files of the checkpoint that was replaced go
// afterwards. What a crash leaves goes with its checkpoint (RemoveCheckpoint).
// Thread safety: any number of writers. Errors: those of the file seam; ABORTED if another process deletes the
// checkpoint meanwhile.
#ifndef VIGIL_CORE_IO_BUNDLE_PUBLISHING_H_
#define VIGIL_CORE_IO_BUNDLE_PUBLISHING_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/io/bundle_index.h"
#include "vigil/core/io/tensor_bundle.h"

namespace vigil {

// A file that nobody else has, until it gets its name. What goes away unfinished takes its file along.
class TemporaryFile {
 public:
  // "<path>.tempstate<number>".
  static absl::StatusOr<TemporaryFile> Open(const Env& env, const std::string& path);
  // That very name. ALREADY_EXISTS: it is somebody else's.
  static absl::StatusOr<TemporaryFile> OpenAs(Files& files, const std::string& path);
  TemporaryFile(TemporaryFile&&) = default;
  TemporaryFile& operator=(TemporaryFile&&) = default;

  const std::string& path() const { return path_; }
  // After an error the file is gone, and nothing more can be done with it.
  absl::Status Append(std::string_view bytes) { return Checked(file_->Append(bytes)); }
  // Closes it, synced before if asked: it may be renamed now. REQUIRES: called once.
  absl::Status Finish(bool synced);

 private:
  TemporaryFile() = default;
  absl::Status Checked(absl::Status status) {
    // Why it could not be written is the error to tell.
    if (!status.ok()) files_->Remove(path_).IgnoreError();
    return status;
  }

  Files* files_ = nullptr;
  std::string path_;
  std::unique_ptr<File> file_;
};

// Gives the files of data (`data`: one for each shard of the index, synced where that matters) and the index their
// names. Where the same checkpoint stands there already it stays, and `data` is removed. What fails removes `data`.
absl::Status PublishBundle(const Env& env, const std::vector<std::string>& data, BundleIndex index,
                           const std::string& prefix, Syncing syncing);

// Only the index, without regard to anybody else.
absl::Status WriteBundleIndex(const Env& env, const std::string& prefix, const BundleIndex& index, Syncing syncing);
absl::StatusOr<BundleIndex> ReadBundleIndex(Files& files, const std::string& prefix);

}  // namespace vigil

#endif  // VIGIL_CORE_IO_BUNDLE_PUBLISHING_H_
