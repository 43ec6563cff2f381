// A dense tensor: element type, shape and shared elements.
//
// A value type: copying shares the elements, which nobody changes once the tensor has been handed on (mutable_flat() is for
// the one who just made it; Clone() makes a copy of one's own). A scalar (one element, not a string) lives inside the object:
// making, copying and passing it allocates nothing.
// Thread safety: as a value; shared elements may be read from any task.
#ifndef VIGIL_CORE_TENSOR_TENSOR_H_
#define VIGIL_CORE_TENSOR_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
    Tensor out(DTypeOf<T>(), Shape());
    out.mutable_flat<T>()[0] = std::move(value);
    return out;
  }
  template <typename T>
  static Tensor Vector(const std::vector<T>& values) {
    Tensor out(DTypeOf<T>(), Shape({static_cast<std::int64_t>(values.size())}));
    std::size_t i = 0;
    for (const T& value : values) out.mutable_flat<T>()[i++] = value;
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
  // "int64 [2,3]"
  std::string Describe() const;
  // The value of a numeric (or bool) scalar as double; false if it is none.
  bool AsNumber(double* value) const;

  // Same type, shape and elements (NaN equals nothing).
  friend bool operator==(const Tensor& a, const Tensor& b);

 private:
  bool IsInline() const;
  const void* Data(DType asked) const;

  DType dtype_ = DType::kInvalid;
  Shape shape_;
  alignas(8) std::byte inline_[8] = {};
  std::shared_ptr<void> buffer_;  // array of elements, or std::string[]; null if inline
};

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_TENSOR_H_
