// The index of a checkpoint: which tensor lies where, as bytes. Part of tensor_bundle; nothing else includes it.
//
// The bytes are this project's own for now: magic, numbers as 64 bits little-endian, a checksum over all before it.
// Every damage is noticed: what decodes is what was encoded.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_IO_BUNDLE_INDEX_H_
#define VIGIL_CORE_IO_BUNDLE_INDEX_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

struct BundleEntry {
  DType dtype = DType::kInvalid;
  Shape shape;
  int shard = 0;             // in which data file
  std::uint64_t offset = 0;  // in bytes
  std::uint64_t size = 0;    // in bytes
  std::uint64_t checksum = 0;
};

inline constexpr int kMaxShards = 99999;  // their number has five digits in a file's name

struct BundleIndex {
  int shards = 1;  // data files
  std::map<std::string, BundleEntry, std::less<>> entries;
};

std::string EncodeIndex(const BundleIndex& index);
// DATA_LOSS, naming `path`, for anything but the bytes of an index.
absl::StatusOr<BundleIndex> DecodeIndex(std::string_view bytes, const std::string& path);

std::uint64_t BundleChecksum(std::string_view bytes);

// A tensor's elements as they are in a data file.
std::string PackStrings(const Tensor& tensor);                                   // REQUIRES: strings
std::optional<Tensor> Unpack(const BundleEntry& entry, std::string_view bytes);  // nullopt: they do not have their size

absl::Status DataLoss(std::string_view what, const std::string& path);  // "<path>: <what>"

}  // namespace vigil

#endif  // VIGIL_CORE_IO_BUNDLE_INDEX_H_
