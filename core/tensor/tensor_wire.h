// Tensors as the bytes of a TensorProto, without one in between: for messages that every step sends.
//
// The bytes are those that the message itself gives, and every form of it is read.
// Thread safety: pure functions.
#ifndef VIGIL_CORE_TENSOR_TENSOR_WIRE_H_
#define VIGIL_CORE_TENSOR_TENSOR_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// Appends field `number` of some message. REQUIRES: 1 <= number <= 15; a tensor that has values.
void AppendTensorField(int number, const Tensor& tensor, std::string* out);
// ... other fields, if they are not the default value (which is not written).
void AppendTextField(int number, std::string_view text, std::string* out);
void AppendIntegerField(int number, std::int64_t value, std::string* out);

// What the bytes of a TensorProto hold. Errors: INVALID_ARGUMENT if they are none; FromProto's (tensor_proto.h).
absl::StatusOr<Tensor> ParseTensor(std::string_view bytes);
// The contents of field `number`, if the message is that field (of bytes, text or a message) and nothing else; else no
// data.
std::string_view OnlyField(int number, std::string_view message);

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_TENSOR_WIRE_H_
