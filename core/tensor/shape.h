// The shape of a tensor: its dimensions, outermost first. A scalar has none. A value type; a scalar's shape allocates
// nothing.
//
// A shape from outside (a message, a file, a kernel's inputs) comes from Make(), which refuses what cannot be counted:
// then no product of its dimensions overflows, whichever are left out. Nothing else in the code multiplies dimensions
// that it did not get from such a shape.
#ifndef VIGIL_CORE_TENSOR_SHAPE_H_
#define VIGIL_CORE_TENSOR_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace vigil {

// nullopt: the result is no int64.
inline std::optional<std::int64_t> CheckedSum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}
inline std::optional<std::int64_t> CheckedProduct(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
}

class Shape {
 public:
  static constexpr int kMostDims = 254;  // TensorFlow's limit

  Shape() = default;
  // REQUIRES: what Make() accepts, unless the shape only says what is not known (-1) and no tensor is made of it.
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}
  // INVALID_ARGUMENT for a negative dimension, for dimensions whose product (but for zeros) is more than an int64
  // holds, and for more dimensions than kMostDims.
  static absl::StatusOr<Shape> Make(std::vector<std::int64_t> dims);

  int rank() const { return static_cast<int>(dims_.size()); }
  std::int64_t dim(int i) const { return dims_[static_cast<std::size_t>(i)]; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  std::int64_t num_elements() const {
    std::int64_t n = 1;
    for (const std::int64_t d : dims_) n *= d;
    return n;
  }
  std::string ToString() const;  // "[2,3]"
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::vector<std::int64_t> dims_;
};

}  // namespace vigil

#endif  // VIGIL_CORE_TENSOR_SHAPE_H_
