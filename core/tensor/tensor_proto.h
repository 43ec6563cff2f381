// Tensors, shapes and element types to and from TensorFlow's protocol buffers.
//
// Thread safety: pure functions.
#ifndef VIGIL_CORE_TENSOR_TENSOR_PROTO_H_
#define VIGIL_CORE_TENSOR_TENSOR_PROTO_H_

#include "absl/status/statusor.h"
#include "vigil/core/tensor/tensor.h"
#include "vigil/core/tensor/tensor.pb.h"

namespace vigil {

inline proto::DataType ToProto(DType dtype) { return static_cast<proto::DataType>(dtype); }
// UNIMPLEMENTED for a type that there are no tensors of.
absl::StatusOr<DType> FromProto(proto::DataType dtype);

void ToProto(const Shape& shape, proto::TensorShapeProto* out);
// INVALID_ARGUMENT for a shape that is not known to the last dimension.
absl::StatusOr<Shape> FromProto(const proto::TensorShapeProto& shape);

// REQUIRES: tensor.valid(), and it is no handle.
void ToProto(const Tensor& tensor, proto::TensorProto* out);
// As TensorFlow, takes a list of values that is too short for the shape: the last value fills the rest. Errors: UNIMPLEMENTED for
// the element type, INVALID_ARGUMENT for values that do not fit the shape, and for more than 2 GiB of them.
absl::StatusOr<Tensor> FromProto(const proto::TensorProto& tensor);

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_TENSOR_PROTO_H_
