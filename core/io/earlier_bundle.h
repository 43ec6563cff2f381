// Checkpoints as this library wrote them before they had TensorFlow's bytes: read only, until the version that
// CHANGELOG.md names. Part of tensor_bundle; nothing else includes it.
//
// The index: a magic text, numbers as 64 bits little-endian, a checksum (XXH64) over all before it. Data: numbers as
// now; of strings, each length as 64 bits and its text.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_IO_EARLIER_BUNDLE_H_
#define VIGIL_CORE_IO_EARLIER_BUNDLE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vigil/core/io/bundle_index.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

bool IsEarlierIndex(std::string_view bytes);
// DATA_LOSS, naming `path`, for anything but the bytes of an index. REQUIRES: IsEarlierIndex(bytes).
absl::StatusOr<BundleIndex> DecodeEarlierIndex(std::string_view bytes, const std::string& path);
// Sets the elements of a string tensor. False: the bytes are not those of so many strings.
bool UnpackEarlierStrings(std::string_view bytes, Tensor* out);

}  // namespace vigil

#endif  // VIGIL_CORE_IO_EARLIER_BUNDLE_H_
