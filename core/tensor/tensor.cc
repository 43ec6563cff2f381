#include "vigil/core/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>

namespace vigil {
namespace {

std::shared_ptr<void> NewBuffer(DType dtype, std::size_t n) {
  switch (dtype) {
    case DType::kFloat:
      return std::make_shared<float[]>(n);
    case DType::kDouble:
      return std::make_shared<double[]>(n);
    case DType::kInt32:
      return std::make_shared<std::int32_t[]>(n);
    case DType::kUint8:
      return std::make_shared<std::uint8_t[]>(n);
    case DType::kString:
      return std::make_shared<std::string[]>(n);
    case DType::kInt64:
      return std::make_shared<std::int64_t[]>(n);
    case DType::kBool:
      return std::make_shared<bool[]>(n);
    case DType::kInvalid:
    case DType::kResource:
      break;
  }
  VIGIL_CHECK(!"a tensor with elements needs an element type");
  return nullptr;
}

}  // namespace

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  const std::int64_t n = num_elements();
  VIGIL_CHECK(n >= 0);
  if (n > 1 || (n == 1 && dtype == DType::kString)) buffer_ = NewBuffer(dtype, static_cast<std::size_t>(n));
}

Tensor Tensor::Clone() const {
  if (!has_buffer()) return *this;
  Tensor out(dtype_, shape_);
  if (dtype_ == DType::kString) {
    std::ranges::copy(flat<std::string>(), out.mutable_flat<std::string>().begin());
  } else {
    std::ranges::copy(bytes(), out.mutable_bytes().begin());
  }
  return out;
}

Tensor Tensor::Reshaped(Shape shape) const {
  VIGIL_CHECK(shape.num_elements() == num_elements());
  Tensor out = *this;
  out.shape_ = std::move(shape);
  return out;
}

std::string_view Tensor::bytes() const {
  VIGIL_CHECK(dtype_ != DType::kString);
  return {static_cast<const char*>(Data()), static_cast<std::size_t>(num_elements()) * DTypeSize(dtype_)};
}

std::span<char> Tensor::mutable_bytes() {
  const std::string_view all = bytes();
  return {const_cast<char*>(all.data()), all.size()};
}

std::string Tensor::Describe() const { return fmt::format("{} {}", DTypeName(dtype_), shape_.ToString()); }

bool Tensor::AsNumber(double* value) const {
  if (num_elements() != 1) return false;
  switch (dtype_) {
    case DType::kFloat:
      *value = scalar<float>();
      return true;
    case DType::kDouble:
      *value = scalar<double>();
      return true;
    case DType::kInt32:
      *value = scalar<std::int32_t>();
      return true;
    case DType::kUint8:
      *value = scalar<std::uint8_t>();
      return true;
    case DType::kInt64:
      *value = static_cast<double>(scalar<std::int64_t>());
      return true;
    case DType::kBool:
      *value = scalar<bool>() ? 1 : 0;
      return true;
    case DType::kInvalid:
    case DType::kString:
    case DType::kResource:
      return false;
  }
  return false;
}

bool operator==(const Tensor& a, const Tensor& b) {
  if (a.dtype_ != b.dtype_ || a.shape_ != b.shape_) return false;
  switch (a.dtype_) {
    case DType::kFloat:
      return std::ranges::equal(a.flat<float>(), b.flat<float>());
    case DType::kDouble:
      return std::ranges::equal(a.flat<double>(), b.flat<double>());
    case DType::kString:
      return std::ranges::equal(a.flat<std::string>(), b.flat<std::string>());
    default:
      return a.bytes() == b.bytes();
  }
}

}  // namespace vigil
