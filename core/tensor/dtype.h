// Element types, numbered as TensorFlow's DataType. Thread safety: pure functions.
#ifndef VIGIL_CORE_TENSOR_DTYPE_H_
#define VIGIL_CORE_TENSOR_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vigil {

enum class DType : std::uint8_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,  // this and kHalf: stored, restored, sent and assigned; no kernel computes with them
  kUint16 = 17,
  kHalf = 19,
  kResource = 20,  // a handle (queue, iterator): only ops that take it as a reference can use it
  kUint32 = 22,
  kUint64 = 23,
};

std::string_view DTypeName(DType dtype);  // "float", "int64", ...
std::size_t DTypeSize(DType dtype);       // bytes an element; 0 for strings, handles and kInvalid

template <typename T>
constexpr DType DTypeOf();
template <>
constexpr DType DTypeOf<float>() {
  return DType::kFloat;
}
template <>
constexpr DType DTypeOf<double>() {
  return DType::kDouble;
}
template <>
constexpr DType DTypeOf<std::int32_t>() {
  return DType::kInt32;
}
template <>
constexpr DType DTypeOf<std::uint8_t>() {
  return DType::kUint8;
}
template <>
constexpr DType DTypeOf<std::string>() {
  return DType::kString;
}
template <>
constexpr DType DTypeOf<std::int64_t>() {
  return DType::kInt64;
}
template <>
constexpr DType DTypeOf<bool>() {
  return DType::kBool;
}
template <>
constexpr DType DTypeOf<std::int8_t>() {
  return DType::kInt8;
}
template <>
constexpr DType DTypeOf<std::int16_t>() {
  return DType::kInt16;
}
template <>
constexpr DType DTypeOf<std::uint16_t>() {
  return DType::kUint16;
}
template <>
constexpr DType DTypeOf<std::uint32_t>() {
  return DType::kUint32;
}
template <>
constexpr DType DTypeOf<std::uint64_t>() {
  return DType::kUint64;
}

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_DTYPE_H_
