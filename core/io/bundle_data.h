// The values of a checkpoint, in its files of data: written and read in pieces of kPieceBytes, so that a tensor
// needs no second copy. Part of tensor_bundle; nothing else includes it.
//
// The bytes are TensorFlow's: elements as they lie in memory; of strings all lengths, a checksum of these, all texts.
// Thread safety: one task at a time.
// Source: tensor_bundle.cc (WriteTensor, WriteStringTensor, ReadStringTensor).
#ifndef VIGIL_CORE_IO_BUNDLE_DATA_H_
#define VIGIL_CORE_IO_BUNDLE_DATA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/env/files.h"
#include "vigil/core/io/bundle_index.h"
#include "vigil/core/io/bundle_publishing.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

inline constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

class BundleDataWriter {
 public:
  // `file` must outlive it.
  explicit BundleDataWriter(TemporaryFile& file) : file_(file) {}
  // Appends the tensor's elements. The entry that comes back says all but the shard.
  absl::StatusOr<BundleEntry> Add(const Tensor& tensor);
  // REQUIRES: called once, last.
  absl::Status Flush();

 private:
  absl::Status Append(std::string_view bytes);
  absl::Status AddStrings(const Tensor& tensor, BundleEntry* entry);

  TemporaryFile& file_;
  std::string buffer_;
  std::uint64_t size_ = 0;
};

// What the messages of the two below say.
struct BundlePlace {
  std::string_view key;
  const std::string& path;
  BundleFormat format = BundleFormat::kTensorFlow;
};

// The tensor of an entry that has its values itself. DATA_LOSS: the file is shorter, or has other bytes. UNIMPLEMENTED:
// there are no tensors of that type.
absl::StatusOr<Tensor> ReadElements(File& file, const BundleEntry& entry, const BundlePlace& place);
// The same without making a tensor; and only whether the file is long enough.
absl::Status VerifyElements(File& file, const BundleEntry& entry, const BundlePlace& place);
absl::Status CheckElementsAreThere(File& file, const BundleEntry& entry, const BundlePlace& place);

}  // namespace vigil

#endif  // VIGIL_CORE_IO_BUNDLE_DATA_H_
