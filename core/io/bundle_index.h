// The index of a checkpoint: which tensor lies where, as bytes. Part of tensor_bundle; nothing else includes it.
//
// The bytes are TensorFlow's: a table (table_writer.h) of a BundleHeaderProto and BundleEntryProtos. Equal indexes have
// equal bytes. Those of earlier versions of this library are read, too (earlier_bundle.h), and never written.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_IO_BUNDLE_INDEX_H_
#define VIGIL_CORE_IO_BUNDLE_INDEX_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/io/tensor_slice.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

struct BundleEntry {
  DType dtype = DType::kInvalid;  // may be one that there are no tensors of here: then it cannot be read
  Shape shape;
  int shard = 0;               // in which data file; in pieces: the first of them
  std::uint64_t offset = 0;    // in bytes
  std::uint64_t size = 0;      // in bytes
  std::uint64_t checksum = 0;  // crc32c, or what earlier versions had
  // Not empty: the values are in pieces, each in an entry of its own (SliceKey), and the numbers above but
  // `shard` are 0.
  std::vector<TensorSlice> slices;

  friend bool operator==(const BundleEntry&, const BundleEntry&) = default;
};

inline constexpr int kMaxShards = 99999;  // their number has five digits in a file's name

enum class BundleFormat : std::uint8_t {
  kTensorFlow,
  kEarlier,  // of this library before it had TensorFlow's bytes
};

struct BundleIndex {
  int shards = 1;  // data files
  BundleFormat format = BundleFormat::kTensorFlow;
  std::map<std::string, BundleEntry, std::less<>> entries;

  friend bool operator==(const BundleIndex&, const BundleIndex&) = default;
};

// INVALID_ARGUMENT for an entry of more than 2 GiB. REQUIRES: kTensorFlow.
absl::StatusOr<std::string> EncodeIndex(const BundleIndex& index);
// Either format. DATA_LOSS, naming `path` and what is wrong with which tensor or at which offset, for anything but the
// bytes of an index; INVALID_ARGUMENT for one that a newer TensorFlow or a machine of another byte order has written.
absl::StatusOr<BundleIndex> DecodeIndex(std::string_view bytes, const std::string& path);

// Whether a tensor of that type and shape can have that many bytes; then it can be made without asking for absurd
// memory. True for types that there are no tensors of.
bool FitsItsSize(const BundleEntry& entry, BundleFormat format);
// The type's name; its number, if there are no tensors of it.
std::string TypeText(DType dtype);

absl::Status DataLoss(std::string_view what, const std::string& path);  // "<path>: <what>"

}  // namespace vigil

#endif  // VIGIL_CORE_IO_BUNDLE_INDEX_H_
