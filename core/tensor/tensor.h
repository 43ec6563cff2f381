// A dense tensor: element type, shape and shared elements.
//
// A value type: copying shares the elements, which nobody changes once the tensor has been handed on (mutable_flat() is for
// the one who just made it; Clone() makes a copy of one's own). One element that is not a string lives inside the object:
// making, copying and passing a scalar allocates nothing.
// Thread safety: as a value; shared elements may be read from any task.
#ifndef VIGIL_CORE_TENSOR_TENSOR_H_
#define VIGIL_CORE_TENSOR_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "vigil/core/base/check.h"
#include "vigil/core/tensor/dtype.h"
#include "vigil/core/tensor/shape.h"

namespace vigil {

class Tensor {
 public:
  Tensor() = default;  // dtype kInvalid
  // Zeros (empty strings).
  Tensor(DType dtype, Shape shape);

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
  // REQUIRES: nobody shares the elements yet.
  template <typename T>
  std::span<T> mutable_flat() {
    return {static_cast<T*>(const_cast<void*>(Data(DTypeOf<T>()))), static_cast<std::size_t>(num_elements())};
  }
  // REQUIRES: one element of that type.
  template <typename T>
  const T& scalar() const {
    return *flat<T>().data();
  }

  Tensor Clone() const;
  // The same elements under another shape. REQUIRES: as many elements.
  Tensor Reshaped(Shape shape) const;
  // Bytes of the elements. REQUIRES: not a string tensor.
  std::string_view bytes() const;
  // REQUIRES: nobody shares the elements yet; not a string tensor.
  std::span<char> mutable_bytes();
  // Whether the elements live in a buffer that copies share.
  bool has_buffer() const { return buffer_ != nullptr; }
  // Whether no other tensor shares the elements.
  bool unique() const { return buffer_.use_count() <= 1; }
  // "int64 [2,3]"
  std::string Describe() const;
  // The value of a numeric (or bool) scalar as double; false if it is none.
  bool AsNumber(double* value) const;

  // Same type, shape and elements (NaN equals nothing).
  friend bool operator==(const Tensor& a, const Tensor& b);

 private:
  const void* Data() const { return buffer_ != nullptr ? buffer_.get() : inline_; }
  const void* Data(DType asked) const {
    VIGIL_CHECK(asked == dtype_);
    return Data();
  }

  DType dtype_ = DType::kInvalid;
  Shape shape_;
  alignas(8) std::byte inline_[8] = {};
  std::shared_ptr<void> buffer_;  // array of elements, or std::string[]; null if they are inline, or none
};

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_TENSOR_H_
