// A checkpoint's bytes: named tensors under a prefix, in files named as TensorFlow's V2 format names them.
//
// Writing order is TensorFlow's: data to a temporary name, renamed; then the index, likewise; nothing is synced. A bundle exists
// when its ".index" does.
// The bytes inside are this project's own for now (see docs/differences.md); nothing above this header depends on them.
// Thread safety: one task at a time. Errors: NOT_FOUND for a missing file or key, DATA_LOSS for damaged bytes, and the file
// seam's own.
#ifndef VIGIL_CORE_IO_TENSOR_BUNDLE_H_
#define VIGIL_CORE_IO_TENSOR_BUNDLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/env.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// "<prefix>.index", "<prefix>.data-00000-of-00001".
std::string IndexFileName(std::string_view prefix);
std::string DataFileName(std::string_view prefix, int shard, int shards);

// Writes all tensors as one bundle with one shard.
absl::Status WriteBundle(const Env& env, const std::string& prefix, const std::map<std::string, Tensor>& tensors);

class BundleReader {
 public:
  // Reads the index.
  static absl::StatusOr<BundleReader> Open(Files& files, const std::string& prefix);
  absl::StatusOr<Tensor> Read(const std::string& key);
  bool Has(const std::string& key) const { return entries_.count(key) != 0; }

 private:
  struct Entry {
    DType dtype = DType::kInvalid;
    Shape shape;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t checksum = 0;
  };
  Files* files_ = nullptr;
  std::string prefix_;
  std::map<std::string, Entry> entries_;
  std::unique_ptr<File> data_;  // opened by the first Read
};

}  // namespace vigil

#endif  // VIGIL_CORE_IO_TENSOR_BUNDLE_H_
