// A checkpoint's bytes: named tensors under a prefix, in files named as TensorFlow's V2 format names them.
//
// The bytes are TensorFlow's, too: either reads what the other has written, and equal tensors give equal files. Also
// read are TensorFlow's first format (V1; the prefix is then the file) and what earlier versions of this library
// wrote. Writing order is TensorFlow's: data to a temporary name, renamed; then the index, likewise. A bundle exists
// when its ".index" does. What fails leaves no temporary file behind (a crash may). Whoever else writes the same
// prefix, and wherever a writer is killed: what stands under it is one writer's bundle, whole (bundle_publishing.h);
// the files of data may then have other numbers. Values pass in pieces of 256 KiB: no second copy is made of them.
// Thread safety: one task at a time. Errors: NOT_FOUND for a missing file or key; DATA_LOSS for damaged bytes, naming
// tensor, file and offset; INVALID_ARGUMENT for what the caller asks wrongly; and the file seam's own.
#ifndef VIGIL_CORE_IO_TENSOR_BUNDLE_H_
#define VIGIL_CORE_IO_TENSOR_BUNDLE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/io/bundle_index.h"
#include "vigil/core/io/tensor_slice.h"
#include "vigil/core/io/v1_checkpoint.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// "<prefix>.index", "<prefix>.data-00000-of-00001".
std::string IndexFileName(std::string_view prefix);
std::string DataFileName(std::string_view prefix, int shard, int shards);

// Whether each file is synced before it gets its name, and the names once all have theirs: then a bundle that was
// written is there and whole, also after a power cut. (That of a new directory is the caller's: SyncParents.)
enum class Syncing { kNo, kYes };

// A tensor under its name; with `piece` a part of the tensor of that name, and another part is another item.
struct BundleItem {
  std::string name;
  Tensor value;
  std::optional<TensorPiece> piece;
};
// In the order in which their values are written.
using BundleItems = std::vector<BundleItem>;
BundleItems ItemsOf(const std::map<std::string, Tensor>& tensors);

// Writes all tensors as one bundle with one shard, in place of what stood under the prefix. The prefix's directory is
// made if its parent exists. Error: what stood there still does, or the new one does; nothing in between.
// INVALID_ARGUMENT: two items have one key; one has no name, or no elements that can be stored; a piece that does not
// have its shape, or pieces of one tensor that differ on its type or shape.
absl::Status WriteBundleItems(const Env& env, const std::string& prefix, const BundleItems& items,
                              Syncing syncing = Syncing::kYes);
inline absl::Status WriteBundle(const Env& env, const std::string& prefix, const std::map<std::string, Tensor>& tensors,
                                Syncing syncing = Syncing::kYes) {
  return WriteBundleItems(env, prefix, ItemsOf(tensors), syncing);
}

// One for MergeBundles, under a prefix that is this writer's alone (ALREADY_EXISTS if it is not). Only the data are
// synced: what a crash leaves of it is worth nothing.
absl::Status WriteBundlePartItems(const Env& env, const std::string& prefix, const BundleItems& items,
                                  Syncing syncing = Syncing::kYes);
inline absl::Status WriteBundlePart(const Env& env, const std::string& prefix,
                                    const std::map<std::string, Tensor>& tensors, Syncing syncing = Syncing::kYes) {
  return WriteBundlePartItems(env, prefix, ItemsOf(tensors), syncing);
}

// Makes one bundle of several: their data files get its name, their indexes and (if nothing else is in them) their
// directories go; pieces of one tensor may be in several. INVALID_ARGUMENT for a key that two of them have. What cannot
// be merged stays as it is.
absl::Status MergeBundles(const Env& env, const std::vector<std::string>& parts, const std::string& prefix,
                          Syncing syncing = Syncing::kYes);

// Reads all of it. OK: every file is there and as it was written.
absl::Status VerifyBundle(Files& files, const std::string& prefix);

class BundleReader {
 public:
  // Reads the index. NOT_FOUND: no such bundle; DATA_LOSS: a damaged index. `files` must outlive the reader.
  static absl::StatusOr<BundleReader> Open(Files& files, const std::string& prefix);
  // NOT_FOUND: no such key, or its file of data is gone; DATA_LOSS: bytes that are not those of the index;
  // INVALID_ARGUMENT: pieces that do not make up the tensor; UNIMPLEMENTED: there are no tensors of its type. Takes
  // memory for the tensor once its bytes are known to be there. If another process has saved the same step again
  // meanwhile, it reads on from that.
  absl::StatusOr<Tensor> Read(const std::string& key);
  // A part of it, however it is stored. INVALID_ARGUMENT: the whole is not of that shape.
  absl::StatusOr<Tensor> Read(const std::string& key, const TensorPiece& piece);
  // Reads all of it, keeping nothing. OK: every value is there and as it was written.
  absl::Status Verify();
  bool Has(std::string_view key) const { return entries().contains(key); }
  // Every key with its type and shape; also those under which pieces are stored.
  const std::map<std::string, BundleEntry, std::less<>>& entries() const {
    return v1_.has_value() ? v1_->entries() : index_.entries;
  }

 private:
  using Entry = std::pair<const std::string, BundleEntry>;

  BundleReader(Files& files, std::string prefix, BundleIndex index)
      : files_(&files), prefix_(std::move(prefix)), index_(std::move(index)) {}
  absl::StatusOr<bool> TakeNewerIndex();
  struct DataFile {
    std::string path;
    std::unique_ptr<File> file;
  };
  absl::StatusOr<const DataFile*> DataOf(int shard);
  absl::StatusOr<Tensor> ReadStored(std::string_view key, const BundleEntry& entry);
  absl::StatusOr<Tensor> ReadPart(const std::string& key, const TensorPiece* piece);
  absl::StatusOr<Tensor> Assemble(const Entry& of, const TensorSlice& part, const Shape& shape);
  absl::StatusOr<Tensor> ReadPiece(const Entry& of, const TensorSlice& slice);
  absl::StatusOr<const Entry*> EntryOfPiece(const Entry& of, const TensorSlice& slice) const;
  absl::Status CheckPieces(const Entry& of, const std::vector<TensorSlice>& parts, const TensorSlice& part,
                           const Shape& shape);
  absl::Status VerifyEntry(const Entry& of);

  Files* files_;
  std::string prefix_;
  BundleIndex index_;
  std::map<int, DataFile> data_;    // by shard; opened by the first Read
  std::optional<V1Checkpoint> v1_;  // what is read instead
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_TENSOR_BUNDLE_H_
