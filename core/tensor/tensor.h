// A dense tensor: element type, shape and shared elements.
//
// A value type: copying shares the elements until somebody writes, who then gets a copy of their own (mutable_flat()).
// So what was fed, fetched or assigned to a variable stays what it was, whatever becomes of the tensor that it came
// from. One element that is not a string lives inside the object: making, copying and passing a scalar allocates
// nothing.
// Thread safety: as a value; shared elements may be read from any task.
#ifndef VIGIL_CORE_TENSOR_TENSOR_H_
#define VIGIL_CORE_TENSOR_TENSOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "vigil/core/base/check.h"
#include "vigil/core/tensor/dtype.h"
#include "vigil/core/tensor/shape.h"

namespace vigil {

// What a tensor may take: whatever asks for more has miscounted. Strings count as they lie in memory, without their
// text.
inline constexpr std::int64_t kMostTensorBytes = std::int64_t{16} << 30;

// Of the elements of more than one; no type needs more.
inline constexpr std::size_t kElementsAlignment = 16;

// Elements that tensors share. Part of Tensor.
class TensorElements {
 public:
  TensorElements() = default;
  // REQUIRES: an element type; all of them have room in memory (else bad_alloc). `cleared`: zeros; else anything but
  // for strings, which are empty.
  TensorElements(DType dtype, std::size_t n, bool cleared);
  // Those in a message, which it keeps. REQUIRES: it is in one piece, and aligned.
  static TensorElements Borrow(absl::Cord bytes);
  // Those bytes; nullopt: it borrows none.
  std::optional<absl::Cord> borrowed() const;
  TensorElements(const TensorElements& other) : block_(other.block_) {
    if (block_ != nullptr) block_->users.fetch_add(1, std::memory_order_relaxed);
  }
  TensorElements(TensorElements&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  TensorElements& operator=(TensorElements other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~TensorElements() {
    if (block_ != nullptr && block_->users.fetch_sub(1, std::memory_order_acq_rel) == 1) Free();
  }

  void* data() const { return block_ == nullptr ? nullptr : block_->elements; }
  // Whoever sees true is alone with the elements: what others read of them has been read.
  bool unique() const {
    return block_ == nullptr || (!block_->borrowed && block_->users.load(std::memory_order_acquire) == 1);
  }

 private:
  // The elements follow, or lie in a message.
  struct alignas(kElementsAlignment) Block {
    std::atomic<std::int64_t> users{1};
    std::size_t strings = 0;
    void* elements = nullptr;
    bool borrowed = false;
  };
  struct Borrowed;
  void Free();

  Block* block_ = nullptr;
};

class Tensor {
 public:
  Tensor() = default;  // dtype kInvalid
  // Zeros (empty strings). REQUIRES: what Make() accepts.
  Tensor(DType dtype, Shape shape);
  // The same for a shape that comes from outside or from inputs, however huge. Errors: those of Shape::Make;
  // UNIMPLEMENTED for a type that has no elements; RESOURCE_EXHAUSTED for more than kMostTensorBytes, and where there
  // is no memory.
  static absl::StatusOr<Tensor> Make(DType dtype, std::vector<std::int64_t> dims);
  // Elements that are yet to be written: they hold anything (strings are empty).
  static absl::StatusOr<Tensor> MakeUnwritten(DType dtype, std::vector<std::int64_t> dims);
  // Elements that lie in a message, not copied; who writes to the tensor gets elements of its own. nullopt: the bytes
  // are in pieces or not aligned (kElementsAlignment), or there are fewer than two elements, or strings. REQUIRES: as
  // many bytes as such a tensor has.
  static std::optional<Tensor> Borrow(DType dtype, Shape shape, absl::Cord bytes);
  // How many bytes its elements would take; the same errors but for the last.
  static absl::StatusOr<std::int64_t> BytesOf(DType dtype, const Shape& shape);

  template <typename T>
  static Tensor Scalar(T value) {
    if constexpr (std::is_same_v<T, std::string>) {
      Tensor out(DType::kString, Shape());
      out.mutable_flat<T>()[0] = std::move(value);
      return out;
    } else {
      Tensor out;
      out.dtype_ = DTypeOf<T>();
      std::memcpy(out.inline_, &value, sizeof(T));
      return out;
    }
  }
  template <typename T>
  static Tensor Vector(const std::vector<T>& values) {
    Tensor out(DTypeOf<T>(), Shape({static_cast<std::int64_t>(values.size())}));
    T* element = out.mutable_flat<T>().data();
    for (const T& value : values) *element++ = value;  // not std::copy: a vector<bool> has no elements to point at
    return out;
  }

  DType dtype() const { return dtype_; }
  bool valid() const { return dtype_ != DType::kInvalid; }
  const Shape& shape() const { return shape_; }
  std::int64_t num_elements() const { return shape_.num_elements(); }

  // All elements in row-major order. REQUIRES: T is the element type.
  template <typename T>
  std::span<const T> flat() const {
    return {static_cast<const T*>(Data(DTypeOf<T>())), static_cast<std::size_t>(num_elements())};
  }
  // To be written, until the tensor is copied the next time. Elements that others share are copied first. REQUIRES: T
  // is the element type.
  template <typename T>
  std::span<T> mutable_flat() {
    BeAlone();
    return {static_cast<T*>(const_cast<void*>(Data(DTypeOf<T>()))), static_cast<std::size_t>(num_elements())};
  }
  // REQUIRES: one element of that type.
  template <typename T>
  const T& scalar() const {
    if (num_elements() != 1) NotAsAsked("scalar", DTypeOf<T>());
    return *flat<T>().data();
  }

  // The same value with elements of its own.
  Tensor Clone() const;
  // The same elements, shared, under another shape. REQUIRES: as many elements.
  Tensor Reshaped(Shape shape) const;
  // The elements as they lie in memory (row-major, the machine's byte order); valid as long as the tensor is neither
  // written nor destroyed, as is what flat() gives. REQUIRES: not a string tensor.
  std::string_view bytes() const;
  // The same, shared: the elements live as long as the cord does. REQUIRES: not a string tensor.
  absl::Cord shared_bytes() const;
  // As mutable_flat(). REQUIRES: not a string tensor.
  std::span<char> mutable_bytes();
  // Whether the elements live in a buffer that copies share.
  bool has_buffer() const { return elements_.data() != nullptr; }
  // Whether no other tensor shares the elements.
  bool unique() const { return elements_.unique(); }
  // "int64 [2,3]"
  std::string Describe() const;
  // The value of a numeric (or bool) scalar as double; false if it is none.
  bool AsNumber(double* value) const;

  // Same type, shape and elements (NaN equals nothing).
  friend bool operator==(const Tensor& a, const Tensor& b);

 private:
  static absl::StatusOr<Tensor> MakeWith(DType dtype, std::vector<std::int64_t> dims, bool cleared);

  const void* Data() const { return has_buffer() ? elements_.data() : inline_; }
  const void* Data(DType asked) const {
    if (asked != dtype_) NotAsAsked("flat", asked);
    return Data();
  }
  void BeAlone() {
    if (!unique()) *this = Clone();
  }
  // Ends the program: names what the caller took this tensor for, and what it is.
  [[noreturn]] void NotAsAsked(const char* call, DType asked) const;

  DType dtype_ = DType::kInvalid;
  Shape shape_;
  alignas(8) std::byte inline_[8] = {};
  TensorElements elements_;  // none if there is one that is no string (it is inline), or none at all
};

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_TENSOR_H_
