// A checkpoint's bytes: named tensors under a prefix, in files named as TensorFlow's V2 format names them.
//
// Writing order is TensorFlow's: data to a temporary name, renamed; then the index, likewise. A bundle exists when its
// ".index" does. What fails leaves no temporary file behind (a crash may). Whoever else writes the same prefix, and
// wherever a writer is killed: what stands under it is one writer's bundle, whole (bundle_publishing.h); the files of
// data may then have other numbers. The bytes inside are this project's own for now (bundle_index.h); nothing above
// this header depends on them.
// Thread safety: one task at a time. Errors: NOT_FOUND for a missing file or key, DATA_LOSS for damaged bytes, and the
// file seam's own.
#ifndef VIGIL_CORE_IO_TENSOR_BUNDLE_H_
#define VIGIL_CORE_IO_TENSOR_BUNDLE_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/io/bundle_index.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// "<prefix>.index", "<prefix>.data-00000-of-00001".
std::string IndexFileName(std::string_view prefix);
std::string DataFileName(std::string_view prefix, int shard, int shards);

// Whether each file is synced before it gets its name, and the names once all have theirs: then a bundle that was
// written is there and whole, also after a power cut. (That of a new directory is the caller's: SyncParents.)
enum class Syncing { kNo, kYes };

// Writes all tensors as one bundle with one shard, in place of what stood under the prefix. The prefix's directory is
// made if its parent exists. Error: what stood there still does, or the new one does; nothing in between.
absl::Status WriteBundle(const Env& env, const std::string& prefix, const std::map<std::string, Tensor>& tensors,
                         Syncing syncing = Syncing::kYes);

// One for MergeBundles, under a prefix that is this writer's alone (ALREADY_EXISTS if it is not). Only the data are
// synced: what a crash leaves of it is worth nothing.
absl::Status WriteBundlePart(const Env& env, const std::string& prefix, const std::map<std::string, Tensor>& tensors,
                             Syncing syncing = Syncing::kYes);

// Makes one bundle of several: their data files get its name, their indexes and (if nothing else is in them) their
// directories go. INVALID_ARGUMENT for a key that two of them have.
absl::Status MergeBundles(const Env& env, const std::vector<std::string>& parts, const std::string& prefix,
                          Syncing syncing = Syncing::kYes);

// Reads all of it. OK: every file is there and as it was written.
absl::Status VerifyBundle(Files& files, const std::string& prefix);

class BundleReader {
 public:
  // Reads the index. NOT_FOUND: no such bundle; DATA_LOSS: a damaged index. `files` must outlive the reader.
  static absl::StatusOr<BundleReader> Open(Files& files, const std::string& prefix);
  // NOT_FOUND: no such key, or its file of data is gone; DATA_LOSS: bytes that are not those of the index. Takes memory
  // for the tensor once its bytes are known to be there. If another process has saved the same step again meanwhile, it
  // reads on from that.
  absl::StatusOr<Tensor> Read(const std::string& key);
  bool Has(std::string_view key) const { return index_.entries.contains(key); }
  // Every key with its type and shape.
  const std::map<std::string, BundleEntry, std::less<>>& entries() const { return index_.entries; }

 private:
  BundleReader(Files& files, std::string prefix, BundleIndex index)
      : files_(&files), prefix_(std::move(prefix)), index_(std::move(index)) {}
  absl::StatusOr<bool> TakeNewerIndex();

  Files* files_;
  std::string prefix_;
  BundleIndex index_;
  std::map<int, std::unique_ptr<File>> data_;  // by shard; opened by the first Read
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_TENSOR_BUNDLE_H_
