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
  kString = 7,
  kInt64 = 9,
  kBool = 10,
  kResource = 20,  // a handle (queue, iterator): only ops that take it as a reference can use it
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

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_DTYPE_H_
