// A part of a tensor, as partitioned variables are stored: of each dimension a range.
//
// Texts and keys are TensorFlow's, byte for byte.
// Thread safety: pure functions and values. Errors: INVALID_ARGUMENT in TensorFlow's words.
// Source: tensor_slice.cc, saved_tensor_slice_util.cc, ordered_code.cc.
#ifndef VIGIL_CORE_IO_TENSOR_SLICE_H_
#define VIGIL_CORE_IO_TENSOR_SLICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

namespace proto {
class TensorSliceProto;
}  // namespace proto

struct TensorSlice {
  struct Extent {
    std::int64_t start = 0;
    std::int64_t length = kAll;
    friend bool operator==(const Extent&, const Extent&) = default;
  };
  static constexpr std::int64_t kAll = -1;  // the whole dimension; then `start` is 0

  std::vector<Extent> extents;  // outermost first

  static TensorSlice Whole(int rank) { return {std::vector<Extent>(static_cast<std::size_t>(rank))}; }
  // nullopt: a range that cannot be (negative, empty, or beyond what a number holds).
  static std::optional<TensorSlice> FromProto(const proto::TensorSliceProto& proto);
  void ToProto(proto::TensorSliceProto* out) const;
  std::string ToString() const;  // "0,2:-"; "" if there are no dimensions

  // The shape of that part of a tensor of shape `whole`. "Extent in dimension 0 out of bounds: shape = [4], slice =
  // 3,2".
  absl::StatusOr<Shape> ShapeIn(const Shape& whole) const;
  // The same with every extent said in numbers. REQUIRES: ShapeIn(whole) is OK.
  TensorSlice Explicit(const Shape& whole) const;
  friend bool operator==(const TensorSlice&, const TensorSlice&) = default;
};

// A part, and of what.
struct TensorPiece {
  Shape whole;
  TensorSlice slice;
  Shape shape;  // of the part
};

// "4 3 0,2:-": the dimensions of the whole, and the part of each.
absl::StatusOr<TensorPiece> ParseShapeAndSlice(const std::string& text);

// The key under which a piece of tensor `name` is stored. Sorts as names and extents do.
std::string SliceKey(std::string_view name, const TensorSlice& slice);

// Copies what both parts of one tensor have from `from` (part `source`) to `*to` (part `target`); says how many
// elements that was. REQUIRES: both are explicit, of one type, and have the shapes of their parts.
std::int64_t CopyCommonPart(const TensorSlice& source, const Tensor& from, const TensorSlice& target, Tensor* to);

// How many elements both parts of one tensor have. REQUIRES: both are explicit, of one rank.
std::int64_t CommonElements(const TensorSlice& a, const TensorSlice& b);

// Whether no element is in two of the parts. REQUIRES: all are explicit, of one rank. More than kMostPieces: false.
inline constexpr std::size_t kMostPieces = 10'000;
bool AreDisjoint(const std::vector<TensorSlice>& parts);

}  // namespace vigil

#endif  // VIGIL_CORE_IO_TENSOR_SLICE_H_
