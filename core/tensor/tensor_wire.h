// Tensors as the bytes of a TensorProto, without one in between: for messages of every step, and for large ones.
//
// The bytes are those that the message itself gives, and every form of it is read. The elements of a large tensor are
// not copied into a message but shared with it: who writes to the tensor meanwhile gets elements of its own, as ever
// (tensor.h).
// Thread safety: pure functions; MessageWriter as a value.
#ifndef VIGIL_CORE_TENSOR_TENSOR_WIRE_H_
#define VIGIL_CORE_TENSOR_TENSOR_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "vigil/core/tensor/tensor.h"

namespace vigil {

// Appends field `number` of some message. REQUIRES: number > 0; a tensor that has values.
void AppendTensorField(int number, const Tensor& tensor, std::string* out);
// ... other fields, if they are not the default value (which is not written).
void AppendTextField(int number, std::string_view text, std::string* out);
void AppendIntegerField(int number, std::int64_t value, std::string* out);

// From so many bytes of elements on a message shares them.
inline constexpr std::size_t kSharedTensorBytes = std::size_t{1} << 15;

// Writes a message field by field; what is small becomes one piece. REQUIRES (all): number > 0.
class MessageWriter {
 public:
  MessageWriter() = default;
  // The message begins so.
  explicit MessageWriter(std::string beginning) : piece_(std::move(beginning)) {}

  // As the functions above.
  void Text(int number, std::string_view text) { AppendTextField(number, text, &piece_); }
  void Integer(int number, std::int64_t value) { AppendIntegerField(number, value, &piece_); }
  void TensorField(int number, const Tensor& tensor);
  // A message of a name (field 1) and a tensor (field 2): NamedTensorProto. A tensor without values: the name alone.
  void NamedTensor(int number, std::string_view name, const Tensor& tensor);
  // Fields, as a message has written them.
  void Fields(std::string_view fields) { piece_.append(fields); }
  // All of it. REQUIRES: nothing is written afterwards.
  absl::Cord Take() &&;

 private:
  // What comes before its elements, which are shared. REQUIRES: IsShared(tensor).
  void Elements(std::string_view before, const Tensor& tensor);

  absl::Cord pieces_;
  std::string piece_;  // what follows them
};

// What the bytes of a TensorProto hold. Errors: INVALID_ARGUMENT if they are none; FromProto's (tensor_proto.h).
absl::StatusOr<Tensor> ParseTensor(std::string_view bytes);
// From so many bytes of elements on a tensor takes them as they lie in its message, which it then keeps.
inline constexpr std::size_t kBorrowedTensorBytes = std::size_t{1} << 18;
// The same of bytes in pieces; elements that lie in them as they do in memory are copied once, or, if they are one
// aligned piece of kBorrowedTensorBytes, not at all.
absl::StatusOr<Tensor> ParseTensorPieces(const absl::Cord& bytes);
// The contents of field `number`, if the message is that field (of bytes, text or a message) and nothing else; else no
// data, as for fields from 16 on.
std::string_view OnlyField(int number, std::string_view message);
// The tensor in such a field; nullopt: the message is not that field alone.
std::optional<absl::StatusOr<Tensor>> ParseOnlyTensor(int number, const absl::Cord& message);

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_TENSOR_WIRE_H_
