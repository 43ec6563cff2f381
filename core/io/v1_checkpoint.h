// Checkpoints of TensorFlow's first format (V1): one table, or one a shard, with the values in it. Read only.
// Part of tensor_bundle; nothing else includes it.
//
// Thread safety: one task at a time. Errors: NOT_FOUND: there is no such file; DATA_LOSS for anything else than the
// bytes of such a checkpoint.
// Source: tensor_slice_reader.cc, saved_tensor_slice.proto.
#ifndef VIGIL_CORE_IO_V1_CHECKPOINT_H_
#define VIGIL_CORE_IO_V1_CHECKPOINT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"
#include "vigil/core/io/bundle_index.h"
#include "vigil/core/io/table_reader.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// The files that a name stands for: that very one, which need not be there, or of "model-7-?????-of-00002" those that
// are, by name. NOT_FOUND: none is.
absl::StatusOr<std::vector<std::string>> V1ShardsOf(Files& files, const std::string& name);

class V1Checkpoint {
 public:
  // `name` as above. `files` must outlive it.
  static absl::StatusOr<V1Checkpoint> Open(Files& files, const std::string& name);

  // Type, shape and pieces of each tensor; each has pieces.
  using Entries = std::map<std::string, BundleEntry, std::less<>>;
  const Entries& entries() const { return entries_; }
  // REQUIRES: one of the pieces of that entry.
  absl::StatusOr<Tensor> Read(const std::string& key, const BundleEntry& entry, const TensorSlice& slice) const;
  // Reads everything.
  absl::Status Verify() const;

 private:
  struct Shard {
    std::string path;
    TableReader table;
  };

  V1Checkpoint() = default;
  absl::Status AddShard(Files& files, const std::string& path);

  std::vector<Shard> shards_;
  std::map<std::string, std::size_t> shard_of_;  // by SliceKey
  Entries entries_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_V1_CHECKPOINT_H_
