// Tensors, shapes and element types to and from TensorFlow's protocol buffers.
//
// Thread safety: pure functions.
#ifndef VIGIL_CORE_TENSOR_TENSOR_PROTO_H_
#define VIGIL_CORE_TENSOR_TENSOR_PROTO_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "vigil/core/tensor/tensor.h"
#include "vigil/core/tensor/types.pb.h"

namespace vigil {

namespace proto {
class TensorProto;
class TensorShapeProto;
}  // namespace proto

inline proto::DataType ToProto(DType dtype) { return static_cast<proto::DataType>(dtype); }
// UNIMPLEMENTED for a type that there are no tensors of.
absl::StatusOr<DType> FromProto(proto::DataType dtype);

void ToProto(const Shape& shape, proto::TensorShapeProto* out);
// INVALID_ARGUMENT for a shape that is not known to the last dimension, or that cannot be (Shape::Make).
absl::StatusOr<Shape> FromProto(const proto::TensorShapeProto& shape);

// REQUIRES: tensor.valid(), and it is no handle.
void ToProto(const Tensor& tensor, proto::TensorProto* out);
// How many bytes of values a message may leave out, in all of its tensors: a list that is too short for the shape is
// filled with its last value, so that a few bytes ask for as much memory as they like.
inline constexpr std::int64_t kMostFilledBytes = std::int64_t{256} << 20;

// As TensorFlow, takes a list of values that is too short for the shape: the last value fills the rest. Errors:
// UNIMPLEMENTED for the element type, INVALID_ARGUMENT for a shape that cannot be, for values that do not fit it, and
// where more than `*may_fill` bytes are left out. What is filled is taken from `*may_fill`: one number for all tensors
// of a message.
absl::StatusOr<Tensor> FromProto(const proto::TensorProto& tensor, std::int64_t* may_fill);
// One that is alone, with kMostFilledBytes.
absl::StatusOr<Tensor> FromProto(const proto::TensorProto& tensor);

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_TENSOR_PROTO_H_
