#include "vigil/core/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "vigil/core/base/code.h"
#include "vigil/core/base/cord.h"
#include "vigil/core/base/memory.h"
#include "vigil/core/base/status_macros.h"

namespace vigil {
namespace {

std::size_t BytesPerElement(DType dtype) { return dtype == DType::kString ? sizeof(std::string) : DTypeSize(dtype); }

void* Allocate(std::size_t bytes, std::size_t alignment) {
  void* const memory = AllocateAligned(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

TensorElements::TensorElements(DType dtype, std::size_t n, bool cleared) {
  const std::size_t bytes = n * BytesPerElement(dtype);
  block_ = new (Allocate(sizeof(Block) + bytes, alignof(Block))) Block;
  block_->elements = block_ + 1;
  if (dtype == DType::kString) {
    std::uninitialized_value_construct_n(static_cast<std::string*>(data()), n);
    block_->strings = n;
  } else if (cleared) {
    std::memset(data(), 0, bytes);
  }
}

// Elements that belong to a message.
struct TensorElements::Borrowed : Block {
  explicit Borrowed(absl::Cord bytes) : owner(std::move(bytes)) {
    elements = const_cast<char*>(FlatOf(owner)->data());  // nobody writes: nobody is alone with them
    borrowed = true;
  }
  const absl::Cord owner;
};

TensorElements TensorElements::Borrow(absl::Cord bytes) {
  TensorElements out;
  out.block_ = new Borrowed(std::move(bytes));
  return out;
}

std::optional<absl::Cord> TensorElements::borrowed() const {
  if (block_ == nullptr || !block_->borrowed) return std::nullopt;
  return static_cast<const Borrowed*>(block_)->owner;
}

void TensorElements::Free() {
  if (block_->borrowed) {
    delete static_cast<Borrowed*>(block_);
    return;
  }
  std::destroy_n(static_cast<std::string*>(data()), block_->strings);
  block_->~Block();
  std::free(block_);
}

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  // A scalar's type may also be one without elements: a handle.
  if (shape_.rank() > 0 || dtype == DType::kString) {
    if (const absl::Status status = BytesOf(dtype, shape_).status(); !status.ok()) {
      CheckFailed(__FILE__, __LINE__, std::string(MessageOf(status)).c_str());
    }
  }
  const std::int64_t n = num_elements();
  if (n > 1 || (n == 1 && dtype == DType::kString)) {
    elements_ = TensorElements(dtype, static_cast<std::size_t>(n), /*cleared=*/true);
  }
}

absl::StatusOr<std::int64_t> Tensor::BytesOf(DType dtype, const Shape& shape) {
  VIGIL_RETURN_IF_ERROR(Shape::Make(shape.dims()).status());
  const auto size = static_cast<std::int64_t>(BytesPerElement(dtype));
  if (size == 0) {
    return MakeStatus(Code::kUnimplemented, fmt::format("There are no tensors of type {} here.", DTypeName(dtype)));
  }
  if (shape.num_elements() > kMostTensorBytes / size) {
    return MakeStatus(Code::kResourceExhausted,
                      fmt::format("OOM when allocating tensor with shape{} and type {}: it would take more than {} GiB",
                                  shape.ToString(), DTypeName(dtype), kMostTensorBytes >> 30));
  }
  return shape.num_elements() * size;
}

absl::StatusOr<Tensor> Tensor::MakeWith(DType dtype, std::vector<std::int64_t> dims, bool cleared) {
  VIGIL_ASSIGN_OR_RETURN(Shape shape, Shape::Make(std::move(dims)));
  VIGIL_RETURN_IF_ERROR(BytesOf(dtype, shape).status());
  Tensor out;
  out.dtype_ = dtype;
  out.shape_ = std::move(shape);
  const std::int64_t n = out.num_elements();
  if (n == 0 || (n == 1 && dtype != DType::kString)) return out;
  try {
    out.elements_ = TensorElements(dtype, static_cast<std::size_t>(n), cleared);
  } catch (const std::bad_alloc&) {
    return MakeStatus(Code::kResourceExhausted, fmt::format("OOM when allocating tensor with shape{} and type {}",
                                                            out.shape_.ToString(), DTypeName(dtype)));
  }
  return out;
}

absl::StatusOr<Tensor> Tensor::Make(DType dtype, std::vector<std::int64_t> dims) {
  return MakeWith(dtype, std::move(dims), /*cleared=*/true);
}

absl::StatusOr<Tensor> Tensor::MakeUnwritten(DType dtype, std::vector<std::int64_t> dims) {
  return MakeWith(dtype, std::move(dims), /*cleared=*/false);
}

std::optional<Tensor> Tensor::Borrow(DType dtype, Shape shape, absl::Cord bytes) {
  const std::optional<std::string_view> flat = FlatOf(bytes);
  if (dtype == DType::kString || !flat.has_value() || shape.num_elements() < 2) return std::nullopt;
  if (reinterpret_cast<std::uintptr_t>(flat->data()) % kElementsAlignment != 0) return std::nullopt;
  VIGIL_CHECK(flat->size() == static_cast<std::size_t>(shape.num_elements()) * DTypeSize(dtype));
  Tensor out;
  out.dtype_ = dtype;
  out.shape_ = std::move(shape);
  out.elements_ = TensorElements::Borrow(std::move(bytes));
  return out;
}

void Tensor::NotAsAsked(const char* call, DType asked) const {
  CheckFailed(__FILE__, __LINE__,
              fmt::format("{}<{}>() of a tensor that is {}", call, DTypeName(asked), Describe()).c_str());
}

Tensor Tensor::Clone() const {
  if (!has_buffer()) return *this;
  Tensor out;
  out.dtype_ = dtype_;
  out.shape_ = shape_;
  out.elements_ = TensorElements(dtype_, static_cast<std::size_t>(num_elements()), /*cleared=*/false);
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

absl::Cord Tensor::shared_bytes() const {
  // Not a cord that keeps a tensor that keeps a cord: what is passed on again and again would become a long chain.
  if (std::optional<absl::Cord> message = elements_.borrowed(); message.has_value()) return *std::move(message);
  return SharedCord(bytes(), *this);
}

std::span<char> Tensor::mutable_bytes() {
  BeAlone();
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
    case DType::kInt16:
      *value = scalar<std::int16_t>();
      return true;
    case DType::kInt8:
      *value = scalar<std::int8_t>();
      return true;
    case DType::kUint16:
      *value = scalar<std::uint16_t>();
      return true;
    case DType::kUint32:
      *value = scalar<std::uint32_t>();
      return true;
    case DType::kInt64:
      *value = static_cast<double>(scalar<std::int64_t>());
      return true;
    case DType::kUint64:
      *value = static_cast<double>(scalar<std::uint64_t>());
      return true;
    case DType::kBool:
      *value = scalar<bool>() ? 1 : 0;
      return true;
    case DType::kInvalid:
    case DType::kString:
    case DType::kResource:
    case DType::kHalf:
    case DType::kBfloat16:
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
